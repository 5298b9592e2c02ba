// SPDX-License-Identifier: Apache-2.0

import ByteCodec
import CardModel

/// Reads Kazasu's listing of a Type 2 Tag, of a MIFARE Classic or of the files of an ISO 7816 card, see ``HexListing``.
struct TagListing {
    private var dump: CardDump

    /// Returns whether the words of a line are the comment that opens such a listing.
    static func opens(_ words: [Substring]) -> Bool {
        guard words.count >= 3, words[0] == "#" else { return false }
        if words[1] == "UID" || words[1] == "PUPI" { return (try? Hex.decode(words[2])) != nil }
        return kind(words.dropFirst()) != nil
    }

    /// The size in the comment `MIFARE Classic 1K`.
    private static func kind(_ words: ArraySlice<Substring>) -> ClassicKind? {
        guard words.count == 3, words.starts(with: ["MIFARE", "Classic"]) else { return nil }
        return words.last.flatMap { ClassicKind(rawValue: String($0)) }
    }

    /// Returns the card of a listing.
    static func read(_ lines: TextLines) throws(DocumentError) -> CardDump {
        var listing = TagListing(dump: CardDump(card: CardIdentity(technology: .typeA)))
        for line in lines {
            let words = line.text.words
            if words.isEmpty { continue }
            if words[0] == "#" {
                try listing.comment(Array(words.dropFirst()), line)
            } else if words[0] == "MF" || words[0].utf8.count > 4 {
                try listing.file(words, line)
            } else if listing.dump.classic != nil {
                try listing.block(words, line)
            } else {
                try listing.page(words, line)
            }
        }
        return listing.dump
    }

    private mutating func block(_ words: [Substring], _ line: TextLine) throws(DocumentError) {
        guard let kind = dump.classic?.kind, let number = Int(words[0]), (0..<kind.blockCount).contains(number) else {
            throw line.malformed(.blockNumberUpTo, "\((dump.classic?.kind.blockCount ?? 1) - 1)")
        }
        let digits = words[1...].joined().filter { $0 != ":" }
        guard let bytes = ClassicDump.bytes(of: digits, unknown: "-") else { throw line.malformed(.bytesInHex, "16") }
        guard dump.classic?[number] == nil else { throw line.malformed(.uniqueBlock) }
        dump.classic?[number] = bytes
    }

    private mutating func page(_ words: [Substring], _ line: TextLine) throws(DocumentError) {
        let number = try line.number16(words[0])
        let bytes = try line.hex(words[1...].joined(separator: " "), count: 4)
        guard tag({ $0.pages.updateValue(bytes, forKey: number) }) == nil else {
            throw line.malformed(.uniquePage)
        }
    }

    private mutating func file(_ words: [Substring], _ line: TextLine) throws(DocumentError) {
        guard words.count >= 4, let bytes = try? Hex.decode(words[3...].joined(separator: " ")), bytes.count <= 16
        else {
            throw line.malformed(.form, "AID FILE OFFSET HEX")
        }
        let application = try application(words[0], line)
        let id: FileIdentifier = try line.code(words[1])
        let offset = try line.number16(words[2])
        let file = place(of: id, in: application)
        guard dump.applications[application].files[file].data.count == Int(offset) else {
            throw line.malformed(.nextOffset)
        }
        dump.applications[application].files[file].data += bytes
    }

    private mutating func comment(_ words: [Substring], _ line: TextLine) throws(DocumentError) {
        switch words.first {
        case "UID", "PUPI": try identity(words, line)
        case "MIFARE":
            guard dump.classic == nil, let kind = TagListing.kind(words[...]) else { return }
            dump.classic = ClassicDump(kind)
        case "version": tag { $0.version = TagListing.bytes(words) }
        case "signature": tag { $0.signature = TagListing.bytes(words) }
        case "counter":
            guard words.count == 3, let number = UInt8(words[1]), let count = UInt32(words[2]), count <= 0xFF_FFFF
            else {
                throw line.malformed(.counterValue)
            }
            tag { $0.counters[number] = count }
        case "not" where words.count == 3 && words[1] == "asked":
            tag { $0.notAsked.append(String(words[2])) }
        case "page" where words.count > 2 && words[2] == "needs":
            tag { $0.closedFrom = UInt16(words[1], radix: 16) }
        case "missing:":
            dump.isComplete = false
            dump.missing.append(missing(words))
        default:
            guard words.count >= 3, words[0] == "MF" || words[0].utf8.count > 4, words[1].utf8.count == 4,
                AID(words[0]) != nil || words[0] == "MF"
            else { return }
            let application = try application(words[0], line)
            let file = place(of: try line.code(words[1]), in: application)
            dump.applications[application].files[file].state = TagListing.state(words[2...])
        }
    }

    /// Reads pairs of names and values.
    private mutating func identity(_ words: [Substring], _ line: TextLine) throws(DocumentError) {
        if words[0] == "PUPI" { dump.card = .typeB(pupi: nil, bitRate: nil) } else { dump.card.bitRate = nil }
        for place in stride(from: 0, to: words.count - 1, by: 2) {
            guard let bytes = try? Hex.decode(words[place + 1]) else { throw line.malformed(.hex) }
            switch words[place] {
            case "UID": dump.card.uid = bytes
            case "ATQA": dump.card.atqa = bytes.count == 2 ? UInt16(bytes[0]) << 8 | UInt16(bytes[1]) : nil
            case "SAK": dump.card.sak = bytes.count == 1 ? bytes[0] : nil
            case "ATS": dump.card.ats = bytes
            case "PUPI": dump.card.pupi = bytes.count == 4 ? bytes : nil
            case "AppData": dump.card.applicationData = bytes.count == 4 ? bytes : nil
            case "ProtocolInfo": dump.card.protocolInfo = bytes
            default: break
            }
        }
    }

    private func missing(_ words: [Substring]) -> MissingPart {
        let reason = words.last.map { String($0.filter { $0 != "(" && $0 != ")" }) } ?? "unknown"
        var part = MissingPart(reason: MissingPart.Reason(rawValue: reason))
        if words.count > 4, words[1] == "pages" {
            part.fromPage = UInt16(words[3], radix: 16)
        } else if words.count > 4, words[1] == "blocks" {
            part.fromBlock = UInt16(words[3])
        } else if words.count > 2 {
            part.application = AID(words[1])
            part.file = words[2].utf8.count == 4 ? FileIdentifier(words[2]) : nil
        }
        return part
    }

    private static func state(_ words: ArraySlice<Substring>) -> ReadState {
        switch words.joined(separator: " ") {
        case "key required": .keyRequired
        case "refused by silence": .refused(status: nil)
        case "not read to its end": .lost
        case "skipped": .skipped
        default: words.last.flatMap { UInt16($0, radix: 16) }.map { .refused(status: $0) } ?? .read
        }
    }

    private static func bytes(_ words: [Substring]) -> [UInt8]? {
        words.count == 2 ? try? Hex.decode(words[1]) : nil
    }

    @discardableResult
    private mutating func tag<Value>(_ change: (inout Type2Dump) -> Value) -> Value {
        var tag = dump.type2 ?? Type2Dump(pages: [:])
        defer { dump.type2 = tag }
        return change(&tag)
    }

    /// Returns the index of an application; the last one is tried first, since its lines are consecutive.
    private mutating func application(_ name: Substring, _ line: TextLine) throws(DocumentError) -> Int {
        let aid = name == "MF" ? nil : AID(name)
        guard aid != nil || name == "MF" else { throw line.malformed(.form, "AID FILE OFFSET HEX") }
        if let last = dump.applications.last, last.aid == aid { return dump.applications.count - 1 }
        if let place = dump.applications.firstIndex(where: { $0.aid == aid }) { return place }
        guard dump.applications.count < 256 else { throw line.malformed(.atMostApplications, "256") }
        dump.applications.append(ApplicationDump(aid: aid))
        return dump.applications.count - 1
    }

    private mutating func place(of id: FileIdentifier, in application: Int) -> Int {
        let files = dump.applications[application].files
        if let last = files.last, last.id == id { return files.count - 1 }
        if let place = files.firstIndex(where: { $0.id == id }) { return place }
        dump.applications[application].files.append(FileDump(id: id, state: .read))
        return files.count
    }
}
