// SPDX-License-Identifier: Apache-2.0

internal import CardModel

/// Byte 3 of a record: how gates were passed. 08 occurs, but what it means is unclear: no name.
enum CyberneticsGate {
    static func name(_ code: UInt8) -> LocalizedText? { names[code] }

    private static let outsideThePass = LocalizedText("ride outside the pass section", "券面外乗降")

    private static let names: [UInt8: LocalizedText] = [
        0x00: LocalizedText("none", "なし"),
        0x01: LocalizedText("entry", "入場"),
        0x02: LocalizedText("entry and exit", "入場・出場"),
        0x03: LocalizedText("pass entry, pass exit", "定期入場・定期出場"),
        0x04: LocalizedText("entry, pass exit", "入場・定期出場"),
        0x05: LocalizedText("transfer discount", "乗継割引"),
        0x0E: LocalizedText("exit at the window", "窓口出場"),
        0x0F: LocalizedText("bus", "バス"),
        0x12: LocalizedText("fee pass entry, fee exit", "料金定期入場・料金出場"),
        0x17: LocalizedText("rail and bus transfer discount", "乗継割引(鉄道・バス)"),
        0x1D: LocalizedText("transfer discount", "乗継割引"),
        0x21: LocalizedText("bus transfer discount", "バス乗継割引"),
        0x22: outsideThePass,
        0x25: outsideThePass,
        0x26: outsideThePass,
    ]
}
