// SPDX-License-Identifier: Apache-2.0

internal import CardModel

/// Byte 0 of a record: the kind of terminal.
enum CyberneticsTerminal {
    /// The byte with its name.
    static func value(_ code: UInt8) -> CodedValue { DecoderTables.transitTerminals[code] }

    /// The name of a byte, or `nil` when no source gives one.
    static func name(_ code: UInt8) -> LocalizedText? { value(code).name }
}

/// Byte 1 of a record: the operation of the terminal.
enum CyberneticsProcess {
    /// The byte with its name.
    static func value(_ code: UInt8) -> CodedValue { DecoderTables.transitProcesses[code] }

    /// The name of a byte, or `nil` when no source gives one.
    static func name(_ code: UInt8) -> LocalizedText? { value(code).name }
}

/// Byte 2 of a record: the means of payment.
enum CyberneticsPayment {
    /// The byte with its name.
    static func value(_ code: UInt8) -> CodedValue { DecoderTables.transitPayments[code] }

    /// The name of a byte, or `nil` when no source gives one.
    static func name(_ code: UInt8) -> LocalizedText? { value(code).name }
}

/// Byte 3 of a record: how gates were passed.
enum CyberneticsGate {
    /// The byte with its name.
    static func value(_ code: UInt8) -> CodedValue { DecoderTables.transitGates[code] }

    /// The name of a byte, or `nil` when no source gives one.
    static func name(_ code: UInt8) -> LocalizedText? { value(code).name }
}
