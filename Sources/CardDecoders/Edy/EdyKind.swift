// SPDX-License-Identifier: Apache-2.0

internal import CardModel

/// Byte 0 of a block of 170F, as far as it is known; the amount has no sign of its own.
enum EdyKind: UInt8 {
    case charge = 0x02
    case gift = 0x04
    case payment = 0x20

    var recordKind: RecordKind {
        switch self {
        case .charge: .charge
        case .gift: .point
        case .payment: .purchase
        }
    }

    var name: LocalizedText {
        switch self {
        case .charge: LocalizedText("charge", "チャージ")
        case .gift: LocalizedText("Edy gift", "Edyギフト")
        case .payment: LocalizedText("payment", "支払い")
        }
    }
}
