// SPDX-License-Identifier: Apache-2.0

import CommandDescription
import Kazasu
import KazasuCLI

/// `kazasu lite`
struct Lite: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "lite",
        abstract: tr("Check and issue FeliCa Lite-S cards.", "FeliCa Lite-S カードの真贋確認と発行。"),
        discussion: tr(
            """
            A copy of a card's number does not know the card's key. \(Documents.path("lite-s.md")) explains keys, profiles and doors.

            Examples:
              kazasu lite info                                  # what is locked
              kazasu lite verify --key-from file:key            # is this card genuine?
              kazasu lite issue --profile door.json --dry-run   # what would change
              kazasu lite issue --profile door.json --master-key-from file:master
            """,
            """
            番号だけを写した複製カードは、カードの鍵を知りません。鍵・プロファイル・ドアの例は \(Documents.path("lite-s.ja.md")) にあります。

            例:
              kazasu lite info                                  # ロックの状態
              kazasu lite verify --key-from file:key            # 本物のカードか
              kazasu lite issue --profile door.json --dry-run   # 変更内容の表示
              kazasu lite issue --profile door.json --master-key-from file:master
            """),
        subcommands: [LiteInfo.self, LiteVerify.self, LiteIssue.self, LiteResume.self])
}

/// `kazasu lite info`
struct LiteInfo: KazasuCommand {
    static let configuration = CommandConfiguration(
        commandName: "info",
        abstract: tr("Show locks and remaining writes.", "ロックの状態と残り書き込み回数を表示する。"),
        discussion: tr(
            """
            Needs no key and writes nothing. FeliCa Lite is shown as well.

            Examples:
              kazasu lite info
              kazasu lite info --json | jq .writesLeft
            """,
            """
            鍵は不要で、何も書き込みません。FeliCa Lite にも使えます。

            例:
              kazasu lite info
              kazasu lite info --json | jq .writesLeft
            """))

    static let programAccess = CommandAccess.method(
        .card(
            "lite.info", .none(because: "it is for those who have the card's key"), schema: "liteInfo",
            LocalizedText(
                "What is locked on a FeliCa Lite or Lite-S card, and how many writes are left.",
                "FeliCa Lite・Lite-S のロックの状態と、残りの書き込み回数。")))

    @OptionGroup(title: CommonOptions.title) var common: CommonOptions
    @OptionGroup(title: ReaderOptions.title) var readerOptions: ReaderOptions

    func execute(_ context: Context) throws {
        let session = try ReaderSession(readerOptions, context)
        let (card, information) = try closing(session) { session in
            let card = try session.find(.lite)
            return (card.identity, try card.lite().information())
        }
        let view = LiteInformationView(information, context.redaction)
        try context.print(
            "kazasu.liteInfo/1", card: context.redaction.card(card, kind: .feliCaLite), view.members,
            else: Columns.values(view.rows))
    }
}

/// What a card is restricted to, as the program shows it.
private struct LiteInformationView {
    private let card: LiteInformation
    private let redaction: Redaction

    init(_ card: LiteInformation, _ redaction: Redaction) {
        (self.card, self.redaction) = (card, redaction)
    }

    var members: JSONObject {
        func list(_ blocks: [Int]) -> JSONValue { .array(blocks.map { .int($0) }) }
        return JSONObject([
            ("kind", card.isLiteS ? "liteS" : "lite"), ("id", .string(redaction.apply(card.id.hexadecimal))),
            ("dataFormatCode", .string(FourDigits.text(card.dataFormatCode))),
            ("keyVersion", .string(FourDigits.text(card.keyVersion))), ("locked", .bool(card.isLocked)),
            ("ndef", .bool(card.answersNDEF)), ("keyChangeable", .bool(card.isKeyChangeable)),
            ("readOnly", list(card.readOnly)), ("authenticateToRead", list(card.authenticatedReads)),
            ("authenticateToWrite", list(card.authenticatedWrites)), ("macToWrite", list(card.writesWithMAC)),
            ("writes", .optional(card.writes)), ("writesLeft", .optional(card.writesLeft)),
        ])
    }

    var rows: [[String]] {
        func list(_ blocks: [Int]) -> String {
            blocks.isEmpty ? tr("none", "なし") : blocks.map { String($0) }.joined(separator: " ")
        }
        var rows = [
            [tr("Kind", "種類"), card.isLiteS ? "FeliCa Lite-S" : "FeliCa Lite"],
            [tr("ID", "ID"), redaction.apply(card.id.hexadecimal.uppercased())],
            [tr("Data format code", "データフォーマットコード"), FourDigits.text(card.dataFormatCode)],
            [tr("Key version", "鍵バージョン"), FourDigits.text(card.keyVersion)],
            [tr("System blocks", "システムブロック"), lock],
            [tr("NFC tag (12FC)", "NFC タグ（12FC）"), card.answersNDEF ? tr("yes", "はい") : tr("no", "いいえ")],
            [tr("Read-only blocks", "読み取り専用ブロック"), list(card.readOnly)],
        ]
        guard card.isLiteS else { return rows }
        rows += [
            [tr("Key needed to read", "読み取りに鍵が必要"), list(card.authenticatedReads)],
            [tr("Key needed to write", "書き込みに鍵が必要"), list(card.authenticatedWrites)],
            [tr("MAC needed to write", "書き込みに MAC が必要"), list(card.writesWithMAC)],
            [tr("Writes", "書き込み回数"), writes],
        ]
        return rows
    }

    private var lock: String {
        guard card.isLocked else {
            return tr("open: anybody can change the key", "未ロック（誰でも鍵を変更できます）")
        }
        return card.isKeyChangeable
            ? tr("locked; the key can be changed with the old one", "ロック済み（元の鍵があれば鍵を変更できます）")
            : tr("locked for good", "ロック済み（変更できません）")
    }

    private var writes: String {
        guard let writes = card.writes, let left = card.writesLeft else {
            return tr("counted from the lock on", "ロックしてから数えます")
        }
        return left == 0
            ? tr("\(writes); none left with a MAC", "\(writes) 回。MAC 付きの書き込みはもうできません")
            : tr("\(writes); \(left) left with a MAC", "\(writes) 回。MAC 付きはあと \(left) 回")
    }
}

/// `kazasu lite verify`
struct LiteVerify: KazasuCommand {
    static let configuration = CommandConfiguration(
        commandName: "verify",
        abstract: tr("Check whether a card is genuine.", "本物のカードか確かめる。"),
        discussion: tr(
            """
            The card proves that it has the key by answering a random challenge, with its own number in the proof. The key \
            is not sent, and nothing is written that lasts. A copy of the number, a recording of the genuine card and a \
            wrong key all end with status 77.

            Examples:
              kazasu lite verify --key-from file:key
              kazasu lite verify --master-key-from env:MASTER --json | jq .genuine
            """,
            """
            乱数の問いかけに対して、カードが鍵を持つことを自分の番号とともに示します。鍵は送らず、カードに残る書き込みもしません。
            番号だけの複製、本物との通信の録画、鍵の誤りは、いずれもステータス 77 で終わります。

            例:
              kazasu lite verify --key-from file:key
              kazasu lite verify --master-key-from env:MASTER --json | jq .genuine
            """))

    static let programAccess = CommandAccess.method(
        .card(
            "lite.verify", .none(because: "keys are never taken from the network"), schema: "lite",
            LocalizedText(
                "Whether a FeliCa Lite-S card has the key; fails with notGenuine for a copy or another key.",
                "FeliCa Lite-S がこの鍵を持っているかどうか。複製や別の鍵なら notGenuine で失敗する。")))

    @OptionGroup(title: CommonOptions.title) var common: CommonOptions
    @OptionGroup(title: ReaderOptions.title) var readerOptions: ReaderOptions
    @OptionGroup var keyOptions: LiteKeyOptions

    func execute(_ context: Context) throws {
        let key = try keyOptions.key()
        let session = try ReaderSession(readerOptions, context)
        let result = try closing(session) { session in try session.find(.lite).lite().verify(key) }
        if context.json {
            try context.print([
                "schema": "kazasu.lite/1", "card": context.redaction.card(result.card, kind: .feliCaLite),
                "kind": result.isLiteS ? "liteS" : "lite", "genuine": .bool(result.isGenuine),
                "keyVersion": .text(result.keyVersion.map { FourDigits.text($0) }),
            ])
        } else {
            try context.print(
                result.isGenuine ? tr("genuine\n", "本物です\n") : tr("not genuine\n", "本物と確認できません\n"))
        }
        if !result.isGenuine { throw CommandError(LiteError.notGenuine) }
    }
}
