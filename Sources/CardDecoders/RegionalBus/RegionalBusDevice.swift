// SPDX-License-Identifier: Apache-2.0

internal import CardModel

/// The high nibble of a record's kind byte: the machine. Each card's list knows some of them.
enum RegionalBusDevice {
    private static let codes = DecoderTables.localCodes["regional-bus", .terminal]

    static func name(_ code: UInt8) -> LocalizedText? { codes[UInt32(code)]?.name }

    /// What kind of ride a payment at this machine is, or `nil` where it may be any.
    static func ride(_ code: UInt8) -> RecordKind? { codes[UInt32(code)]?.kind }
}
