// SPDX-License-Identifier: Apache-2.0

import ArgumentParser

/// Options of every command.
struct CommonOptions: ParsableArguments {
    @Flag(name: .long, help: help("Print one JSON document.", "JSON を 1 つ出力する。"))
    var json = false

    @Flag(name: .long, help: help("Mask IDm, names and numbers in the output.", "出力の IDm・氏名・番号を伏せる。"))
    var redact = false

    @Flag(name: [.short, .long], help: help("Say more on standard error.", "標準エラー出力を詳しくする。"))
    var verbose = false

    @Flag(name: [.short, .long], help: help("Say less on standard error.", "標準エラー出力を減らす。"))
    var quiet = false

    @Option(name: .long, help: help("Language of messages: en or ja.", "表示言語: en または ja。", value: "en|ja"))
    var lang: LanguageName?

    /// What `--lang` takes. The choice itself is made before the command line is parsed: `Language.current`.
    enum LanguageName: String, CaseIterable, ExpressibleByArgument { case en, ja }
}

/// A help text in the language of this run.
func help(_ english: String, _ japanese: String, value: String? = nil) -> ArgumentHelp {
    ArgumentHelp(stringLiteral: tr(english, japanese)).named(value)
}

extension ArgumentHelp {
    fileprivate func named(_ value: String?) -> ArgumentHelp {
        var help = self
        help.valueName = value
        return help
    }
}
