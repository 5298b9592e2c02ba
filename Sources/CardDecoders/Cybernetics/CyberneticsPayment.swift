// SPDX-License-Identifier: Apache-2.0

internal import CardModel

/// Byte 2 of a record: how it was paid.
enum CyberneticsPayment {
    static func name(_ code: UInt8) -> LocalizedText? { names[code] }

    private static let names: [UInt8: LocalizedText] = [
        0x00: LocalizedText("cash or none", "現金・なし"),
        0x02: LocalizedText("VIEW card", "VIEWカード"),
        0x0B: LocalizedText("PiTaPa", "PiTaPa"),
        0x0C: LocalizedText("credit card", "クレジットカード"),
        0x0D: LocalizedText("PASMO auto-charge", "PASMOオートチャージ"),
        0x13: LocalizedText("nimoca", "nimoca"),
        0x3F: LocalizedText("mobile, other than VIEW card", "モバイル(VIEWカード以外)"),
    ]
}
