// SPDX-License-Identifier: Apache-2.0

internal import CardModel

/// Byte 0 of a record: the kind of machine.
///
/// Disputed: 12 (a monorail's ticket machine to suica-viewer), 1C (platform-ticket machine to suica-viewer), 20
/// (a railway's window to Metroflip). Known from one source only: 24, 34, 35. C9 and CA are in no list: no name.
enum CyberneticsTerminal {
    static func name(_ code: UInt8) -> LocalizedText? { names[code] }

    private static let names: [UInt8: LocalizedText] = [
        0x03: LocalizedText("fare adjustment machine", "のりこし精算機"),
        0x04: LocalizedText("portable terminal", "携帯型端末"),
        0x05: LocalizedText("on-board terminal", "車載端末"),
        0x07: LocalizedText("card vending machine", "カード発売機"),
        0x08: LocalizedText("ticket vending machine", "自動券売機"),
        0x09: LocalizedText("quick charge machine", "クイックチャージ機"),
        0x12: LocalizedText("ticket machine", "券売機"),
        0x13: LocalizedText("ticket machine", "券売機"),
        0x14: LocalizedText("station equipment", "駅務機器"),
        0x15: LocalizedText("commuter pass machine", "定期券発売機"),
        0x16: LocalizedText("automatic gate", "自動改札機"),
        0x17: LocalizedText("simplified gate", "簡易改札機"),
        0x18: LocalizedText("station equipment", "駅務機器"),
        0x19: LocalizedText("ticket office", "みどりの窓口"),
        0x1A: LocalizedText("staffed gate", "有人改札"),
        0x1B: LocalizedText("mobile phone", "携帯電話"),
        0x1C: LocalizedText("transfer adjustment machine", "乗継精算機"),
        0x1D: LocalizedText("transfer gate", "連絡改札機"),
        0x1F: LocalizedText("simple deposit machine", "簡易入金機"),
        0x20: LocalizedText("issuing machine", "発行機"),
        0x21: LocalizedText("charge machine", "精算・入金機"),
        0x22: LocalizedText("simplified gate or window", "簡易改札機・窓口"),
        0x23: LocalizedText("transfer adjustment", "乗継精算"),
        0x24: LocalizedText("on-board supplement machine", "車内補充券発行機"),
        0x34: LocalizedText("card vending machine", "カード発売機"),
        0x35: LocalizedText("on-board charge machine", "車内入金機"),
        0x36: LocalizedText("on-board simplified gate", "車内簡易改札機"),
        0x46: LocalizedText("VIEW ALTTE ATM", "ビューアルッテ"),
        0x48: LocalizedText("VIEW ALTTE ATM", "ビューアルッテ"),
        0xC7: LocalizedText("shop terminal", "物販端末"),
        0xC8: LocalizedText("vending machine", "自動販売機"),
    ]
}
