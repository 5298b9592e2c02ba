// SPDX-License-Identifier: Apache-2.0

public import CardModel
public import DumpFormats

/// The XML of old versions of Metrodroid and FareBot, of one card or of several.
///
/// Facts: Metrodroid and FareBot `card/xml`. The codes of systems and services and the numbers of blocks are
/// **decimal**, bytes are base64; 4 is the type of a FeliCa card. There is one IDm and one PMm.
public struct MetrodroidXMLFormat: DumpFormat {
    /// The format.
    public init() {}
    /// `metrodroid-xml`.
    public var id: String { "metrodroid-xml" }
    /// Its name.
    public var name: LocalizedText { LocalizedText("Metrodroid or FareBot XML", "Metrodroid・FareBot の XML") }

    /// The first element is a card or a list of cards.
    public func recognises(_ source: DumpSource) -> Bool {
        guard case .xml = source.content else { return false }
        let head = String(decoding: source.bytes.prefix(4096), as: UTF8.self)
        return head.split(separator: "<").map { $0.prefix { $0.isLetter } }.contains { $0 == "card" || $0 == "cards" }
    }

    /// The FeliCa cards of the file; other cards in a file of several are passed over.
    public func read(_ source: DumpSource) throws(DocumentError) -> [CardDump] {
        let reader = MetrodroidXMLReader()
        try XMLEvents.parse(source.bytes, reader)
        return try reader.finish()
    }
}
