// SPDX-License-Identifier: Apache-2.0

/// Notes down what a ``JSONParser`` tells.
struct JSONTapeBuilder: JSONTarget {
    private(set) var notes: [JSONTape.Note] = []
    private(set) var others: [JSONValue] = []
    /// The arrays and objects that were begun and not ended, outermost first.
    private var open: [Int] = []

    /// - Parameter size: how long the text is.
    init(size: Int) {
        // Few texts have more values: a block with its number takes two notes and forty bytes.
        notes.reserveCapacity(size / 16)
    }

    private mutating func begin(_ kind: JSONTape.Note.Kind) {
        open.append(notes.count)
        notes.append(JSONTape.Note(kind: kind, next: 0))
    }

    private mutating func end() {
        guard let index = open.popLast() else { return }
        notes[index].next = UInt32(clamping: notes.count)
    }

    private mutating func other(_ value: JSONValue) {
        let next = UInt32(clamping: notes.count + 1)
        notes.append(JSONTape.Note(kind: .other, start: UInt32(clamping: others.count), next: next))
        others.append(value)
    }

    mutating func beginObject() { begin(.object) }
    mutating func endObject() { end() }
    mutating func beginArray() { begin(.array) }
    mutating func endArray() { end() }

    mutating func plainText(_ range: Range<Int>, in bytes: ArraySlice<UInt8>, isKey: Bool) {
        notes.append(
            JSONTape.Note(
                kind: .text, start: UInt32(clamping: range.lowerBound), end: UInt32(clamping: range.upperBound),
                next: UInt32(clamping: notes.count + 1)))
    }

    mutating func text(_ text: String, isKey: Bool) { other(.string(text)) }
    mutating func scalar(_ value: JSONValue) { other(value) }
}

extension JSONTape {
    /// Reads a text.
    ///
    /// - Throws: ``JSONFault`` when it is no JSON, or too long for notes.
    convenience init(parsing bytes: ArraySlice<UInt8>) throws(JSONFault) {
        guard bytes.endIndex <= JSONTape.longestText else { throw JSONFault(kind: .syntax, index: bytes.startIndex) }
        var parser = JSONParser(bytes, JSONTapeBuilder(size: bytes.count))
        try parser.document()
        self.init(bytes, parser.target.notes, parser.target.others)
    }
}
