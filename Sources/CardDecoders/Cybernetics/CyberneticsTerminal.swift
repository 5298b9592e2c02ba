// SPDX-License-Identifier: Apache-2.0

internal import CardModel

/// Byte 0 of a record: the kind of machine.
enum CyberneticsTerminal {
    /// The byte with its name.
    static func value(_ code: UInt8) -> CodedValue { DecoderTables.transitTerminals.names[code] }

    /// The name of a byte, or `nil` when no source names it.
    static func name(_ code: UInt8) -> LocalizedText? { value(code).name }
}
