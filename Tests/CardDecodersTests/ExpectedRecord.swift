// SPDX-License-Identifier: Apache-2.0

import CardDecoders
import CardModel
import TestSupport
import Testing

/// A row of `Fixtures/blocks`: one block and what the published vectors say of it. P11 is the ICOCA among the test files of
/// FareBot, whose fields were worked out from its bytes by hand.
struct ExpectedRecord: CustomTestStringConvertible, Sendable {
    let columns: [String: String]

    static let transit = (try? TestFiles.table("Fixtures/blocks/transit-history.tsv"))?.map(ExpectedRecord.init) ?? []
    /// The second set: `*` stands for what must not be asserted, since the author of the source changed it.
    static let second =
        (try? TestFiles.table("Fixtures/blocks/transit-history-2.tsv"))?.map(ExpectedRecord.init) ?? []
    static let edy = (try? TestFiles.table("Fixtures/blocks/edy-history.tsv"))?.map(ExpectedRecord.init) ?? []

    var testDescription: String { self["id"] ?? "?" }

    /// The text of a column, or `nil` when it says `null`.
    subscript(column: String) -> String? { columns[column].flatMap { $0 == "null" ? nil : $0 } }

    func block() throws -> Block { try Dumps.block(columns["hex"] ?? "") }

    /// The blocks of the same card, newest first.
    static func blocks(of row: ExpectedRecord, in rows: [ExpectedRecord]) throws -> [Block] {
        try rows.filter { $0["card"] == row["card"] }.map { try $0.block() }
    }

    var warnings: [String] { columns["warnings"] == "none" ? [] : [columns["warnings"] ?? ""] }
}

extension PlaceCode {
    /// The place as the tables write it: `area-line-station`, or `bus:area-operator-stop`.
    var tableText: String {
        switch self {
        case .station(let code): "\(code.area)-\(code.line)-\(code.station)"
        case .busStop(let code): "bus:\(code.area)-\(code.operatorHex)-\(code.stopHex)"
        case .local(let code):
            "local:"
                + [code.system.description, code.operatorHex, code.lineHex, code.stopHex].compactMap { $0 }
                .joined(separator: "-")
        }
    }
}
