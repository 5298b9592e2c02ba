// SPDX-License-Identifier: Apache-2.0

/// Finds the numbers that were given to keys of area, line and station, without hashing: 256 stations of a line lie in a
/// page, and pages are made for the lines that there are.
///
/// A page is 1 KiB; since keys have 24 bits, no table can make more than 65,536 of them.
struct StationIndex {
    /// The page of each area and line, from 1; 0 where there is none.
    private var pages = [Int32](repeating: 0, count: 1 << 16)
    /// The numbers, from 1; 0 where there is none.
    private var numbers: [Int32] = []

    /// How many keys have a number.
    private(set) var count = 0

    /// The number of a key.
    subscript(key: UInt32) -> Int? {
        let page = Int(pages[Int(key >> 8 & 0xFFFF)])
        guard page > 0 else { return nil }
        let number = numbers[(page - 1) << 8 | Int(key & 0xFF)]
        return number > 0 ? Int(number) - 1 : nil
    }

    /// Gives a key the number of keys before it, unless it has one.
    ///
    /// - Returns: whether it had none.
    mutating func insert(_ key: UInt32) -> Bool {
        let line = Int(key >> 8 & 0xFFFF)
        if pages[line] == 0 {
            numbers.append(contentsOf: repeatElement(0, count: 256))
            pages[line] = Int32(truncatingIfNeeded: numbers.count >> 8)
        }
        let place = (Int(pages[line]) - 1) << 8 | Int(key & 0xFF)
        guard numbers[place] == 0 else { return false }
        count += 1
        numbers[place] = Int32(truncatingIfNeeded: count)
        return true
    }
}
