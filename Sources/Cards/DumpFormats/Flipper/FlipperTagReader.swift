// SPDX-License-Identifier: Apache-2.0

import CardModel

/// The first lines of a Flipper `.nfc` file of a type A card.
struct FlipperHeader {
    private var version = 0
    private var identity = CardIdentity(technology: .typeA)
    private var atqa: [UInt8]?

    /// Reads a line if it belongs to the header.
    ///
    /// - Returns: whether it does.
    mutating func read(_ name: String, _ value: String, _ line: TextLine) throws(DocumentError) -> Bool {
        switch name {
        case "Version":
            guard let number = Int(value), (2...4).contains(number) else { throw line.malformed(.flipperVersion) }
            version = number
        case "UID":
            let count = (value.words.joined().utf8.count + 1) / 2
            guard [4, 7, 10].contains(count) else { throw line.malformed(.bytesInHex, "4", "7", "10") }
            identity.uid = try line.hex(value, count: count)
        case "ATQA": atqa = try line.hex(value, count: 2)
        case "SAK": identity.sak = try line.hex(value, count: 1).first
        default: return false
        }
        return true
    }

    /// Returns the card's identity; values without a line are unknown.
    func finish() throws(DocumentError) -> CardIdentity {
        guard version > 0 else { throw .missing(key: "Version") }
        var identity = identity
        // Up to version 2 the bytes were in the order of transmission.
        if let atqa, let first = atqa.first, let last = atqa.last {
            identity.atqa = version > 2 ? UInt16(first) << 8 | UInt16(last) : UInt16(last) << 8 | UInt16(first)
        }
        return identity
    }
}

/// Reads the lines of a Flipper `.nfc` file of a MIFARE Ultralight or NTAG.
///
/// Unknown lines are ignored, as by the Flipper. A file has all pages of the chip, including those that were not read,
/// whose bytes are made up: only the number given in `Pages read` is used.
struct FlipperTagReader {
    private var header = FlipperHeader()
    private var tag = Type2Dump(pages: [:])
    private var total: Int?
    private var read: Int?
    private var lastLine = 0

    /// Returns whether a device type is such a tag: one keyword since version 4, the name of the chip before.
    static func reads(_ type: String) -> Bool {
        type == "NTAG/Ultralight" || type.hasPrefix("NTAG2") || type.hasPrefix("Mifare Ultralight")
    }

    mutating func read(_ line: TextLine) throws(DocumentError) {
        lastLine = line.number
        let text = line.text
        guard !text.hasPrefix("#"), let colon = text.firstIndex(of: ":") else { return }
        let value = text[text.index(after: colon)...].trimmed
        let words = text[..<colon].trimmed.words
        let name = words.joined(separator: " ")
        if try header.read(name, value, line) { return }
        switch name {
        case "Signature": tag.signature = FlipperTagReader.answer(try line.hex(value, count: 32))
        case "Mifare version": tag.version = FlipperTagReader.answer(try line.hex(value, count: 8))
        case "Pages total": total = try count(value, line)
        case "Pages read": read = try count(value, line)
        default: try readNumbered(words, value, line)
        }
    }

    private mutating func readNumbered(
        _ words: [Substring], _ value: String, _ line: TextLine
    ) throws(DocumentError) {
        guard words.count == 2, let number = UInt16(words[1]) else { return }
        switch words[0] {
        case "Page":
            guard tag.pages.updateValue(try line.hex(value, count: 4), forKey: number) == nil else {
                throw line.malformed(.uniquePage)
            }
        case "Counter":
            // The file has all three, with 0 where the chip has none.
            guard let count = UInt32(value), count <= 0xFF_FFFF else { throw line.malformed(.count) }
            if count > 0, let counter = UInt8(exactly: number) { tag.counters[counter] = count }
        default: break
        }
    }

    private func count(_ value: String, _ line: TextLine) throws(DocumentError) -> Int {
        guard let count = Int(value), (0...0x1_0000).contains(count) else { throw line.malformed(.count) }
        return count
    }

    /// Returns an answer, or `nil` for zeros, which mean that the chip gave none.
    private static func answer(_ bytes: [UInt8]) -> [UInt8]? { bytes.contains { $0 != 0 } ? bytes : nil }

    mutating func finish() throws(DocumentError) -> CardDump {
        let identity = try header.finish()
        guard identity.uid != nil else { throw .missing(key: "UID") }
        guard let total else { throw .missing(key: "Pages total") }
        guard tag.pages.count >= total, !tag.pages.isEmpty else {
            throw .malformedLine(
                line: lastLine, expected: .init(.pagesBefore, "\(total)", "\(tag.pages.count)"))
        }
        let known = read ?? total
        tag.pages = tag.pages.filter { Int($0.key) < known }
        return CardDump(complete: known >= total, card: identity, type2: tag)
    }
}
