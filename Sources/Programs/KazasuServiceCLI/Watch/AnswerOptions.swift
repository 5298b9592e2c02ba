// SPDX-License-Identifier: Apache-2.0

import CommandDescription
import Glibc
import Kazasu
import KazasuCLI
import KazasuTaps
import ReaderCore
import SharedReaders

/// Whom `watch` asks about each card, and where it shows the answer.
struct AnswerOptions: ParsableArguments {
    @Option(
        reach: .never, name: .long,
        help: help(
            "Ask this program or URL about each card and show its answer: yes, no or fault.",
            "カードが置かれるたびにこのプログラムか URL に尋ね、答え（yes・no・fault）を示す。", value: "path|url"),
        completion: .file())
    var ask: String?

    @Option(
        reach: .never, name: .long, parsing: .unconditional,
        help: help(
            "How long an answer may take; after that it is a fault. Default: 1.", "答えを待つ時間。過ぎると fault。省略時は 1。",
            value: "seconds"))
    var askTimeout: Double?

    @Option(
        reach: .never, name: .long,
        help: help(
            "Where to show answers: reader (default: its lights and buzzer), led:GREEN,RED (names in /sys/class/leds), "
                + "gpio:CHIP:GREEN,RED (lines of a GPIO chip) or none. Repeatable.",
            "結果の表示先: reader（既定。リーダーのランプとブザー）、led:緑,赤（/sys/class/leds の名前）、gpio:チップ:緑,赤（GPIO のライン番号）、none。"
                + "複数指定可。", value: "place"))
    var answer: [AnswerPlace] = []

    @Flag(
        reach: .never, name: .long,
        help: help("Stop readers from beeping when they detect a card.", "カード検出時にリーダーが鳴らす音を止める。"))
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
            throw CommandError(.askForm, values: [Caller.commandLine.optionList(of: "kazasu watch")])
        }
        try SinkOptions.check(ExecSink(ask), ask, option: "--ask")
        return .program(ask)
    }

    /// Where answers are shown.
    ///
    /// - Parameter lines: gets the lines of GPIO chips.
    /// - Throws: if a light is not there.
    func outputs(_ lines: GPIOLines) throws(CommandError) -> [ReaderLights.Output] {
        var outputs: [ReaderLights.Output] = []
        for place in answer.isEmpty ? [.reader] : answer {
            switch place {
            case .none: break
            case .reader: outputs.append(.reader)
            case .leds(let lights):
                if let obstacle = lights.obstacle {
                    throw CommandError(.lightUnwritable, values: [obstacle.path, SystemMessage.text(obstacle.number)])
                }
                outputs.append(.leds(lights))
            case .lines(let lights): outputs.append(.lines(lights))
            }
        }
        do throws(GPIOLines.Failure) {
            try lines.request(gpioLights)
        } catch {
            throw Self.error(error)
        }
        return outputs
    }

    /// The lights at lines of GPIO chips.
    var gpioLights: [GPIOLights] {
        guard ask != nil else { return [] }
        return answer.compactMap { if case .lines(let lights) = $0 { lights } else { nil } }
    }

    /// The lights of the kernel's LED class.
    var leds: [LEDLights] {
        guard ask != nil else { return [] }
        return answer.compactMap { if case .leds(let lights) = $0 { lights } else { nil } }
    }

    /// Why a line cannot be had, and what to do about it.
    private static func error(_ failure: GPIOLines.Failure) -> CommandError {
        let code: CommandError.Code =
            switch failure.number {
            case EBUSY: .lineBusy
            case EACCES, EPERM: .lineForbidden
            default: .lineUnreadable
            }
        return CommandError(code, values: [GPIOText.line(failure.line), GPIOText.reason(failure)])
    }
}

/// Lines of GPIO chips in messages.
enum GPIOText {
    /// Which line it is.
    static func line(_ line: GPIOLine) -> String {
        tr("line \(line.offset) of \(line.chip)", "\(line.chip) の線 \(line.offset)")
    }

    /// Why it cannot be used.
    static func reason(_ failure: GPIOLines.Failure) -> String {
        switch failure.number {
        case EBUSY: tr("the kernel or another program has it", "カーネルまたは別のプログラムが使っています")
        // An older kernel has chips, and not this interface.
        case EINVAL:
            tr("the chip has no such line, or the kernel is older than 5.10", "チップにその線がないか、カーネルが 5.10 より古いようです")
        case ENOTTY, EISDIR: tr("this is not a GPIO chip", "GPIO チップではありません")
        default: SystemMessage.text(failure.number)
        }
    }
}

/// A value of `--answer`.
enum AnswerPlace: ExpressibleByArgument, Hashable {
    case none
    case reader
    case leds(LEDLights)
    case lines(GPIOLights)

    static var example: LocalizedText? {
        LocalizedText(
            "reader, none, led:GREEN,RED or gpio:CHIP:GREEN,RED", "reader、none、led:GREEN,RED、gpio:CHIP:GREEN,RED")
    }

    static var defaultCompletionKind: CompletionKind { ListCompletion.of { ["reader", "led:", "gpio:", "none"] } }

    init?(argument: String) {
        switch argument {
        case "none": self = .none
        case "reader": self = .reader
        default:
            if argument.hasPrefix("led:") {
                guard let (green, red) = Self.pair(argument.dropFirst(4)),
                    let lights = LEDLights(green: green, red: red)
                else { return nil }
                self = .leds(lights)
            } else {
                guard let lights = Self.gpio(argument) else { return nil }
                self = .lines(lights)
            }
        }
    }

    /// `gpio:CHIP:GREEN,RED`.
    private static func gpio(_ text: String) -> GPIOLights? {
        guard text.hasPrefix("gpio:"), let end = text.lastIndex(of: ":"), let start = text.firstIndex(of: ":"),
            start < end,
            let names = pair(text[end...].dropFirst()), let green = offset(names.0), let red = offset(names.1)
        else { return nil }
        return GPIOLights(chip: String(text[start..<end].dropFirst()), green: green, red: red)
    }

    /// Decimal digits alone: `+17` and `-0` are mistakes.
    private static func offset(_ text: String) -> UInt32? {
        text.utf8.allSatisfy { (0x30...0x39).contains($0) } ? UInt32(text) : nil
    }

    private static func pair(_ text: Substring) -> (String, String)? {
        let names = text.split(separator: ",", omittingEmptySubsequences: false).map(String.init)
        return names.count == 2 ? (names[0], names[1]) : nil
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
