// SPDX-License-Identifier: Apache-2.0

import CommandDescription
import Kazasu
import KazasuCLI

/// `kazasu desfire`
struct DESFire: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "desfire",
        abstract: tr("Read and write MIFARE DESFire with its owner's keys.", "MIFARE DESFire を所有者の鍵で読み書きする。"),
        discussion: tr(
            """
            MF3ICD40 and EV1 to EV3. A file is AID:NUMBER, as in F5A1C0:1. A key is tried once, and none is guessed.

            Examples:
              kazasu desfire info                              # no key is sent
              kazasu desfire read F5A1C0:1                     # what everybody may read
              kazasu desfire read F5A1C0:3 --key-from file:key1 --key-number 1
              kazasu desfire value F5A1C0:3 --debit 120 --key-from file:key1 --key-number 1
            """,
            """
            MF3ICD40 と EV1～EV3 に対応しています。ファイルは AID:番号（F5A1C0:1 など）です。鍵は 1 回だけ試し、推測はしません。

            例:
              kazasu desfire info                              # 鍵は送らない
              kazasu desfire read F5A1C0:1                     # 誰でも読めるファイル
              kazasu desfire read F5A1C0:3 --key-from file:key1 --key-number 1
              kazasu desfire value F5A1C0:3 --debit 120 --key-from file:key1 --key-number 1
            """),
        subcommands: [
            DESFireInfo.self, DESFireDumpCommand.self, DESFireRead.self, DESFireWrite.self, DESFireValue.self,
        ])
}

/// `kazasu desfire info`
struct DESFireInfo: KazasuCommand {
    static let configuration = CommandConfiguration(
        commandName: "info",
        abstract: tr(
            "List applications, keys and files of a MIFARE DESFire.", "MIFARE DESFire のアプリケーション、鍵、ファイルを一覧表示する。"),
        discussion: tr(
            """
            Sends no key and writes nothing. Shows the product, the maker's signature, applications with the kind and versions of \
            their keys, and files with their size and who may do what. What the card hides without a key is listed as withheld.

            Examples:
              kazasu desfire info
              kazasu desfire info --json | jq '.applications[].files[]'
            """,
            """
            鍵は送らず、何も書き込みません。製品名、メーカーの署名、各アプリケーションの鍵の種類とバージョン、ファイルのサイズとアクセス権を
            表示します。鍵がないと見えないものは「非公開」と表示します。

            例:
              kazasu desfire info
              kazasu desfire info --json | jq '.applications[].files[]'
            """))

    static let programAccess = CommandAccess.method(
        .card(
            "desfire.info", .get("desfire/info"), schema: "desfire",
            LocalizedText(
                "Applications, keys and files of a MIFARE DESFire, without a key.",
                "MIFARE DESFire のアプリケーション、鍵、ファイル（鍵は使わない）。")))

    @OptionGroup(title: CommonOptions.title) var common: CommonOptions
    @OptionGroup(title: ReaderOptions.title) var readerOptions: ReaderOptions

    func execute(_ context: Context) throws {
        let session = try ReaderSession(readerOptions, context)
        let (identity, information) = try closing(session) { session in
            let card = try session.find(.desfire).desfire()
            return (card.identity, try card.information())
        }
        let view = DESFireView(information)
        try context.print(
            "kazasu.desfire/1", card: context.redaction.apply(identity).json, view.members,
            else: Columns.values(view.rows))
    }
}

/// `kazasu desfire read`
struct DESFireRead: KazasuCommand {
    static let configuration = CommandConfiguration(
        commandName: "read",
        abstract: tr("Read a file.", "ファイルを読む。"),
        discussion: tr(
            """
            Prints the bytes of a file in hexadecimal, the number in a value file, or one record per line, the oldest first. \
            Without a key, reads what everybody may read.

            Examples:
              kazasu desfire read F5A1C0:1
              kazasu desfire read F5A1C0:4 --key-from file:key1 --key-number 1 --json
            """,
            """
            ファイルの内容を 16 進で表示します。バリューファイルは数値、レコードファイルは古い順に 1 行 1 レコードで表示します。
            鍵を指定しなければ、誰でも読めるファイルだけを読みます。

            例:
              kazasu desfire read F5A1C0:1
              kazasu desfire read F5A1C0:4 --key-from file:key1 --key-number 1 --json
            """))

    static let programAccess = CommandAccess.method(
        .card(
            "desfire.read", .get("desfire/read"), argument: "file", schema: "desfireFile",
            LocalizedText("A file of a MIFARE DESFire.", "MIFARE DESFire のファイル。")))

    @OptionGroup(title: CommonOptions.title) var common: CommonOptions
    @OptionGroup(title: ReaderOptions.title) var readerOptions: ReaderOptions

    @Argument(
        required: .absent, reach: .network, help: help("The file: AID:NUMBER.", "ファイル（AID:番号）。", value: "aid:number"))
    var file: DESFireFileArgument

    @OptionGroup var keyOptions: DESFireKeyOptions

    func execute(_ context: Context) throws {
        let place = file.id
        let key = try keyOptions.key()
        let session = try ReaderSession(readerOptions, context)
        let (identity, settings, contents) = try closing(session) { session in
            let card = try session.find(.desfire).desfire()
            let (settings, contents) = try card.readFile(
                place, key: keyOptions.key(key, of: card.identity), method: keyOptions.auth?.method)
            return (card.identity, settings, contents)
        }
        if context.json {
            let member = contents.member(context.redaction)
            try context.print(
                "kazasu.desfireFile/1", card: context.redaction.apply(identity).json,
                JSONObject([
                    ("aid", .string(place.application.description)), ("number", .int(Int(place.number))),
                    ("type", .string(settings.type.rawValue)), (member.name, member.value),
                ]), else: "")
        } else {
            try context.print(contents.text(context.redaction))
        }
    }
}
