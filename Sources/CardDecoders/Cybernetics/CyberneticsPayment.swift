// SPDX-License-Identifier: Apache-2.0

internal import CardModel

/// Byte 2 of a record: how it was paid.
enum CyberneticsPayment {
    /// The byte with its name.
    static func value(_ code: UInt8) -> CodedValue { DecoderTables.transitPayments[code] }

    /// The name of a byte, or `nil` when no source names it.
    static func name(_ code: UInt8) -> LocalizedText? { value(code).name }
}
