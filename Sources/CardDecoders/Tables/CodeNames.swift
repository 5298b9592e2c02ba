// SPDX-License-Identifier: Apache-2.0

internal import CardModel

/// The names of the values of one byte, from a table with the columns `code`, `english`, `japanese` and `doubt`.
///
/// There is a value for each of the 256 codes, made once: a record of a history takes its values from here.
struct CodeNames: Sendable {
    /// What is wrong in the table.
    let faults: [TableFault]
    private let values: [CodedValue]

    /// Names from a table.
    init(_ bytes: [UInt8]) {
        let table = FactTable(bytes, columns: ["code", "english", "japanese", "doubt"], key: ["code"]) {
            (row) throws(TableFault) in
            (code: try row.hex("code") as UInt8, name: try row.name(), doubt: try row.word("doubt", Doubt.self))
        }
        self.init(table.rows.map { ($0.code, $0.name, $0.doubt) }, ignoring: 0, faults: table.faults)
    }

    /// Names of codes.
    ///
    /// - Parameter flags: bits without which a code is looked up when it has no name of its own.
    init(
        _ rows: [(code: UInt8, name: LocalizedText?, doubt: Doubt?)], ignoring flags: UInt8, faults: [TableFault]
    ) {
        var named = [(name: LocalizedText, doubt: Doubt?)?](repeating: nil, count: 256)
        for (code, name, doubt) in rows { named[Int(code)] = name.map { ($0, doubt) } }
        values = (UInt8.min...UInt8.max).map { code in
            let known = named[Int(code)] ?? named[Int(code & ~flags)]
            return CodedValue(code: code, name: known?.name, doubt: known?.doubt)
        }
        self.faults = faults
    }

    /// The code with its name.
    subscript(code: UInt8) -> CodedValue { values[Int(code)] }
}
