// SPDX-License-Identifier: Apache-2.0

import ArgumentParser

/// Options of every command that reads a card.
struct ReaderOptions: ParsableArguments {
    @Option(
        name: [.short, .long],
        help: help(
            "Which reader: an ID that 'kazasu readers' lists, any libnfc connection string, virtual:FILE or replay:FILE. Default: KAZASU_READER, else the first ready one.",
            "リーダー: kazasu readers に出る ID、 libnfc の接続文字列、virtual:ファイル、 replay:ファイル。省略時は KAZASU_READER、 なければ最初に使えるもの。",
            value: "id"))
    var reader: String?

    @Option(
        name: [.short, .long],
        help: help(
            "How long to wait for a card: seconds, 0 for one try, or forever. Default: 10, less when another kind of card is there.",
            "カードを待つ時間: 秒、0 で 1 回だけ、forever で無制限。省略時は 10（別の種類のカードがあればすぐに終了）。", value: "seconds"))
    var timeout: CardTimeout?

    @Option(
        name: .long,
        help: help(
            "Write every exchange with the card to a file that --reader replay:FILE can play.",
            "カードとのやりとりをすべてファイルに書く（--reader replay:ファイル で再生できる）。", value: "file"))
    var trace: String?
}
