// SPDX-License-Identifier: Apache-2.0

package import CardModel
package import DumpFormats

/// The XML that NXP TagInfo, an application for Android, exports of a FeliCa card.
///
/// Source: two scans of version 4.24.7 published with felica-wallet. Each text block of the memory names a system, its
/// IDm and areas, or a service; the blocks after it are those of the last service. Codes are in the usual notation, high
/// byte first, numbers of blocks are decimal. The moment of the scan has no time zone and is not used.
package struct TagInfoFormat: DumpFormat {
    package init() {}
    package var id: String { "taginfo" }
    package var name: LocalizedText { LocalizedText("NXP TagInfo XML", "NXP TagInfo の XML") }

    /// Recognizes a scan as the first element.
    package func recognizes(_ source: DumpSource) -> Bool {
        guard case .xml = source.content else { return false }
        let head = String(decoding: source.bytes.prefix(4096), as: UTF8.self)
        return head.split(separator: "<").map { $0.prefix { $0.isLetter } }.first { !$0.isEmpty } == "scan"
    }

    package func read(_ source: DumpSource) throws(DocumentError) -> [CardDump] {
        let reader = TagInfoReader()
        try XMLEvents.parse(source.bytes, reader)
        return [try reader.finish()]
    }
}

/// Extracts a FeliCa card from the elements of a scan.
final class TagInfoReader: XMLHandler {
    /// A text block lists all areas of a system.
    private static let longestText = 1 << 16

    private var card = FeliCaCardBuilder()
    private var isMemory = false
    private var service: ServiceCode?
    private var address: UInt16?
    private var title = ""
    private var lastLine = 1
    private var content: [UInt8] = []

    func start(_ name: String, _ attributes: [String: String], line: Int) throws(DocumentError) {
        // Elements within a text only mark digits.
        if name != "hexoutput" { content = [] }
        if name == "subsection" { isMemory = attributes["title"] == "Memory content" }
    }

    func text(_ bytes: [UInt8]) {
        if content.count < TagInfoReader.longestText { content += bytes }
    }

    func end(_ name: String, line: Int) throws(DocumentError) {
        lastLine = line
        let text = String(decoding: content, as: UTF8.self).trimmed
        switch name {
        case "version": card.setTool("NXP TagInfo \(text)")
        case "title": title = text
        case "uid": card.setID(hex: text)
        case "content": for row in text.split(separator: "\n") { try read(row.trimmed, line) }
        case "address" where isMemory:
            guard let number = UInt16(text) else {
                throw .malformedLine(line: line, expected: .init(.blockWithAddress))
            }
            address = number
        case "data" where isMemory:
            guard let service else { throw .malformedLine(line: line, expected: .init(.blockInService)) }
            guard let address else { throw .malformedLine(line: line, expected: .init(.blockWithAddress)) }
            try card.add(hex: text, at: address, of: service, line: line)
            self.address = nil
        default: break
        }
    }

    /// Reads a line of a text block; the sign for lists before it is left out.
    private func read(_ row: String, _ line: Int) throws(DocumentError) {
        let words = row.words.drop { ["‣", "•", "◦"].contains($0) }.map(String.init)
        switch words.first {
        case "PMm:" where words.count == 2: try card.setPMm(hex: digits(words[1]), line: line)
        case "System" where isMemory && words.count > 2 && words[1] == "Code":
            card.beginSystem(try code(words[2], line))
            service = nil
        case "IDm:" where isMemory && words.count == 2: try card.setSystemIDm(hex: words[1], line: line)
        case "Area" where isMemory && words.count == 5 && words[3] == "-":
            try card.addArea(try code(words[2], line), try code(words[4], line), line: line)
        case "Service:" where isMemory && words.count > 2:
            let code: ServiceCode = try code(words[1], line)
            guard words[2].first == "#", UInt16(words[2].dropFirst()) == code.rawValue >> 6 else {
                throw .malformedLine(line: line, expected: .init(.serviceNumber))
            }
            try card.note(code, line: line)
            service = code
        default: break
        }
    }

    private func digits(_ word: String) -> String { word.hasPrefix("0x") ? String(word.dropFirst(2)) : word }

    /// Decodes `0xFE00`, with or without a colon behind it.
    private func code<Code: FourDigitCode>(_ word: String, _ line: Int) throws(DocumentError) -> Code {
        let text = digits(word.hasSuffix(":") ? String(word.dropLast()) : word)
        guard text.utf8.count == 4, let code = Code(text) else {
            throw .malformedLine(line: line, expected: .init(.code))
        }
        return code
    }

    /// Returns the card.
    ///
    /// - Throws: ``CardModel/DocumentError/notImported(kind:)`` for a scan without FeliCa systems.
    func finish() throws(DocumentError) -> CardDump {
        guard card.hasSystem else { throw .notImported(kind: title.isEmpty ? "TagInfo" : String(title.prefix(80))) }
        return try card.finish(line: lastLine)
    }
}
