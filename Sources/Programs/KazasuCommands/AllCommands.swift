// SPDX-License-Identifier: Apache-2.0

package import CommandDescription
import Kazasu
package import KazasuCLI

/// The commands that both programs have, in the order of the help.
package let allCommands: [any ParsableCommand.Type] = [
    Readers.self, DoctorCommand.self, Poll.self, Scan.self, Dump.self, Read.self, Write.self, Balance.self,
    History.self,
    License.self, MyNumber.self, Residence.self, Passport.self, Tag.self, Classic.self, DESFire.self, Lite.self,
    Standard.self,
    FeliCaRaw.self, APDU.self,
    Decode.self, Convert.self, Diff.self, Simulate.self, Contribute.self, Stations.self,
    Completion.self,
]

/// The commands in the program's own help, and those of the services; a command that the program lacks is left out.
package let helpGroups: [HelpGroup] = [
    HelpGroup(
        heading: LocalizedText("Read a card", "カードを読む"),
        lines: [
            [
                HelpEntry("balance", "the balance, one number", "残高（数字だけ）"),
                HelpEntry("history", "journeys and payments", "乗車と支払いの履歴"),
            ],
            [
                HelpEntry("poll", "which card it is", "カードの種類"),
                HelpEntry("scan", "its systems, areas and services", "システム・エリア・サービスの一覧"),
            ],
            [
                HelpEntry("dump", "every block without a key", "鍵なしで読めるブロックすべて"),
                HelpEntry("read", "chosen blocks", "指定したブロック"),
            ],
            [
                HelpEntry("license", "Japanese driver's licenses", "運転免許証"),
                HelpEntry("residence", "residence cards", "在留カード・特別永住者証明書"),
            ],
            [
                HelpEntry("mynumber", "My Number cards", "マイナンバーカード"),
                HelpEntry("passport", "passports", "パスポート"),
            ],
            [
                HelpEntry("tag", "NFC tags, also writing", "NFC タグの読み書き"),
                HelpEntry("write", "blocks of a FeliCa service", "FeliCa のサービスに書き込む"),
            ],
            [
                HelpEntry("classic", "MIFARE Classic", "MIFARE Classic"),
                HelpEntry("desfire", "MIFARE DESFire", "MIFARE DESFire"),
            ],
            [
                HelpEntry("lite", "FeliCa Lite-S", "FeliCa Lite-S"),
                HelpEntry("standard", "keys of FeliCa Standard", "FeliCa Standard の鍵"),
            ],
        ]),
    HelpGroup(
        heading: LocalizedText("Keep and report", "履歴を残す・まとめる"),
        lines: [
            [
                HelpEntry(
                    "ledger", "records saved with --keep: lists, totals, claims, reports",
                    "台帳（--keep で保存）: 一覧・集計・精算・レポート")
            ]
        ]),
    HelpGroup(
        heading: LocalizedText("Watch and serve", "知らせる・つなぐ"),
        lines: [
            [HelpEntry("watch", "report cards placed on or removed from readers", "カードが置かれた・離れたときに知らせる")],
            [
                HelpEntry("outbox", "stored events of watch", "watch が保存したイベント"),
                HelpEntry("collect", "those of many sites", "複数拠点のイベントを集める"),
            ],
            [
                HelpEntry("serve", "readers for web pages (HTTP)", "リーダーを HTTP で公開"),
                HelpEntry("rpc", "for programs (JSON-RPC)", "プログラムから JSON-RPC で使う"),
            ],
            [HelpEntry("bridge", "any reader as a PC/SC reader", "リーダーを PC/SC のリーダーとして使う")],
        ]),
    HelpGroup(
        heading: LocalizedText("Tools", "道具"),
        lines: [
            [
                HelpEntry("readers", "connected readers", "接続中のリーダー"),
                HelpEntry("doctor", "why one does not work, and the fix", "使えない原因と直し方"),
            ],
            [
                HelpEntry("contribute", "record your reader, for a test", "リーダーの動作を記録してテストにする"),
                HelpEntry("decode", "what a dump contains", "ダンプの中身"),
            ],
            [
                HelpEntry("convert", "a dump in another format", "ダンプの形式を変換"),
                HelpEntry("diff", "what changed between two", "2 つのダンプの違い"),
            ],
            [
                HelpEntry("felica", "raw FeliCa packets", "FeliCa のパケットを送る"),
                HelpEntry("apdu", "command APDUs", "APDU を送る"),
            ],
            [
                HelpEntry("simulate", "a PN532 reader with a card, for other programs", "カードを載せた PN532 として動く（他のプログラム用）")
            ],
            [
                HelpEntry("stations", "names of stations", "駅名・バス停名"),
                HelpEntry("completion", "for bash, zsh or fish", "シェルの補完スクリプト"),
            ],
        ]),
]
