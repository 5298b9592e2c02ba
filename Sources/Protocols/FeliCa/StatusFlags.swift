// SPDX-License-Identifier: Apache-2.0

internal import ByteCodec
public import CardModel

/// Status Flag 1 and Status Flag 2: whether the card carried out the command, and if not, why.
public struct StatusFlags: Hashable, Sendable {
    /// Status Flag 1: 00 for success, FF for an error unrelated to a list entry, else the position of the faulty entry.
    public let flag1: UInt8
    /// Status Flag 2: the error.
    public let flag2: StatusFlag2

    /// Makes flags from their bytes.
    public init(_ flag1: UInt8, _ flag2: UInt8) {
        self.flag1 = flag1
        self.flag2 = StatusFlag2(rawValue: flag2)
    }

    /// Whether both are 00.
    public var isSuccess: Bool { flag1 == 0 && flag2.rawValue == 0 }

    /// Whether data was written despite a warning: `71`, with 00 or FF before it depending on the product.
    public var isWarning: Bool { flag2 == .rewriteCountExceeded }

    /// Returns the entries (counted from 0) of a list of `count` entries that Status Flag 1 may mean in a style.
    ///
    /// A single value does not reveal the style; a card always uses the same one.
    package func candidates(_ style: StatusFlagStyle, count: Int) -> [Int] {
        guard flag1 != 0, flag1 != 0xFF else { return [] }
        let count = max(0, count)
        return switch style {
        case .ordinal: Int(flag1) <= count ? [Int(flag1) - 1] : []
        case .bitmap: (0..<min(count, 16)).filter { flag1 >> UInt8($0 & 7) & 1 == 1 }
        case .alwaysFF: []
        }
    }
}

extension StatusFlags {
    /// Returns the sentence that the card refused something, such as "service 090F", with these flags.
    package func refusal(of what: LocalizedText) -> LocalizedText {
        LocalizedText(
            "the card refused \(what.english): status \(self)\(flag2.meaning.map { " (\($0.english))" } ?? "")",
            "\(what.japanese) はカードに拒否されました: ステータス \(self)\(flag2.meaning.map { "（\($0.japanese)）" } ?? "")")
    }
}

extension StatusFlags: CustomStringConvertible {
    /// Four upper-case hexadecimal digits: `01A8`.
    public var description: String {
        Hex.encode(flag1, digits: 2) + Hex.encode(flag2.rawValue, digits: 2)
    }
}

/// Status Flag 2; values without a name here are kept unchanged.
public struct StatusFlag2: RawRepresentable, Hashable, Sendable {
    /// The byte.
    public let rawValue: UInt8

    /// Makes a flag from its byte.
    public init(rawValue: UInt8) {
        self.rawValue = rawValue
    }

    /// `71`: the data was written, but the memory was rewritten more often than specified.
    public static let rewriteCountExceeded = StatusFlag2(rawValue: 0x71)
    /// `A1`: wrong number of services or nodes.
    public static let wrongServiceCount = StatusFlag2(rawValue: 0xA1)
    /// `A2`: wrong number of blocks.
    public static let wrongBlockCount = StatusFlag2(rawValue: 0xA2)
    /// `A6`: no such node.
    public static let noSuchNode = StatusFlag2(rawValue: 0xA6)
    /// `A8`: no such block; the usual sign of a service's end.
    public static let noSuchBlock = StatusFlag2(rawValue: 0xA8)
    /// `B1`: reading needs authentication (FeliCa Lite-S).
    public static let readNeedsAuthentication = StatusFlag2(rawValue: 0xB1)
}

extension StatusFlag2: CustomStringConvertible {
    /// Two upper-case hexadecimal digits.
    public var description: String { Hex.encode(rawValue, digits: 2) }
}

/// How a card encodes the position of an error in Status Flag 1.
///
/// Sources: the unofficial user's manual (ordinal, bitmap), felica-tool (always FF).
package enum StatusFlagStyle: Hashable, Sendable, CaseIterable {
    /// The entry's position in the list, counted from 1: the tenth is `0A`.
    case ordinal
    /// Bit i means entry i or i + 8, counted from 0: the tenth is `02`. Used by FeliCa Lite.
    case bitmap
    /// `FF` for any entry.
    case alwaysFF
}

/// The meaning of a value of Status Flag 2.
///
/// Sources: the status tables of the unofficial user's manual, proxmark3 `cmdhffelica.c`, nfcpy `tt3_sony.py` (B1, B2),
/// felica-tool (E0, E2, E7).
public struct StatusMeaning: Hashable, Sendable {
    /// The value.
    public let flag2: StatusFlag2
    /// Its meaning.
    public let text: LocalizedText

    private init(_ flag2: UInt8, _ english: String, _ japanese: String) {
        self.flag2 = StatusFlag2(rawValue: flag2)
        text = LocalizedText(english, japanese)
    }

    /// Every value with a known meaning.
    package static let all: [StatusMeaning] = [
        .init(0x00, "success", "正常終了"),
        .init(0x01, "purse too low, or cashback data over 4 bytes", "パース残高不足、またはキャッシュバックデータの桁あふれ"),
        .init(0x02, "cashback larger than the cashback data stored", "キャッシュバック額が保存済みデータを超過"),
        .init(0x03, "result outside the limits of the purse", "パースの上限または下限を逸脱"),
        .init(0x70, "memory fault", "メモリー異常（致命的）"),
        .init(0x71, "written, but the memory is worn: rewrite count exceeded", "書き換え回数超過（書き込みは完了）"),
        .init(0xA1, "number of services or nodes out of range", "サービス数またはノード数が範囲外"),
        .init(0xA2, "number of blocks out of range", "ブロック数が範囲外"),
        .init(0xA3, "block list names a service that is not in the list", "ブロックリストのサービス番号が不正"),
        .init(0xA4, "wrong kind of area or service for this command", "コマンドに合わないエリアまたはサービス属性"),
        .init(0xA5, "access refused", "アクセス拒否"),
        .init(0xA6, "no such area or service", "エリアまたはサービスが存在しない"),
        .init(0xA7, "illegal access mode", "アクセスモードが不正"),
        .init(0xA8, "no such block", "ブロック番号が範囲外"),
        .init(0xA9, "write failed while issuing", "発行時の書き込み失敗"),
        .init(0xAA, "key change failed", "鍵変更失敗"),
        .init(0xAB, "wrong package parity or MAC", "パッケージのパリティまたはMACが不正"),
        .init(0xAC, "wrong parameter while issuing", "発行パラメーターが不正"),
        .init(0xAD, "service already exists", "サービスが登録済み"),
        .init(0xAE, "wrong system code while issuing", "発行時のシステムコードが不正"),
        .init(0xAF, "too many blocks at once for a cyclic service", "サイクリックサービスの同時ブロック数超過"),
        .init(0xB1, "reading needs authentication", "読み出しには認証が必要"),
        .init(0xB2, "MAC missing or wrong", "MACがない、または不正"),
        .init(0xC0, "wrong package ID", "パッケージIDが不正"),
        .init(0xC1, "package and command do not agree", "パッケージ内外のパラメーター不一致"),
        .init(0xC2, "issuing command disabled", "発行コマンドは無効"),
        .init(0xC3, "wrong node attribute", "ノード属性が不正"),
        .init(0xE0, "not for the root area", "ルートエリアは指定不可"),
        .init(0xE2, "not an area", "エリアではない"),
        .init(0xE7, "area information refused", "エリア情報を取得できない"),
    ]
}

extension StatusFlag2 {
    /// The meaning of the value; `nil` for one that no source names.
    public var meaning: LocalizedText? {
        StatusMeaning.all.first { $0.flag2 == self }?.text
    }
}

extension StatusFlags {
    /// The meaning of Status Flag 1.
    public var flag1Meaning: LocalizedText {
        switch flag1 {
        case 0x00: LocalizedText("no error", "エラーなし")
        case 0xFF: LocalizedText("error not tied to one entry", "特定の項目によらないエラー")
        default:
            LocalizedText(
                "error at entry \(Hex.encode(flag1, digits: 2)) of a list",
                "リスト項目 \(Hex.encode(flag1, digits: 2)) のエラー")
        }
    }
}
