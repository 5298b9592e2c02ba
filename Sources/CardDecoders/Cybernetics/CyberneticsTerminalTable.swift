// SPDX-License-Identifier: Apache-2.0

internal import CardModel

/// Byte 0 of a record: the kind of machine; the facts are rows of `Data/transit-terminals.tsv`.
struct CyberneticsTerminalTable: Sendable {
    /// The codes with their names.
    let names: CodeNames
    /// The class of a machine's records by its code, `nil` where the machine does not settle it.
    let classes: [CyberneticsRecordClass?]

    init(_ bytes: [UInt8]) {
        let table = FactTable(bytes, columns: ["code", "class", "english", "japanese", "doubt"], key: ["code"]) {
            (row) throws(TableFault) in
            (
                code: try row.hex("code") as UInt8, class: try row.word("class", CyberneticsRecordClass.self),
                name: try row.name(), doubt: try row.word("doubt", Doubt.self)
            )
        }
        names = CodeNames(table.rows.map { ($0.code, $0.name, $0.doubt) }, ignoring: 0, faults: table.faults)
        var classes = [CyberneticsRecordClass?](repeating: nil, count: 256)
        for row in table.rows { classes[Int(row.code)] = row.class }
        self.classes = classes
    }

    /// What is wrong in the table.
    var faults: [TableFault] { names.faults }
}
