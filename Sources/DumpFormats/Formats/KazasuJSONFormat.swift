// SPDX-License-Identifier: Apache-2.0

public import CardModel

/// Kazasu's own document, `kazasu.dump/1`; it alone holds all of a dump.
public struct KazasuJSONFormat: WritableDumpFormat {
    /// The format.
    public init() {}
    /// `json`, as in `dump --format json`.
    public var id: String { "json" }
    /// Its name.
    public var name: LocalizedText { LocalizedText("Kazasu JSON document", "Kazasu の JSON 文書") }

    /// The document names its schema.
    public func recognises(_ source: DumpSource) -> Bool {
        guard let schema = try? source.json?.member("schema")?.text() else { return false }
        return schema.hasPrefix("kazasu.dump/")
    }

    /// One card.
    public func read(_ source: DumpSource) throws(DocumentError) -> [CardDump] {
        guard let json = source.json else { throw .notJSON(reason: source.kind) }
        return [try CardDump(json: json.value)]
    }

    /// The whole document.
    public func write(_ dump: CardDump) throws(DumpWritingError) -> [UInt8] {
        Array((dump.json.prettyText + "\n").utf8)
    }
}
