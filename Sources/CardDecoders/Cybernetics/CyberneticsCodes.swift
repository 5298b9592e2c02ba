// SPDX-License-Identifier: Apache-2.0

internal import CardModel

/// Byte 0 of a record: the kind of machine.
enum CyberneticsTerminal {
    /// The byte with its name.
    static func value(_ code: UInt8) -> CodedValue { DecoderTables.transitTerminals.names[code] }

    /// The name of a byte, or `nil` when no source names it.
    static func name(_ code: UInt8) -> LocalizedText? { value(code).name }
}

/// Byte 0 of a record: the kind of machine; the facts are rows of `Data/transit-terminals.tsv`.
struct CyberneticsTerminalTable: Sendable {
    /// The codes with their names.
    let names: CodeNames
    /// The class of a machine's records by its code, `nil` where the machine does not settle it.
    let classes: [CyberneticsRecordClass?]

    init(_ bytes: [UInt8]) {
        let table = FactTable(bytes, columns: ["code", "class", "english", "japanese", "doubt"], key: ["code"]) {
            (row) throws(FactTableError) in
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
    var faults: [FactTableError] { names.faults }
}

/// Byte 1 of a record: what the machine did.
enum CyberneticsProcess {
    /// The byte with its name.
    static func value(_ code: UInt8) -> CodedValue { DecoderTables.transitProcesses.names[code] }

    /// The name of a byte, or `nil` when no source names it.
    static func name(_ code: UInt8) -> LocalizedText? { value(code).name }
}

/// Byte 1 of a record: what the machine did; the facts are rows of `Data/transit-processes.tsv`.
struct CyberneticsProcessTable: Sendable {
    /// Bit 7: combined with something, or another company's.
    static let flag: UInt8 = 0x80

    /// The codes with their names; a code with the flag has a name of its own or that of the code without it.
    let names: CodeNames
    /// The class of the records by code without the flag, `nil` where the process does not settle it.
    let classes: [CyberneticsRecordClass?]
    /// What the records tell of by code without the flag, `nil` where the class alone says it.
    let kinds: [RecordKind?]

    init(_ bytes: [UInt8]) {
        let table = FactTable(bytes, columns: ["code", "class", "kind", "english", "japanese", "doubt"], key: ["code"])
        {
            (row) throws(FactTableError) in
            (
                code: try row.hex("code") as UInt8, class: try row.word("class", CyberneticsRecordClass.self),
                kind: try row.word("kind", RecordKind.self), name: try row.name(),
                doubt: try row.word("doubt", Doubt.self)
            )
        }
        names = CodeNames(table.rows.map { ($0.code, $0.name, $0.doubt) }, ignoring: Self.flag, faults: table.faults)
        var classes = [CyberneticsRecordClass?](repeating: nil, count: 256)
        var kinds = [RecordKind?](repeating: nil, count: 256)
        for row in table.rows where row.code & Self.flag == 0 {
            for code in [row.code, row.code | Self.flag] {
                classes[Int(code)] = row.class
                kinds[Int(code)] = row.kind
            }
        }
        self.classes = classes
        self.kinds = kinds
    }

    /// What is wrong in the table.
    var faults: [FactTableError] { names.faults }
}

/// Byte 2 of a record: how it was paid.
enum CyberneticsPayment {
    /// The byte with its name.
    static func value(_ code: UInt8) -> CodedValue { DecoderTables.transitPayments[code] }

    /// The name of a byte, or `nil` when no source names it.
    static func name(_ code: UInt8) -> LocalizedText? { value(code).name }
}

/// Byte 3 of a record: how gates were passed.
enum CyberneticsGate {
    /// The byte with its name.
    static func value(_ code: UInt8) -> CodedValue { DecoderTables.transitGates[code] }

    /// The name of a byte, or `nil` when no source names it.
    static func name(_ code: UInt8) -> LocalizedText? { value(code).name }
}
