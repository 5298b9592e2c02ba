// SPDX-License-Identifier: Apache-2.0

internal import CardModel

/// What a ``Check/Code`` means: a row of `Data/checks.tsv`.
struct CheckRow: Hashable, Sendable {
    let code: Check.Code
    let layer: Check.Layer
    let verdict: Check.Verdict
    let message: LocalizedText
    let remedy: LocalizedText?

    static let table = FactTable(
        PackageResources.checks_tsv,
        columns: ["code", "layer", "verdict", "english", "japanese", "remedyEnglish", "remedyJapanese"],
        key: ["code"], row: CheckRow.init(_:))

    private static let byCode = Dictionary(
        table.rows.map { ($0.code, $0) }, uniquingKeysWith: { first, _ in first })

    /// The row of a code; every code has one, as a test sees to.
    static func of(_ code: Check.Code) -> CheckRow {
        byCode[code] ?? CheckRow(code)
    }

    private init(_ code: Check.Code) {
        self.code = code
        (layer, verdict) = (.reader, .note)
        message = LocalizedText(code.rawValue, code.rawValue)
        remedy = nil
    }

    private init(_ row: FactRow) throws(TableFault) {
        guard let code = try row.word("code", Check.Code.self), let layer = try row.word("layer", Check.Layer.self),
            let verdict = try row.word("verdict", Check.Verdict.self)
        else { throw row.fault("code", .empty) }
        (self.code, self.layer, self.verdict) = (code, layer, verdict)
        message = LocalizedText(try row.required("english"), try row.required("japanese"))
        let remedies = (try row.text("remedyEnglish"), try row.text("remedyJapanese"))
        if let english = remedies.0, let japanese = remedies.1 {
            remedy = LocalizedText(english, japanese)
        } else {
            guard remedies == (nil, nil) else { throw row.fault("remedyEnglish", .empty) }
            remedy = nil
        }
        // A fault that nobody says how to mend helps nobody.
        if verdict == .fault || verdict == .warning, remedy == nil { throw row.fault("remedyEnglish", .empty) }
    }
}
