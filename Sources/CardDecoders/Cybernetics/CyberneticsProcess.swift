// SPDX-License-Identifier: Apache-2.0

internal import CardModel

/// Byte 1 of a record: what the machine did.
enum CyberneticsProcess {
    /// The name of the whole byte where it has one of its own, else that of the process without the flag in bit 7.
    static func name(_ code: UInt8) -> LocalizedText? { names[code] ?? names[code & 0x7F] }

    private static let names: [UInt8: LocalizedText] = [
        0x01: LocalizedText("fare", "運賃支払"),
        0x02: LocalizedText("charge", "チャージ"),
        0x03: LocalizedText("ticket purchase", "きっぷ購入"),
        0x04: LocalizedText("adjustment", "精算"),
        0x05: LocalizedText("adjustment at entry", "入場精算"),
        0x06: LocalizedText("exit at the window", "窓口出場"),
        0x07: LocalizedText("new issue", "新規発行"),
        0x08: LocalizedText("deduction at the window", "窓口控除"),
        0x0C: LocalizedText("bus, flat fare", "バス(均一)"),
        0x0D: LocalizedText("bus", "バス"),
        0x0F: LocalizedText("bus", "バス"),
        0x11: LocalizedText("re-issue", "再発行"),
        0x13: LocalizedText("express fare", "特急・新幹線等の料金"),
        0x14: LocalizedText("auto-charge at entry", "入場時オートチャージ"),
        0x15: LocalizedText("auto-charge at exit", "出場時オートチャージ"),
        0x1F: LocalizedText("bus charge", "バスチャージ"),
        0x23: LocalizedText("bus or tram day ticket", "バス・電車企画券"),
        0x46: LocalizedText("purchase", "物販"),
        0x48: LocalizedText("point or bonus charge", "ポイント・特典チャージ"),
        0x49: LocalizedText("charge at a register", "レジ入金"),
        0x4A: LocalizedText("purchase cancelled", "物販取消"),
        0x4B: LocalizedText("entry and purchase", "入場物販"),
        0x84: LocalizedText("another company's adjustment", "他社精算"),
        0x85: LocalizedText("another company's adjustment at entry", "他社入場精算"),
        0xC6: LocalizedText("purchase, partly in cash", "物販(現金併用)"),
        0xCB: LocalizedText("entry and purchase, partly in cash", "入場物販(現金併用)"),
    ]
}
