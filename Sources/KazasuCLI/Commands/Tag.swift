// SPDX-License-Identifier: Apache-2.0

import ArgumentParser

/// `kazasu tag`
struct Tag: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "tag",
        abstract: tr("Read and write NFC Forum tags and NDEF.", "NFC フォーラムのタグと NDEF を読み書きする。"),
        discussion: tr(
            """
            Type 2 Tags (Ultralight, NTAG), Type 3 Tags (FeliCa) and Type 4 Tags (ISO 7816).

            Examples:
              kazasu tag info                                  what tag it is, its locks, its message
              kazasu tag read                                  the message, one record a line
              kazasu tag write --uri https://kazasu.example    write a link
              kazasu tag pages                                 the memory of a Type 2 Tag
            """,
            """
            Type 2 Tag（Ultralight、NTAG）、Type 3 Tag（FeliCa）、Type 4 Tag（ISO 7816）に対応しています。

            例:
              kazasu tag info                                  種類、ロック、メッセージ
              kazasu tag read                                  メッセージ（1 行 1 レコード）
              kazasu tag write --uri https://kazasu.example    リンクを書き込む
              kazasu tag pages                                 Type 2 Tag のメモリ
            """),
        subcommands: [TagInfo.self, TagRead.self, TagWrite.self, TagPages.self])
}
