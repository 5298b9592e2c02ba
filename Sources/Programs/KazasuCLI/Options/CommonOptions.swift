// SPDX-License-Identifier: Apache-2.0

package import CommandDescription
package import Kazasu

/// Options of every command.
package struct CommonOptions: ParsableArguments {
    /// Its heading in help, at the end of the page.
    package static let title = tr("Common options", "共通のオプション")

    package init() {}

    @Flag(reach: .never, name: .long, help: help("Print JSON.", "JSON で出力する。"))
    package var json = false

    @Flag(reach: .never, name: .long, help: help("Mask IDm, names and numbers in the output.", "出力の IDm・氏名・番号を伏せる。"))
    package var redact = false

    @Flag(reach: .never, name: [.short, .long], help: help("Print more on standard error.", "標準エラー出力を詳しくする。"))
    package var verbose = false

    @Flag(reach: .never, name: [.short, .long], help: help("Print less on standard error.", "標準エラー出力を減らす。"))
    package var quiet = false

    @Option(reach: .never, name: .long, help: help("Language of messages.", "表示言語。", value: "en|ja"))
    package var lang: LanguageName?

    @Option(
        reach: .never, name: .long,
        help: help(
            "Color on a terminal; always also in a pipe.", "色を付ける: auto は端末だけ、always は常に、never は付けない。"))
    package var color = Color.Choice.auto

    /// The values of `--lang`. The choice itself is made before the command line is parsed: `Language.current`.
    package enum LanguageName: String, CaseIterable, ExpressibleByArgument { case en, ja }
}

/// What help says about an option.
///
/// - Parameters:
///   - programs: what programs read in its place, where only the command line is like that.
///   - bounds: the numbers that a count may be; the command checks them.
package func help(
    _ english: String, _ japanese: String, programs: LocalizedText? = nil, value: String? = nil,
    bounds: ClosedRange<Int>? = nil
) -> ArgumentHelp {
    ArgumentHelp(LocalizedText(english, japanese), programs: programs, value: value, bounds: bounds)
}

/// Options of every command that reads a card.
package struct ReaderOptions: ParsableArguments {
    /// Its heading in help, behind the command's own options.
    package static let title = tr("Reader", "リーダー")

    package init() {}

    @Option(
        reach: .never, name: .joined("r"),
        help: help(
            "Which reader: an ID that 'kazasu readers' lists, any libnfc connection string, virtual:FILE or replay:FILE. Default: KAZASU_READER, else the first ready one.",
            "リーダー: kazasu readers が表示する ID、libnfc の接続文字列、virtual:ファイル、replay:ファイル。省略時は KAZASU_READER、なければ、使えるもののうち最初に見つかったもの。",
            value: "id"), completion: SchemeCompletion.readers)
    package var reader: String?

    @Option(
        reach: .never, name: .joined("t"), parsing: .unconditional,
        help: help(
            "How long to wait for a card: seconds, 0 for one try, or forever. Default: 10. Stops early if a different kind of card is on the reader.",
            "カードを待つ時間: 秒、0 で 1 回だけ、forever で無制限。省略時は 10（別の種類のカードがあればすぐに終了）。", value: "seconds"))
    package var timeout: CardTimeout?

    @Option(
        reach: .never, name: .long,
        help: help(
            "Write every exchange with the card to a file that --reader replay:FILE can play.",
            "カードとのやりとりをすべてファイルに書く（--reader replay:ファイル で再生できる）。", value: "file"), completion: .file())
    package var trace: String?

    @Flag(
        reach: .never, name: .long,
        help: help(
            "Wait for the reader to become available; Ctrl-C gives up.", "リーダーが接続されて使えるようになるまで待つ（Ctrl-C で中止）。"))
    package var waitReader = false

    @Option(
        reach: .never, name: .long,
        help: help(
            "With virtual:FILE: save the card, including all writes, to this file.",
            "virtual:ファイル への書き込みを反映したカードを、このファイルに書く。", value: "file"),
        completion: .file())
    package var virtualWrites: String?
}

/// How long to wait for a card.
package enum CardTimeout: Equatable, Sendable, ExpressibleByArgument {
    package static var example: LocalizedText? { LocalizedText("seconds, as in 5, or forever", "5 などの秒数か forever") }

    case seconds(Double)
    case forever

    /// The default.
    package static let usual = CardTimeout.seconds(10)

    package init?(argument: String) {
        if argument == "forever" {
            self = .forever
        } else if let seconds = Double(argument), seconds >= 0, seconds <= 1_000_000 {
            self = .seconds(seconds)
        } else {
            return nil
        }
    }

    /// The value on a command line.
    package var argument: String { defaultValueDescription }

    package var defaultValueDescription: String {
        switch self {
        case .seconds(let seconds): seconds == seconds.rounded() ? String(Int(seconds)) : String(seconds)
        case .forever: "forever"
        }
    }

    /// The same as a duration; `nil` for no limit.
    package var duration: Duration? {
        switch self {
        case .seconds(let seconds): .seconds(seconds)
        case .forever: nil
        }
    }
}
