// SPDX-License-Identifier: Apache-2.0

import CardModel
import CardReading
import FeliCa
import ISO7816
import NDEF
import NFCForumTags
import NFCTransport

extension CommandError {
    /// The product that a card was recognised as, or its technology.
    static func kind(of picc: PICC, names: [String]) -> String {
        guard names.isEmpty else { return names.joined(separator: ", ") }
        return switch picc {
        case .felica(let target):
            target.requestData.map { CardNames.mention(SystemCode(rawValue: $0)) } ?? "FeliCa"
        case .typeA: tr("type A", "Type A")
        case .typeB: tr("type B", "Type B")
        }
    }

    /// The card is of a kind that cannot be read without a key.
    static func notDumped() -> CommandError {
        CommandError(
            .otherCard, "otherCard",
            tr("nothing on this card can be read without a key", "カードはありますが、鍵なしで読めるものがありません"),
            hint: CommandError.whatItIs)
    }

    /// The card has no pages.
    static func noType2() -> CommandError {
        CommandError(
            .otherCard, "otherCard",
            tr("wrong kind of card: not a Type 2 Tag", "カードはありますが、Type 2 Tag ではありません"),
            hint: CommandError.whatItIs)
    }

    /// A page whose bits can never be cleared again.
    static func permanentPage(_ page: UInt16) -> CommandError {
        let name = Type2Dump.name(of: page)
        return CommandError(
            .refused, "permanentPage",
            tr(
                "nothing was written: page \(name) is not a user page, and writing it may be permanent",
                "書き込みませんでした: ページ \(name) はユーザーページではなく、元に戻せないおそれがあります"),
            hint: tr("add --permanent to write it anyway", "それでも書くには --permanent を付けてください"))
    }

    /// A page that holds a password or key, which would appear in the arguments and in a trace.
    static func secretPage(_ page: UInt16) -> CommandError {
        let name = Type2Dump.name(of: page)
        return CommandError(
            .refused, "secretPage",
            tr(
                "nothing was written: page \(name) contains the tag's password or key",
                "書き込みませんでした: ページ \(name) にはタグのパスワードまたは鍵があります"),
            hint: tr("Kazasu never sends a new password or key", "パスワードや鍵の書き込みには対応していません"))
    }

    /// Why a tag was not read or written.
    init(_ error: TagError) {
        switch error {
        case .tagLost: self.init(ReadingError.cardLost)
        case .cancelled: self = .cancelled()
        case .transport(let error): self.init(error)
        case .badAnswer:
            self.init(
                .interruptedReading, "badAnswer", tr("the tag's answer violates the protocol", "タグの応答が規格に合いません"),
                hint: tr("move the tag a little, away from metal and other cards", "タグの位置をずらし、金属や他のカードから離してください"))
        case .refused(let page, _):
            let name = Type2Dump.name(of: page)
            self.init(
                .refused, "refused", tr("the tag refused page \(name)", "タグがページ \(name) を拒否しました"),
                hint: tr(
                    "it is locked, needs the password, or is not there: see 'kazasu tag info'",
                    "ロック済み、パスワードが必要、またはページがありません（'kazasu tag info' を参照）"))
        case .felica(.status(let flags)):
            self.init(refusal: .flags(flags), tr("the NDEF service", "NDEF サービス"))
        case .felica(let error): self.init(ReadingError.badAnswer(error))
        case .iso7816(let error): self.init(error)
        case .noNDEF(let obstacle):
            self.init(
                .otherCard, obstacle.rawValue, tr("no NDEF message: ", "NDEF メッセージがありません: ") + obstacle.words,
                hint: tr("'kazasu tag info' shows what is on the tag", "'kazasu tag info' でタグの内容を確認できます"))
        case .notWritable(let obstacle):
            self.init(
                .refused, obstacle.reason, tr("nothing was written: ", "書き込みませんでした: ") + obstacle.words,
                hint: obstacle.hint)
        case .tooLong(let length, let capacity):
            self.init(
                .refused, "tooLong",
                tr(
                    "nothing was written: the message has \(length) bytes, the tag has room for \(capacity)",
                    "書き込みませんでした: メッセージは \(length) バイト、タグの空きは \(capacity) バイトです"),
                hint: tr("shorten it, or use a larger tag", "短くするか、容量の大きいタグを使ってください"))
        case .notAMessage(let error):
            self.init(
                .badFile, "notAMessage", CommandError.words(error),
                hint: tr("give the bytes of one NDEF message", "NDEF メッセージ 1 つ分のバイト列を指定してください"))
        case .takesNoKey:
            self.init(
                .otherCard, "takesNoKey", tr("this tag cannot be authenticated with a key", "このタグは鍵で認証できません"),
                hint: tr(
                    "--key-from is for MIFARE Ultralight C, on a reader that is not behind pcscd",
                    "--key-from は MIFARE Ultralight C 専用です（pcscd 経由のリーダーでは使えません）"))
        case .keyRefused:
            self.init(
                .refused, "wrongKey", tr("the tag has another key", "タグの鍵と一致しません"),
                hint: tr(
                    "K1 comes before K2; some programs write the bytes of each in reverse",
                    "K1、K2 の順です。K1、K2 をそれぞれ逆順に書くソフトもあります"))
        case .notVerified:
            self.init(
                .interruptedReading, "notVerified",
                tr("what was read back is not what was written", "読み返した内容が書き込んだものと一致しません"),
                hint: tr("write it again; if that fails, the tag is worn out", "もう一度書き込んでください。直らなければタグの故障です"))
        @unknown default: self.init(.bug, "unknown", "\(error)")
        }
    }

    /// Why bytes are not an NDEF message.
    static func words(_ error: NDEFError) -> String {
        let reason = error.reason.message[Language.current]
        return tr(
            "no NDEF message: \(reason) (byte \(error.offset))", "NDEF メッセージではありません: \(reason)（\(error.offset) バイト目）")
    }
}

extension NDEFAbsence {
    /// Why there is no message, for display.
    var words: String {
        switch self {
        case .notRead: tr("not read", "未読")
        case .notAnnounced: tr("not announced", "対応していません")
        case .notFormatted: tr("the tag is not formatted for NDEF", "NDEF 用にフォーマットされていません")
        case .unknownVersion: tr("its mapping has an unknown version", "マッピングのバージョンが未対応です")
        case .checksum: tr("the checksum of its attributes is wrong", "属性情報のチェックサムが誤っています")
        case .brokenCapability: tr("its Capability Container is broken", "機能コンテナが壊れています")
        case .notReadable: tr("it cannot be read without a key", "鍵なしでは読めません")
        case .halfWritten: tr("an earlier write was not finished", "書き込みが途中で止まっています")
        case .noMessageBlock: tr("it contains no message", "メッセージがありません")
        case .lengthBeyondEnd: tr("a length reaches beyond the end of its memory", "長さがメモリの終わりを超えています")
        }
    }
}

extension TagError.WriteReason {
    /// The machine-readable identifier.
    var reason: String {
        switch self {
        case .readOnly: "readOnly"
        case .locked: "locked"
        case .passwordProtected: "passwordProtected"
        @unknown default: "notWritable"
        }
    }

    /// Why writing is not allowed, for display.
    var words: String {
        switch self {
        case .readOnly: tr("the tag is read-only", "タグは読み取り専用です")
        case .locked(let page):
            tr("page \(Type2Dump.name(of: page)) is locked", "ページ \(Type2Dump.name(of: page)) はロックされています")
        case .passwordProtected(let page):
            tr(
                "page \(Type2Dump.name(of: page)) needs the tag's password or key",
                "ページ \(Type2Dump.name(of: page)) にはタグのパスワードまたは鍵が必要です")
        @unknown default: "\(self)"
        }
    }

    /// The possible remedy.
    var hint: String {
        guard case .passwordProtected = self else { return tr("use another tag", "別のタグを使ってください") }
        return tr(
            "the key of an Ultralight C goes with --key-from; Kazasu sends no password",
            "Ultralight C の鍵は --key-from で使えます。パスワードは送りません")
    }
}
