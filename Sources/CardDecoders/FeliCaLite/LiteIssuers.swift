// SPDX-License-Identifier: Apache-2.0

internal import CardModel

/// Who has which data format code; `Data/lite-issuers.tsv`.
enum LiteIssuers {
    /// The rows of the table.
    static let table = FactTable(
        PackageResources.lite_issuers_tsv, columns: ["code", "issuer"]
    ) { row throws(TableFault) in
        (code: try row.hex("code") as UInt16, issuer: try row.required("issuer"))
    }

    private static let names = Dictionary(table.rows.map { ($0.code, $0.issuer) }) { first, _ in first }

    /// The issuer's name, the same in every language, or `nil`.
    static func name(_ code: UInt16) -> String? { names[code] }
}
