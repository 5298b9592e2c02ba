// SPDX-License-Identifier: Apache-2.0

internal import ByteCodec

/// A JSON text as a flat array of notes, each with the position of its value in the text.
///
/// A dump consists almost entirely of hexadecimal digits. They are read in place, so that no strings are made of them.
final class JSONTape: Sendable {
    /// The text.
    let bytes: ArraySlice<UInt8>
    /// The values in the order of the text; in an object, each is preceded by its name.
    let notes: [Note]
    /// The scalars, and the strings with escapes.
    let others: [JSONValue]

    /// One value or name.
    struct Note: Sendable {
        enum Kind: UInt8, Sendable { case object, array, text, other }

        let kind: Kind
        /// For a string, its start; for other values, the index in ``JSONTape/others``.
        var start: UInt32 = 0
        /// For a string, its end.
        var end: UInt32 = 0
        /// The index of the note after the value and its contents.
        var next: UInt32
    }

    init(_ bytes: ArraySlice<UInt8>, _ notes: [Note], _ others: [JSONValue]) {
        self.bytes = bytes
        self.notes = notes
        self.others = others
    }

    /// The longest text, in bytes, whose positions all fit in a note.
    static let longestText = Int(UInt32.max)

    /// Returns the value of a note as a tree.
    func value(_ index: Int) -> JSONValue {
        guard let note = notes.element(at: index) else { return .null }
        switch note.kind {
        case .text: return .string(text(index) ?? "")
        case .other: return others.element(at: Int(note.start)) ?? .null
        case .array: return .array(elements(index).map { value($0) })
        case .object:
            return .object(members(of: index, without: []))
        }
    }

    /// Returns a string; `nil` for any other value.
    func text(_ index: Int) -> String? {
        guard let note = notes.element(at: index) else { return nil }
        switch note.kind {
        case .text: return withBytes(index) { String(decodingUTF8: $0) }
        case .other:
            guard case .string(let text)? = others.element(at: Int(note.start)) else { return nil }
            return text
        default: return nil
        }
    }

    /// Returns the range of a string without escapes, relative to the start of ``bytes``; `nil` for any other value.
    func plainRange(_ index: Int) -> Range<Int>? {
        guard let note = notes.element(at: index), note.kind == .text else { return nil }
        let start = Int(note.start) - bytes.startIndex
        let end = Int(note.end) - bytes.startIndex
        return start >= 0 && start <= end && end <= bytes.count ? start..<end : nil
    }

    /// Returns the result of `body` for the bytes of a string without escapes; `nil` for any other value.
    func withBytes<Result>(_ index: Int, _ body: (Span<UInt8>) -> Result?) -> Result? {
        guard let range = plainRange(index) else { return nil }
        let bytes = bytes
        return body(bytes.span.extracting(range))
    }

    func isObject(_ index: Int) -> Bool { notes.element(at: index)?.kind == .object }
    func isArray(_ index: Int) -> Bool { notes.element(at: index)?.kind == .array }

    func isNull(_ index: Int) -> Bool {
        guard let note = notes.element(at: index), note.kind == .other else { return false }
        return others.element(at: Int(note.start)) == .null
    }

    // MARK: Arrays and objects

    /// Returns the notes of an array's elements.
    func elements(_ index: Int) -> [Int] {
        var elements: [Int] = []
        var place = index + 1
        let end = next(index)
        while place < end {
            elements.append(place)
            place = next(place)
        }
        return elements
    }

    /// Returns the note of the first member with this name; `nil` if there is none.
    func member(_ name: String, of index: Int) -> Int? {
        // Loaded once: an object is searched for each of its members.
        let (bytes, notes) = (bytes, notes)
        return name.withUTF8Span { wanted in
            let text = bytes.span
            var place = index + 1
            let end = next(index)
            while place < end {
                if isText(place, wanted, notes, text, bytes.startIndex) { return place + 1 }
                place = Int(notes[place + 1].next)
            }
            return nil
        }
    }

    /// Returns the members of an object except those with these names; of a duplicate name, the first value counts.
    func members(of index: Int, without names: [StaticString]) -> JSONObject {
        let (bytes, notes) = (bytes, notes)
        let text = bytes.span
        var builder = JSONObject.Builder()
        var place = index + 1
        let end = next(index)
        while place < end {
            let isKnown = names.contains { name in
                let name = unsafe UnsafeBufferPointer(start: name.utf8Start, count: name.utf8CodeUnitCount)
                return unsafe isText(place, name.span, notes, text, bytes.startIndex)
            }
            if !isKnown { builder.add(self.text(place) ?? "", value(place + 1)) }
            place = Int(notes[place + 1].next)
        }
        return builder.object
    }

    /// Returns whether a note is this string.
    private func isText(
        _ index: Int, _ wanted: Span<UInt8>, _ notes: [Note], _ text: Span<UInt8>, _ offset: Int
    ) -> Bool {
        let note = notes[index]
        guard note.kind == .text else {
            return self.text(index).map { Array($0.utf8) }.map { isEqual($0.span, wanted) } ?? false
        }
        guard note.end - note.start == wanted.count else { return false }
        let start = Int(note.start) - offset
        return isEqual(text.extracting(start..<start + wanted.count), wanted)
    }

    private func isEqual(_ one: Span<UInt8>, _ other: Span<UInt8>) -> Bool {
        guard one.count == other.count else { return false }
        var difference: UInt8 = 0
        for index in one.indices { difference |= unsafe one[unchecked: index] ^ other[unchecked: index] }
        return difference == 0
    }

    /// Returns the note after a value.
    func next(_ index: Int) -> Int { Int(notes[index].next) }
}

/// Records the events of a ``JSONParser``.
struct JSONTapeBuilder: JSONTarget {
    private(set) var notes: [JSONTape.Note] = []
    private(set) var others: [JSONValue] = []
    /// The open arrays and objects, outermost first.
    private var open: [Int] = []

    /// - Parameter size: the length of the text.
    init(size: Int) {
        // Few texts have more values: a block with its number needs two notes and forty bytes.
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
    /// - Throws: ``JSONError`` if it is not JSON, or too long for notes.
    convenience init(parsing bytes: ArraySlice<UInt8>) throws(JSONError) {
        guard bytes.endIndex <= JSONTape.longestText else { throw JSONError(kind: .syntax, index: bytes.startIndex) }
        var parser = JSONParser(bytes, JSONTapeBuilder(size: bytes.count))
        try parser.document()
        self.init(bytes, parser.target.notes, parser.target.others)
    }
}
