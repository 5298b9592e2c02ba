// SPDX-License-Identifier: Apache-2.0

package import CardModel
public import DumpFormats

/// The XML of old versions of Metrodroid and FareBot, of one card or of several.
///
/// Source: Metrodroid and FareBot `card/xml`. The codes of systems and services and the numbers of blocks are
/// **decimal**, bytes are base64; 4 is the type of a FeliCa card. There is one IDm and one PMm.
package struct MetrodroidXMLFormat: DumpFormat {
    package init() {}
    package var id: String { "metrodroid-xml" }
    package var name: LocalizedText { LocalizedText("Metrodroid or FareBot XML", "Metrodroid・FareBot の XML") }

    /// Recognizes a card or a list of cards as the first element.
    package func recognizes(_ source: DumpSource) -> Bool {
        guard case .xml = source.content else { return false }
        let head = String(decoding: source.bytes.prefix(4096), as: UTF8.self)
        return head.split(separator: "<").contains { ["card", "cards"].contains($0.prefix(while: \.isLetter)) }
    }

    /// Reads the FeliCa cards of the file; other cards in a file of several are skipped.
    package func read(_ source: DumpSource) throws(DocumentError) -> [CardDump] {
        let reader = MetrodroidXMLReader()
        try XMLEvents.parse(source.bytes, reader)
        return try reader.finish()
    }
}

/// Extracts the FeliCa cards from the elements of an XML file.
final class MetrodroidXMLReader: XMLHandler {
    private static let longestText = 4096

    private var dumps: [CardDump] = []
    private var card: FeliCaCardBuilder?
    private var service: ServiceCode?
    private var address: UInt16 = 0
    private var content: [UInt8] = []

    func start(_ name: String, _ attributes: [String: String], line: Int) throws(DocumentError) {
        switch name {
        case "card":
            card = attributes["type"] == "4" ? FeliCaCardBuilder() : nil
            card?.setID(hex: attributes["id"] ?? "")
            if let scanned = attributes["scanned_at"] {
                guard let milliseconds = Int64(scanned), (0...253_402_300_799_999).contains(milliseconds) else {
                    throw .malformedLine(line: line, expected: .init(.scannedAt))
                }
                card?.setMoment(milliseconds: milliseconds)
            }
        case "system": card?.beginSystem(try code(attributes, line))
        case "service":
            let code: ServiceCode = try code(attributes, line)
            service = code
            try card?.note(code, line: line)
        case "block":
            content = []
            // Stored in a signed byte, so 82 of a FeliCa Lite is -126.
            guard let number = attributes["address"].flatMap({ Int($0) }), (-128...0xFFFF).contains(number) else {
                throw .malformedLine(line: line, expected: .init(.blockWithAddress))
            }
            address = number < 0 ? UInt16(UInt8(truncatingIfNeeded: number)) : UInt16(truncatingIfNeeded: number)
        case "idm", "pmm": content = []
        default: break
        }
    }

    func text(_ bytes: [UInt8]) {
        if content.count < MetrodroidXMLReader.longestText { content += bytes }
    }

    func end(_ name: String, line: Int) throws(DocumentError) {
        switch name {
        case "idm": try card?.setIDm(base64: content, line: line)
        case "pmm": try card?.setPMm(base64: content, line: line)
        case "block":
            guard card == nil || service != nil else {
                throw .malformedLine(line: line, expected: .init(.blockInService))
            }
            if let service { try card?.add(base64: content, at: address, of: service, line: line) }
        case "service": service = nil
        case "card":
            if let dump = try card?.finish(line: line) { dumps.append(dump) }
            card = nil
        default: break
        }
    }

    /// Returns the cards; at least one.
    func finish() throws(DocumentError) -> [CardDump] {
        guard !dumps.isEmpty else { throw .missing(key: "card with type 4 (FeliCa)") }
        return dumps
    }

    private func code<Code: FourDigitCode>(_ attributes: [String: String], _ line: Int) throws(DocumentError) -> Code {
        guard let number = attributes["code"].flatMap({ UInt16($0) }) else {
            throw .malformedLine(line: line, expected: .init(.decimalCode))
        }
        return Code(rawValue: number)
    }
}

extension DumpFormatRegistry {
    /// All formats known to Kazasu, including those in XML.
    public static let complete = DumpFormatRegistry([MetrodroidXMLFormat(), TagInfoFormat()] + standard.formats)
}
