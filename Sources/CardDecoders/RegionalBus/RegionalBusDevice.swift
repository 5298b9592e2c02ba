// SPDX-License-Identifier: Apache-2.0

internal import CardModel

/// The high nibble of a record's kind byte: the machine. Sources: TRETJapanNFCReader, toyowata's readers,
/// felica-wallet; each card's list knows some of them.
enum RegionalBusDevice {
    static func name(_ code: UInt8) -> LocalizedText? { names[code] }

    /// What kind of ride a payment at this machine is, or `nil` where it may be any.
    static func ride(_ code: UInt8) -> RecordKind? {
        switch code {
        case 0x2: .rail
        case 0x5, 0x9: .bus
        default: nil
        }
    }

    private static let names: [UInt8: LocalizedText] = [
        0x2: LocalizedText("railway", "鉄道"),
        0x5: LocalizedText("bus", "バス"),
        0x7: LocalizedText("window", "窓口"),
        0x8: LocalizedText("charge machine", "入金機"),
        0x9: LocalizedText("fare box", "運賃箱"),
    ]
}
