// SPDX-License-Identifier: Apache-2.0

internal import CardModel

/// The names of the values of one byte, from a table with the columns `code`, `english` and `japanese`.
///
/// There is a value for each of the 256 codes, made once: a record of a history takes its values from here.
struct CodeNames: Sendable {
    /// What is wrong in the table.
    let faults: [TableFault]
    private let values: [CodedValue]

    /// Names from a table.
    init(_ bytes: [UInt8]) {
        let table = FactTable(bytes, columns: ["code", "english", "japanese"], key: ["code"]) {
            (row) throws(TableFault) in
            (code: try row.hex("code") as UInt8, name: try row.name())
        }
        self.init(table.rows.map { ($0.code, $0.name) }, ignoring: 0, faults: table.faults)
    }

    /// Names of codes.
    ///
    /// - Parameter flags: bits without which a code is looked up when it has no name of its own.
    init(_ rows: [(code: UInt8, name: LocalizedText?)], ignoring flags: UInt8, faults: [TableFault]) {
        var names = [LocalizedText?](repeating: nil, count: 256)
        for (code, name) in rows { names[Int(code)] = name }
        values = (UInt8.min...UInt8.max).map { code in
            CodedValue(code: code, name: names[Int(code)] ?? names[Int(code & ~flags)])
        }
        self.faults = faults
    }

    /// The code with its name.
    subscript(code: UInt8) -> CodedValue { values[Int(code)] }
}
