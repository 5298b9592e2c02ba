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
            tr("nothing on this card can be read without a key", "このカードには、鍵なしで読めるものがありません"),
            hint: CommandError.whatItIs)
    }

    /// The card has no pages.
    static func noType2() -> CommandError {
        CommandError(
            .otherCard, "otherCard",
            tr("wrong kind of card: not a Type 2 Tag", "このカードは Type 2 Tag ではありません"),
            hint: CommandError.whatItIs)
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
                    "it may be locked, password-protected or missing; see 'kazasu tag info'",
                    "ロック済み、パスワードが必要、またはページがありません（'kazasu tag info' を参照）"))
        case .felica(.status(let flags)):
            self.init(refusal: .flags(flags), tr("the NDEF service", "NDEF サービス"))
        case .felica(let error): self.init(ReadingError.badAnswer(error))
        case .iso7816(let error): self.init(error)
        case .noNDEF(let obstacle):
            self.init(
                .otherCard, obstacle.rawValue, tr("no NDEF message: ", "NDEF メッセージがありません: ") + obstacle.words,
                hint: tr("'kazasu tag info' shows what is on the tag", "'kazasu tag info' でタグの内容を確認できます"))
        case .notType2: self = .noType2()
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
                hint: tr("supply the bytes of exactly one NDEF message", "NDEF メッセージ 1 つ分のバイト列を指定してください"))
        case .takesNoKey:
            self.init(
                .otherCard, "takesNoKey", tr("this tag cannot be authenticated with a key", "このタグは鍵で認証できません"),
                hint: tr(
                    "--key-from is for MIFARE Ultralight C, on a reader that is not behind pcscd",
                    "--key-from は MIFARE Ultralight C 専用です（pcscd 経由のリーダーでは使えません）"))
        case .keyRefused:
            self.init(
                .refused, "wrongKey", tr("wrong key for this tag", "タグの鍵と一致しません"),
                hint: tr(
                    "K1 comes before K2; some programs write the bytes of each in reverse",
                    "K1、K2 の順です。K1、K2 をそれぞれ逆順に書くソフトもあります"))
        case .notVerified:
            self.init(
                .interruptedReading, "notVerified",
                tr("the tag returned different data after the write", "読み返した内容が書き込んだものと一致しません"),
                hint: tr("write it again; if that fails, the tag may be worn out", "もう一度書き込んでください。直らなければ、タグの寿命かもしれません"))
        @unknown default: self.init(.bug, "unknown", "\(error)")
        }
    }

    /// Why bytes are not an NDEF message.
    static func words(_ error: NDEFError) -> String {
        let reason = error.reason.words
        return tr(
            "no NDEF message: \(reason) (byte \(error.offset))", "NDEF メッセージではありません: \(reason)（\(error.offset) バイト目）")
    }
}

extension NDEFError.Reason {
    /// Why the bytes are not a message, for display.
    var words: String {
        switch self {
        case .noRecord: tr("it has no records", "レコードがありません")
        case .endsWithinRecord: tr("it ends in the middle of a record", "レコードの途中で終わっています")
        case .lengthBeyondEnd: tr("a length exceeds the end of the message", "長さがメッセージの終わりを超えています")
        case .noMessageBegin: tr("the first record lacks the MB flag", "最初のレコードに開始フラグ（MB）がありません")
        case .secondMessageBegin: tr("a later record has the MB flag", "途中のレコードに開始フラグ（MB）があります")
        case .noMessageEnd: tr("no record has the ME flag", "終了フラグ（ME）のあるレコードがありません")
        case .trailingBytes: tr("extra bytes follow the last record", "最後のレコードの後に余分なバイトがあります")
        case .reservedFormat: tr("the TNF is reserved (7)", "TNF が予約値（7）です")
        case .typeNotAllowed: tr("a record has a type that its TNF does not allow", "型を持てないレコードに型があります")
        case .typeMissing: tr("a record lacks the type that its TNF requires", "型が必要なレコードに型がありません")
        case .emptyRecordNotEmpty: tr("an empty record has contents", "空のレコードに内容があります")
        case .chunkWithoutStart: tr("a chunk has no first chunk before it", "分割の始まりがないのに続きのレコードがあります")
        case .chunkUnfinished: tr("a chunked record lacks its last chunk", "分割されたレコードが終わっていません")
        case .chunkWithID: tr("a later chunk has an ID", "分割の続きに ID があります")
        case .fieldTooLong: tr("a type or ID is longer than 255 bytes", "型または ID が 255 バイトを超えています")
        case .payloadTooLong: tr("the payload is longer than 4 GB", "ペイロードが 4 GB を超えています")
        case .textWithoutStatus: tr("a text record has no status byte", "テキストレコードに状態バイトがありません")
        case .noLanguage: tr("a text record has no language", "テキストレコードに言語がありません")
        case .languageTooLong: tr("the language code is too long", "言語コードが長すぎます")
        case .notText: tr("the text does not match its declared encoding", "テキストの文字コードが正しくありません")
        case .noURIPrefix: tr("a URI record has no prefix code", "URI レコードに接頭辞コードがありません")
        case .undefinedURIPrefix: tr("the URI's prefix code is undefined", "URI の接頭辞コードが未定義です")
        case .notAURI: tr("not a valid URI", "URI として正しくありません")
        case .posterURICount: tr("a smart poster must have exactly one URI", "スマートポスターに必要な URI は 1 つだけです")
        case .nestedPoster: tr("a smart poster contains another smart poster", "スマートポスターが入れ子になっています")
        case .posterFieldLength: tr("a field of a smart poster has the wrong length", "スマートポスターの項目の長さが正しくありません")
        case .undefinedAction: tr("the action of a smart poster is undefined", "スマートポスターの動作が未定義です")
        }
    }
}

extension NDEFAbsence {
    /// Why there is no message, for display.
    var words: String {
        switch self {
        case .notRead: tr("not read", "未読")
        case .notAnnounced: tr("NDEF is not enabled", "NDEF が有効になっていません")
        case .notFormatted: tr("the tag is not formatted for NDEF", "NDEF 用にフォーマットされていません")
        case .unknownVersion: tr("unknown NDEF mapping version", "マッピングのバージョンが未対応です")
        case .checksum: tr("the checksum of its attributes is wrong", "属性情報のチェックサムが誤っています")
        case .brokenCapability: tr("malformed Capability Container", "機能コンテナが壊れています")
        case .notReadable: tr("it cannot be read without a key", "鍵なしでは読めません")
        case .halfWritten: tr("an earlier write was not finished", "書き込みが途中で止まっています")
        case .noMessageBlock: tr("there is no message", "メッセージがありません")
        case .lengthBeyondEnd: tr("a length exceeds the end of its memory", "長さがメモリの終わりを超えています")
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
        case .secret: "secretPage"
        case .permanent: "permanentPage"
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
        case .secret(let page):
            tr(
                "page \(Type2Dump.name(of: page)) contains the tag's password or key",
                "ページ \(Type2Dump.name(of: page)) にはタグのパスワードまたは鍵があります")
        case .permanent(let page):
            tr(
                "page \(Type2Dump.name(of: page)) is not a user page, and writing it may be permanent",
                "ページ \(Type2Dump.name(of: page)) はユーザーページではなく、元に戻せないおそれがあります")
        @unknown default: "\(self)"
        }
    }

    /// The possible remedy.
    var hint: String {
        switch self {
        case .passwordProtected:
            tr(
                "for an Ultralight C, use --key-from; Kazasu never sends passwords",
                "Ultralight C の鍵は --key-from で使えます。パスワードは送りません")
        case .secret: tr("Kazasu never writes passwords or keys", "パスワードや鍵の書き込みには対応していません")
        case .permanent: tr("add --permanent to write it anyway", "それでも書くには --permanent を付けてください")
        default: tr("use another tag", "別のタグを使ってください")
        }
    }
}
