// SPDX-License-Identifier: Apache-2.0

/// A table of facts as text: one row a line, a tab between two fields.
///
/// The first line names the columns; lines that begin with `#` are comments and say where the facts come from; empty
/// lines do not count, empty fields at the end of a line may be left out, and there is no quoting. A line that is no row is left out and named in ``faults``: a table never
/// stops the program, its tests see to it that the tables of a release have no faults.
public struct FactTable<Row: Sendable>: Sendable {
    /// The rows in order.
    public let rows: [Row]
    /// What is wrong with the lines that are no rows.
    public let faults: [TableFault]

    /// Reads a table.
    ///
    /// - Parameters:
    ///   - bytes: the text, UTF-8.
    ///   - columns: the names of the columns, as its first line must have them.
    ///   - key: columns that together tell one row from every other; of two rows with the same the first counts.
    ///   - row: what makes a value of a row.
    public init(_ bytes: [UInt8], columns: [String], key: [String], row: (FactRow) throws(TableFault) -> Row) {
        var rows: [Row] = []
        var faults: [TableFault] = []
        var headerWasSeen = false
        var keys: Set<[String?]> = []
        for (place, bytes) in bytes.split(separator: 0x0A, omittingEmptySubsequences: false).enumerated() {
            let line = place + 1
            let bytes = bytes.last == 0x0D ? bytes.dropLast() : bytes
            guard !bytes.isEmpty, bytes.first != UInt8(ascii: "#") else { continue }
            guard let text = String(validating: bytes, as: UTF8.self) else {
                faults.append(TableFault(line: line, reason: .notUTF8))
                continue
            }
            let fields = text.split(separator: "\t", omittingEmptySubsequences: false)
            if !headerWasSeen {
                headerWasSeen = true
                if fields.map(String.init) != columns { faults.append(TableFault(line: line, reason: .wrongHeader)) }
            } else if fields.count > columns.count {
                faults.append(TableFault(line: line, reason: .tooManyFields))
            } else {
                do throws(TableFault) {
                    let fields = FactRow(line: line, columns: columns, fields: fields)
                    guard keys.insert(try fields.texts(key)).inserted else {
                        throw TableFault(line: line, reason: .duplicate)
                    }
                    rows.append(try row(fields))
                } catch {
                    faults.append(error)
                }
            }
        }
        if !headerWasSeen { faults.append(TableFault(line: 1, reason: .wrongHeader)) }
        self.rows = rows
        self.faults = faults
    }
}
