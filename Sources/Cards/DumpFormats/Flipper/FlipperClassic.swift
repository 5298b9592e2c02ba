// SPDX-License-Identifier: Apache-2.0

import ByteCodec
import CardModel

/// Reads the lines of a Flipper `.nfc` file of a MIFARE Classic, and writes them; unknown lines are ignored, as by the Flipper.
///
/// Data format 2 has a line for each block, with `??` for unknown bytes. Data format 1 has zeros there and says in two bit masks
/// which keys are known. Source: `documentation/file_formats/NfcFileFormats.md` of the firmware.
struct FlipperClassic {
    static let deviceType = "Mifare Classic"

    private var header = FlipperHeader()
    private var dataFormat = 1
    private var memory: ClassicDump?
    private var read = 0
    /// Data format 1: the known keys A and B, a bit for each sector; `nil` without such a line.
    private var keyMaps: [UInt64?] = [nil, nil]

    private static let sizes: [(word: String, kind: ClassicKind)] = [("MINI", .mini), ("1K", .k1), ("4K", .k4)]

    mutating func read(_ line: TextLine) throws(DocumentError) {
        let text = line.text
        guard !text.hasPrefix("#"), let colon = text.firstIndex(of: ":") else { return }
        let value = text[text.index(after: colon)...].trimmed
        let name = text[..<colon].trimmed
        if try header.read(name, value, line) { return }
        switch name {
        case "Mifare Classic type":
            guard memory == nil, let kind = Self.sizes.first(where: { $0.word == value })?.kind else {
                throw line.malformed(.oneOf, "MINI", "1K", "4K")
            }
            memory = ClassicDump(kind)
        case "Data format version":
            guard let number = Int(value), (1...2).contains(number) else { throw line.malformed(.dataFormat) }
            dataFormat = number
        case "Key A map", "Key B map":
            guard let map = UInt64(value, radix: 16) else { throw line.malformed(.hex) }
            keyMaps[name == "Key A map" ? 0 : 1] = map
        default:
            guard name.hasPrefix("Block ") else { return }
            try readBlock(name.dropFirst(6), value, line)
        }
    }

    private mutating func readBlock(
        _ number: Substring, _ value: String, _ line: TextLine
    ) throws(DocumentError) {
        guard let kind = memory?.kind else { throw .missing(key: "Mifare Classic type") }
        guard let block = Int(number), (0..<kind.blockCount).contains(block) else {
            throw line.malformed(.blockNumberUpTo, "\(kind.blockCount - 1)")
        }
        guard var bytes = ClassicDump.bytes(of: value.words.joined(), unknown: "?") else {
            throw line.malformed(.bytesInHex, "16")
        }
        guard memory?[block] == nil else { throw line.malformed(.uniqueBlock) }
        if dataFormat == 1 { markUnknown(&bytes, block) }
        memory?[block] = bytes
        read += 1
    }

    /// Marks what the masks of data format 1 say: a key that is not known, and the blocks of a sector without a known key.
    private func markUnknown(_ bytes: inout [UInt8?], _ block: Int) {
        let sector = ClassicKind.sector(of: block)
        let isKnown = keyMaps.map { map in map.map { $0 >> UInt64(sector) & 1 == 1 } }
        if isKnown == [false, false] {
            bytes = ClassicDump.unknownBlock
        } else if block == ClassicKind.trailer(of: sector) {
            for (isKnown, range) in zip(isKnown, [0..<6, 10..<16])
            where !(isKnown ?? bytes[range].contains { $0 != 0 }) {
                for place in range { bytes[place] = nil }
            }
        }
    }

    func finish() throws(DocumentError) -> CardDump {
        let identity = try header.finish()
        guard let memory else { throw .missing(key: "Mifare Classic type") }
        return CardDump(memory, identity, complete: read >= memory.kind.blockCount)
    }

    /// Returns the file; what is unknown of the card's identity has no line.
    ///
    /// - Throws: ``DumpWritingError/notSupported(_:)`` for a 2K, of which the Flipper knows nothing.
    static func text(_ memory: ClassicDump, _ card: CardIdentity) throws(DumpWritingError) -> String {
        guard let size = sizes.first(where: { $0.kind == memory.kind }) else { throw .notSupported(card.technology) }
        let hex = { (bytes: [UInt8]) in Hex.encode(bytes, uppercase: true, separator: " ") }
        var text = "Filetype: Flipper NFC device\nVersion: 4\nDevice type: \(deviceType)\n"
        if let uid = card.uid { text += "UID: \(hex(uid))\n" }
        if let atqa = card.atqa { text += "ATQA: \(hex([UInt8(atqa >> 8), UInt8(atqa & 0xFF)]))\n" }
        if let sak = card.sak { text += "SAK: \(hex([sak]))\n" }
        text += "Mifare Classic type: \(size.word)\nData format version: 2\n"
        for block in 0..<memory.kind.blockCount {
            text += "Block \(block): \(ClassicDump.digits(of: memory[block], unknown: "?", separator: " "))\n"
        }
        return text
    }
}
