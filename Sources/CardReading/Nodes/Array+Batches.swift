// SPDX-License-Identifier: Apache-2.0

extension Array {
    /// The elements in order, `size` at a time.
    func batches(of size: Int) -> [ArraySlice<Element>] {
        stride(from: 0, to: count, by: Swift.max(1, size)).map { self[$0..<Swift.min($0 + Swift.max(1, size), count)] }
    }
}
