// SPDX-License-Identifier: Apache-2.0

public import CardModel

/// What `tag.dump()` of nfcpy gives, with or without the line that describes the tag before it.
///
/// Facts: nfcpy `src/nfc/tag/tt3.py`, `tt3_sony.py`. Codes stand in the order in which people write them; a line with
/// an asterisk stands for blocks that are equal to the one before it. Of a FeliCa Lite the numbers are decimal.
public struct NfcpyFormat: DumpFormat {
    /// The format.
    public init() {}
    /// `nfcpy`.
    public var id: String { "nfcpy" }
    /// Its name.
    public var name: LocalizedText { LocalizedText("nfcpy dump", "nfcpy のダンプ") }

    /// A line of a system, an area or a service in nfcpy's words, or a block beside its characters.
    public func recognises(_ source: DumpSource) -> Bool {
        source.head.contains { line in
            switch NfcpyLine(line) {
            case .system, .area, .service, .tag: true
            case .block(_, _, let isDecimal): line.text.hasSuffix("|") || isDecimal && line.text.hasSuffix(")")
            case .same, .other: false
            }
        }
    }

    /// One card.
    public func read(_ source: DumpSource) throws(DocumentError) -> [CardDump] {
        var reader = NfcpyReader()
        for line in source.lines { try reader.read(line) }
        return [try reader.finish()]
    }
}
