// SPDX-License-Identifier: Apache-2.0

internal import CardModel

/// Byte 1 of a record: what the machine did.
enum CyberneticsProcess {
    /// The byte with its name.
    static func value(_ code: UInt8) -> CodedValue { DecoderTables.transitProcesses.names[code] }

    /// The name of a byte, or `nil` when no source names it.
    static func name(_ code: UInt8) -> LocalizedText? { value(code).name }
}
