// SPDX-License-Identifier: Apache-2.0

internal import CardModel

/// The prefixes of URI records; the facts are rows of `Data/uri-prefixes.tsv`.
struct NDEFURIPrefix: Hashable, Sendable {
    let code: UInt8
    let text: String

    init(_ row: FactRow) throws(TableFault) {
        code = try row.hex("code")
        text = try row.text("prefix") ?? ""
    }

    static let table = FactTable(
        PackageResources.uri_prefixes_tsv, columns: ["code", "prefix"], key: ["code"], row: NDEFURIPrefix.init(_:))

    /// The text that a code stands for; `nil` for a reserved one.
    static func text(of code: UInt8) -> String? {
        table.rows.first { $0.code == code }?.text
    }

    /// The longest prefix that a URI begins with; code 0 when it is none.
    static func longest(of uri: String) -> (code: UInt8, text: String) {
        let row = table.rows.filter { uri.utf8.starts(with: $0.text.utf8) }
            .max { ($0.text.utf8.count, $1.code) < ($1.text.utf8.count, $0.code) }
        return row.map { ($0.code, $0.text) } ?? (0, "")
    }
}
