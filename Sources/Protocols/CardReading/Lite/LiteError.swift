// SPDX-License-Identifier: Apache-2.0

public import CardModel
public import FeliCa

/// Why a FeliCa Lite or Lite-S was not authenticated, read or written.
@nonexhaustive
public enum LiteError: Error, Hashable, Sendable {
    /// The card left, or the reader failed.
    case reading(ReadingError)
    /// The card refused to read or write this block.
    case refused(block: UInt16, StatusFlags)
    /// The card did not prove that it has the key: the key is wrong, or the card is a copy.
    case notGenuine
    /// This is not the key with which the issuance began.
    case otherKey
    /// The card is a FeliCa Lite, which cannot do this.
    case notLiteS
    /// The key is the one that cards leave the factory with: everybody knows it.
    case factoryKey
    /// The system blocks are locked: key and configuration cannot be changed.
    case locked
    /// The write counter has reached its end: nothing more can be written with a MAC.
    case writesUsedUp
    /// The reader passes on shorter answers only.
    case readerTooSmall(longest: Int, needed: Int)
    /// This is not the card of the journal.
    case otherCard
    /// The block does not contain what was written to it: something else writes to the card, or it is worn out.
    case changed(block: UInt16)
    /// The card kept its power, so nothing could be proved: the reader cannot switch its field off, and the card was not
    /// lifted.
    case keptPower
    /// The connection was interrupted again and again; nothing was locked.
    case unstable
}

extension LiteError: SelfDescribing {
    /// What failed.
    public var message: LocalizedText {
        switch self {
        case .reading(let error): error.message
        case .refused(let block, let flags):
            flags.refusal(of: LocalizedText("block \(Self.name(block))", "ブロック \(Self.name(block))"))
        case .notGenuine:
            LocalizedText(
                "the card did not prove that it has this key: the key is wrong, or the card is a copy",
                "カードがこの鍵を持つことを確認できません（鍵の誤り、または複製カード）")
        case .otherKey:
            LocalizedText("this is not the key with which the issuance began", "発行を始めたときの鍵と違います")
        case .notLiteS:
            LocalizedText(
                "this needs a FeliCa Lite-S; the card is a FeliCa Lite", "FeliCa Lite-S 専用です（このカードは FeliCa Lite）")
        case .factoryKey:
            LocalizedText(
                "this is the key that cards leave the factory with: it proves nothing",
                "工場出荷時の鍵です。誰でも知っているため、確認の役に立ちません")
        case .locked:
            LocalizedText(
                "the card's system blocks are locked: it was issued before", "システムブロックがロックされています（発行済みのカード）")
        case .writesUsedUp:
            LocalizedText("the card's write counter has reached its end", "書き込み回数カウンターが上限に達しています")
        case .readerTooSmall(let longest, let needed):
            LocalizedText(
                "this reader passes on answers of \(longest) bytes, and \(needed) are needed",
                "このリーダーが受け取れる応答は \(longest) バイトまでです（必要: \(needed) バイト）")
        case .otherCard: LocalizedText("this is not the card of the journal", "ジャーナルのカードではありません")
        case .changed(let block):
            LocalizedText(
                "block \(Self.name(block)) does not contain what was written to it",
                "ブロック \(Self.name(block)) の内容が、書き込んだものと違います")
        case .keptPower:
            LocalizedText("the card did not lose its power, so its key is not proved", "カードの電源が切れなかったため、鍵を確認できません")
        case .unstable: LocalizedText("the card lost its power again and again", "カードとの通信が何度も途切れました")
        }
    }

    /// The number with the name of the manual, as in `88 (MC)`.
    private static func name(_ number: UInt16) -> String {
        let digits = String(number, radix: 16, uppercase: true)
        let code = digits.count < 2 ? "0" + digits : digits
        guard number > 0x0D, let block = LiteBlock.of(number) else { return code }
        return "\(code) (\(block.name))"
    }
}
