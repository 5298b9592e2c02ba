// SPDX-License-Identifier: Apache-2.0

extension RandomAccessCollection where Index == Int {
    /// The element `distance` places after the first, or `nil` when there is none; never traps.
    @inlinable
    public func element(at distance: Int) -> Element? {
        distance >= 0 && distance < count ? self[startIndex + distance] : nil
    }
}
