// SPDX-License-Identifier: Apache-2.0

internal import CardModel

/// One kind of record of an e-money card.
struct PurseKind: Hashable, Sendable {
    /// The byte on the card with its name.
    let value: CodedValue
    /// What the report calls it.
    let recordKind: RecordKind
    /// Whether the amount was put on or taken off; `nil` when no source says.
    let sign: Sign?

    /// A direction of money.
    enum Sign: String, Sendable {
        /// Put on the card.
        case plus = "+"
        /// Taken off the card.
        case minus = "-"
    }

    init(_ row: FactRow) throws(TableFault) {
        guard let name = try row.name() else { throw row.fault("english", .empty) }
        guard let kind = try row.word("kind", RecordKind.self) else { throw row.fault("kind", .empty) }
        value = CodedValue(code: try row.hex("code"), name: name)
        recordKind = kind
        sign = try row.word("sign")
    }

    /// An amount with the sign of this kind, or `nil` when it has none.
    func signed(_ amount: Int) -> Int? {
        sign.map { $0 == .plus ? amount : -amount }
    }
}
