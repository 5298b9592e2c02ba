// SPDX-License-Identifier: Apache-2.0

internal import CardModel

/// What a machine did, in the low nibble of a record's kind byte; the two layouts number it differently.
enum RegionalBusAction {
    case issue
    case payment
    case charge

    var name: LocalizedText {
        switch self {
        case .issue: LocalizedText("new issue", "新規発行")
        case .payment: LocalizedText("payment", "支払い")
        case .charge: LocalizedText("charge", "チャージ")
        }
    }

    /// The kind of a record; a payment is a ride where the machine tells which, else unknown.
    static func kind(_ action: RegionalBusAction?, device: UInt8) -> RecordKind {
        switch action {
        case .issue: .issue
        case .charge: .charge
        case .payment: RegionalBusDevice.ride(device) ?? .other
        case nil: .other
        }
    }

    /// The amount with its sign; that of a new card is not known to have one.
    static func signed(_ amount: Int, _ action: RegionalBusAction?) -> Int? {
        switch action {
        case .payment: -amount
        case .charge: amount
        case .issue, nil: nil
        }
    }
}
