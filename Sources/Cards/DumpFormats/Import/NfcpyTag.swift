// SPDX-License-Identifier: Apache-2.0

import ByteCodec
import CardModel

/// Reads the lines of nfcpy's `tag.dump()` of a Type 2 Tag: `000: 04 08 7a fe (UID0-UID2, BCC0)`, `004: 01 03 a0 10 |....|`.
///
/// Source: nfcpy `src/nfc/tag/tt2.py`. Page numbers are hexadecimal; a line with an asterisk stands for pages equal to the
/// one before it; `??` are pages that could not be read. Pages that somebody covered with `XX` are left out as well.
struct NfcpyTag {
    private enum Line {
        case tag(id: Substring)
        case page(number: Substring?, bytes: [Substring])
    }

    private var uid: [UInt8]?
    private var pages: [UInt16: [UInt8]] = [:]
    private var isComplete = true
    private var previous: (number: UInt16, bytes: [UInt8]?)?
    private var isRepeated = false

    /// Returns whether a line belongs to such a listing.
    static func recognizes(_ line: TextLine) -> Bool { parse(line) != nil }

    /// Returns the tag of a listing.
    static func read(_ lines: TextLines) throws(DocumentError) -> CardDump {
        var tag = NfcpyTag()
        var last = 1
        for line in lines {
            last = line.number
            guard let content = parse(line) else { continue }
            try tag.add(content, line)
        }
        return try tag.finish(TextLine(number: last, bytes: []))
    }

    private static func parse(_ line: TextLine) -> Line? {
        let words = line.text.words
        if words.first == "Type2Tag", let id = words.last, id.hasPrefix("ID=") { return .tag(id: id.dropFirst(3)) }
        guard words.count > 5, let start = words[5].first, start == "|" || start == "(",
            words[1...4].allSatisfy({ $0.utf8.count == 2 })
        else { return nil }
        let (name, bytes) = (words[0], Array(words[1...4]))
        if name == "*" { return .page(number: nil, bytes: bytes) }
        let number = name.dropLast()
        guard name.last == ":", number.utf8.count >= 3, number.utf8.allSatisfy({ Hex.value(of: $0) != nil }) else {
            return nil
        }
        return .page(number: number, bytes: bytes)
    }

    private mutating func add(_ content: Line, _ line: TextLine) throws(DocumentError) {
        switch content {
        case .tag(let id): uid = try? Hex.decode(id)
        case .page(nil, _):
            guard previous != nil else { throw line.malformed(.blockBeforeAsterisk) }
            isRepeated = true
        case .page(let digits?, let words):
            let number = try line.number16(digits)
            let bytes = words.contains { NfcpyLine.isUnknown($0) } ? nil : try line.hex(words.joined(), count: 4)
            if isRepeated, let previous {
                guard number > previous.number else { throw line.malformed(.largerBlockNumber) }
                for number in previous.number + 1..<number { try add(previous.bytes, at: number, line) }
            }
            isRepeated = false
            try add(bytes, at: number, line)
            previous = (number, bytes)
        }
    }

    private mutating func add(_ bytes: [UInt8]?, at number: UInt16, _ line: TextLine) throws(DocumentError) {
        guard let bytes else {
            isComplete = false
            return
        }
        guard pages.updateValue(bytes, forKey: number) == nil else { throw line.malformed(.uniquePage) }
    }

    private func finish(_ end: TextLine) throws(DocumentError) -> CardDump {
        guard !isRepeated else { throw end.malformed(.blockAfterAsterisk) }
        guard !pages.isEmpty else { throw end.malformed(.onePage) }
        var identity = CardIdentity(technology: .typeA)
        identity.uid = uid
        if uid == nil, let first = pages[0], let second = pages[1] { identity.uid = first.prefix(3) + second }
        return CardDump(complete: isComplete, card: identity, type2: Type2Dump(pages: pages))
    }
}
