// SPDX-License-Identifier: Apache-2.0

internal import CardModel

/// Byte 3 of a record: how gates were passed.
enum CyberneticsGate {
    /// The byte with its name.
    static func value(_ code: UInt8) -> CodedValue { DecoderTables.transitGates[code] }

    /// The name of a byte, or `nil` when no source names it.
    static func name(_ code: UInt8) -> LocalizedText? { value(code).name }
}
