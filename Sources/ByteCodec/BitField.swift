// SPDX-License-Identifier: Apache-2.0

extension FixedWidthInteger {
    /// The bits `range` of this number, bit 0 being the least significant; bits outside the number read as 0.
    ///
    /// `UInt16(0x166C).bits(9...15)` is the year of a Cybernetics date. A range that starts below bit 0 gives 0.
    @inlinable
    public func bits(_ range: ClosedRange<Int>) -> Self {
        let end = Swift.min(range.upperBound, Self.bitWidth - 1)
        guard range.lowerBound >= 0, range.lowerBound <= end else { return 0 }
        let shifted = self >> Self(truncatingIfNeeded: range.lowerBound)
        let width = end - range.lowerBound + 1
        guard width < Self.bitWidth else { return shifted }
        return shifted & (Self(truncatingIfNeeded: 1) << Self(truncatingIfNeeded: width) &- 1)
    }
}
