// SPDX-License-Identifier: Apache-2.0

internal import CardModel

/// What the codes of cards with a format of their own stand for; the facts are rows of `Data/local-codes.tsv`.
struct LocalCodeTable: Sendable {
    /// What is wrong in the table.
    let faults: [TableFault]
    private let codes: [String: [UInt32: Code]]

    /// What a code is part of.
    enum Field: String, Sendable {
        /// The machine.
        case terminal
        /// What it did.
        case process
    }

    /// What a code stands for.
    struct Code: Sendable {
        /// Its name.
        let name: LocalizedText
        /// What a record with it tells of, or `nil` where the code does not settle it.
        let kind: RecordKind?
    }

    init(_ bytes: [UInt8]) {
        let table = FactTable(
            bytes, columns: ["card", "field", "code", "kind", "english", "japanese"], key: ["card", "field", "code"]
        ) { (row) throws(TableFault) -> (place: String, number: UInt32, code: Code) in
            guard let name = try row.name() else { throw row.fault("english", .empty) }
            guard let field = try row.word("field", Field.self) else { throw row.fault("field", .empty) }
            let code = Code(name: name, kind: try row.word("kind", RecordKind.self))
            return (LocalCodeTable.place(try row.required("card"), field), try row.hex("code"), code)
        }
        var codes: [String: [UInt32: Code]] = [:]
        for row in table.rows { codes[row.place, default: [:]][row.number] = row.code }
        self.codes = codes
        faults = table.faults
    }

    /// What is known of the codes of a card, by code.
    subscript(card: String, field: Field) -> [UInt32: Code] { codes[LocalCodeTable.place(card, field)] ?? [:] }

    private static func place(_ card: String, _ field: Field) -> String { "\(card) \(field.rawValue)" }
}
