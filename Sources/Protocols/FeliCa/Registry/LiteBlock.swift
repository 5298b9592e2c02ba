// SPDX-License-Identifier: Apache-2.0

package import CardModel

/// A block, or a run of blocks, of FeliCa Lite and Lite-S. Sources: nfcpy `tt3_sony.py`, Flipper `felica.h`.
package struct LiteBlock: Hashable, Sendable {
    /// The block numbers; they are the same in services 0009 and 000B.
    package let numbers: ClosedRange<UInt16>
    /// The name in the manual, such as `S_PAD` or `MC`.
    package let name: String
    /// Its contents.
    package let meaning: LocalizedText
    /// Whether only Lite-S has it, and FeliCa Lite does not.
    package let isLiteSOnly: Bool
    /// Whether it can never be read.
    package let isWriteOnly: Bool

    init(
        _ numbers: ClosedRange<UInt16>, _ name: String, _ english: String, _ japanese: String, liteS: Bool = false,
        writeOnly: Bool = false
    ) {
        self.numbers = numbers
        self.name = name
        meaning = LocalizedText(english, japanese)
        isLiteSOnly = liteS
        isWriteOnly = writeOnly
    }

    /// Returns the row that contains a block number; `nil` if there is no such block.
    package static func of(_ number: UInt16) -> LiteBlock? {
        all.first { $0.numbers.contains(number) }
    }

    /// Returns the numbers of the readable blocks in order: those of FeliCa Lite, or with `liteS` all of Lite-S.
    package static func readableNumbers(liteS: Bool) -> [UInt16] {
        all.filter { !$0.isWriteOnly && (liteS || !$0.isLiteSOnly) }.flatMap { Array($0.numbers) }
    }

    /// Every block listed by both nfcpy and Flipper, by number.
    package static let all: [LiteBlock] = [
        .init(0x00...0x0D, "S_PAD", "user data", "ユーザーブロック"),
        .init(0x0E...0x0E, "REG", "decrement-only counters", "減算専用レジスター"),
        .init(0x80...0x80, "RC", "random challenge", "ランダムチャレンジ"),
        .init(0x81...0x81, "MAC", "MAC of what is read with it", "同時に読むブロックのMAC"),
        .init(0x82...0x82, "ID", "ID with data format code", "ID（データフォーマットコードを含む）"),
        .init(0x83...0x83, "D_ID", "IDm and PMm", "デバイスID（IDmとPMm）"),
        .init(0x84...0x84, "SER_C", "service code", "サービスコード"),
        .init(0x85...0x85, "SYS_C", "system code", "システムコード"),
        .init(0x86...0x86, "CKV", "card key version", "カード鍵バージョン"),
        .init(0x87...0x87, "CK", "card key", "カード鍵", writeOnly: true),
        .init(0x88...0x88, "MC", "memory configuration", "メモリーコンフィグレーション"),
        .init(0x90...0x90, "WCNT", "write counter", "書き込み回数カウンター", liteS: true),
        .init(0x91...0x91, "MAC_A", "MAC for mutual authentication", "相互認証用MAC", liteS: true),
        .init(0x92...0x92, "STATE", "authentication state", "認証状態", liteS: true),
        .init(0xA0...0xA0, "CRC_CHECK", "result of the memory check", "CRCチェック結果", liteS: true),
    ]
}
