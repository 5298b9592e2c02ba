// SPDX-License-Identifier: Apache-2.0

/// Numbers as a user lists them: `0-19` or `0,3,5-7`.
enum NumberRanges {
    /// Reads a list.
    ///
    /// - Parameter number: reads one number.
    /// - Returns: `nil` when something in it is neither a number nor a range from the lower to the higher.
    static func parse(_ text: String, _ number: (Substring) -> UInt16?) -> [UInt16]? {
        var numbers: [UInt16] = []
        for part in text.split(separator: ",", omittingEmptySubsequences: false) {
            let ends = part.split(separator: "-", omittingEmptySubsequences: false).map(number)
            guard (1...2).contains(ends.count), let first = ends[0], let last = ends[ends.count - 1], first <= last
            else { return nil }
            numbers.append(contentsOf: first...last)
        }
        return numbers
    }
}
