// SPDX-License-Identifier: Apache-2.0

/// The blocks of a service by number, lowest first.
///
/// A card's blocks are numbered from 0 without gaps and arrive in that order. They are therefore stored in an array,
/// which finds a block by number directly and avoids a dictionary's hashing.
package struct BlockTable: Hashable, Sendable {
    /// Sorted by number, each number once.
    private var entries: [Element] = []

    package init() {}

    /// Makes a table of blocks with their numbers, in any order; of two with the same number, the later counts.
    package init(_ blocks: some Sequence<(UInt16, Block)>) {
        for (number, block) in blocks { self[number] = block }
    }

    /// The number of blocks.
    package var count: Int { entries.count }
    /// Whether the table is empty.
    package var isEmpty: Bool { entries.isEmpty }
    /// The block with the highest number.
    package var last: Element? { entries.last }
    /// The numbers, lowest first.
    package var numbers: [UInt16] { entries.map(\.number) }
    /// The blocks, lowest number first.
    package var values: [Block] { entries.map(\.block) }

    /// The block with this number.
    package subscript(number: UInt16) -> Block? {
        get {
            let place = place(of: number)
            return holds(number, at: place) ? entries[place].block : nil
        }
        set {
            if let newValue {
                updateValue(newValue, forKey: number)
            } else {
                let place = place(of: number)
                if holds(number, at: place) { entries.remove(at: place) }
            }
        }
    }

    /// Sets the block with this number.
    ///
    /// - Returns: the block that had the number before.
    @discardableResult
    package mutating func updateValue(_ block: Block, forKey number: UInt16) -> Block? {
        let place = place(of: number)
        guard holds(number, at: place) else {
            entries.insert((number, block), at: place)
            return nil
        }
        defer { entries[place].block = block }
        return entries[place].block
    }

    /// Adds the blocks whose numbers are not yet present.
    package mutating func add(missing others: BlockTable) {
        for (number, block) in others where self[number] == nil { self[number] = block }
    }

    /// Returns a table with the blocks transformed and the same numbers.
    package func mapValues<Failure: Error>(_ change: (Block) throws(Failure) -> Block) throws(Failure) -> BlockTable {
        var table = BlockTable()
        table.entries = try entries.map { entry throws(Failure) in (entry.number, try change(entry.block)) }
        return table
    }

    /// Returns the blocks for which `isIncluded` holds.
    package func filter<Failure: Error>(_ isIncluded: (Element) throws(Failure) -> Bool) throws(Failure) -> BlockTable {
        var table = BlockTable()
        for entry in entries where try isIncluded(entry) { table.entries.append(entry) }
        return table
    }

    // MARK: Positions

    private func holds(_ number: UInt16, at place: Int) -> Bool {
        place < entries.count && entries[place].number == number
    }

    /// The index of the block with this number, or where it would be inserted.
    private func place(of number: UInt16) -> Int {
        let guess = Int(number)
        if holds(number, at: guess) { return guess }
        guard let last = entries.last, last.number >= number else { return entries.count }
        var (low, high) = (0, entries.count)
        while low < high {
            let middle = low + (high - low) / 2
            if entries[middle].number < number { low = middle + 1 } else { high = middle }
        }
        return low
    }

    /// Returns whether both contain the same blocks with the same numbers.
    package static func == (left: BlockTable, right: BlockTable) -> Bool {
        left.entries.elementsEqual(right.entries) { $0.number == $1.number && $0.block == $1.block }
    }

    /// Hashes the numbers and the blocks.
    package func hash(into hasher: inout Hasher) {
        for entry in entries {
            hasher.combine(entry.number)
            hasher.combine(entry.block)
        }
    }
}

extension BlockTable: Sequence {
    package typealias Element = (number: UInt16, block: Block)

    /// Iterates over the blocks by number, lowest first.
    package func makeIterator() -> IndexingIterator<[Element]> { entries.makeIterator() }
}

extension BlockTable: ExpressibleByDictionaryLiteral {
    /// Makes a table of blocks by number; of two with the same number, the later counts.
    package init(dictionaryLiteral elements: (UInt16, Block)...) {
        self.init(elements)
    }
}
