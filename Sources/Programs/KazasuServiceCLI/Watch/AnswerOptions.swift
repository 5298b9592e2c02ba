// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Kazasu
import KazasuCLI
import KazasuTaps
import ReaderCore
import SharedReaders

/// Whom `watch` asks about each card, and where it shows the answer.
struct AnswerOptions: ParsableArguments {
    @Option(
        name: .long,
        help: help(
            "Ask this program or URL about each card that comes, and show its answer: yes, no or fault.",
            "カードが置かれるたびにこのプログラムか URL に尋ね、答え（yes・no・fault）を示す。", value: "path|url"),
        completion: .file())
    var ask: String?

    @Option(
        name: .long, parsing: .unconditional,
        help: help(
            "How long an answer may take; after that it is a fault. Default: 1.", "答えを待つ時間。過ぎると fault。省略時は 1。",
            value: "seconds"))
    var askTimeout: Double?

    @Option(
        name: .long,
        help: help(
            "Where to show answers: reader (default: its lights and buzzer), led:GREEN,RED (names in /sys/class/leds) or "
                + "none. Repeatable.",
            "答えの示し方: reader（既定。リーダーのランプとブザー）、led:緑,赤（/sys/class/leds の名前）、none。複数指定可。", value: "place"))
    var answer: [AnswerPlace] = []

    @Flag(name: .long, help: help("Keep readers from beeping by themselves.", "リーダーが自分で鳴らす音を止める。"))
    var quietReader = false

    func validate() throws {
        if let ask, ask.isEmpty { throw ValidationError(tr("--ask: the path is empty", "--ask: パスが空です")) }
        guard (0.05...60).contains(askTimeout ?? 1) else {
            throw ValidationError(tr("--ask-timeout takes 0.05 to 60 seconds", "--ask-timeout は 0.05～60 秒です"))
        }
        guard !answer.contains(.none) || answer.count == 1 else {
            throw ValidationError(tr("--answer none excludes the others", "--answer none は他と一緒に指定できません"))
        }
    }

    /// How long an asker may take.
    var limit: Duration { .seconds(askTimeout ?? 1) }

    /// Whether answers are shown at the readers themselves.
    var usesReaders: Bool { ask != nil && (answer.isEmpty || answer.contains(.reader)) }

    /// The asker; a program must be there and executable, since otherwise every answer would be a fault.
    func asker() throws(CommandError) -> Asker? {
        guard let ask else { return nil }
        if ask.lowercased().wholeMatch(of: /https?:\/\/[^\/?#].*/) != nil { return .url(ask) }
        guard !ask.contains("://") else {
            throw CommandError(
                .usage, "usage",
                tr("--ask takes a program or an http or https URL", "--ask にはプログラムか http・https の URL を指定してください"),
                hint: "kazasu watch --help")
        }
        try SinkOptions.check(ExecSink(ask), ask, option: "--ask")
        return .program(ask)
    }

    /// Where answers are shown.
    ///
    /// - Throws: if a light is not there.
    func outputs() throws(CommandError) -> [ReaderLights.Output] {
        var outputs: [ReaderLights.Output] = []
        for place in answer.isEmpty ? [.reader] : answer {
            switch place {
            case .none: break
            case .reader: outputs.append(.reader)
            case .leds(let lights):
                if let obstacle = lights.obstacle {
                    throw CommandError(
                        .missingFile, "unreadable",
                        tr("--answer: \(obstacle.path) cannot be written: ", "--answer: \(obstacle.path) に書き込めません: ")
                            + SystemMessage.text(obstacle.number),
                        hint: tr(
                            "'ls /sys/class/leds' lists the lights; see \(Documents.path("watch.md"))",
                            "'ls /sys/class/leds' でランプを確認できます（\(Documents.path("watch.ja.md"))）"))
                }
                outputs.append(.leds(lights))
            }
        }
        return outputs
    }
}

/// A value of `--answer`.
enum AnswerPlace: ExpressibleByArgument, Hashable {
    case none
    case reader
    case leds(LEDLights)

    init?(argument: String) {
        switch argument {
        case "none": self = .none
        case "reader": self = .reader
        default:
            guard argument.hasPrefix("led:") else { return nil }
            let names = argument.dropFirst(4).split(separator: ",", omittingEmptySubsequences: false).map(String.init)
            guard names.count == 2, let lights = LEDLights(green: names[0], red: names[1]) else { return nil }
            self = .leds(lights)
        }
    }
}

extension ReaderSignal {
    /// How an answer is shown.
    init(_ verdict: TapEvent.Verdict) {
        switch verdict {
        case .yes: self = .yes
        case .no: self = .no
        case .fault: self = .fault
        }
    }
}
