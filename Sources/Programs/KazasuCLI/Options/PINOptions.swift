// SPDX-License-Identifier: Apache-2.0

package import CommandDescription
import CLinux
package import CardCiphers
import Glibc
package import Kazasu
import Synchronization

/// Options of the commands that verify PINs.
package struct PINOptions: ParsableArguments {
    package init() {}

    @Option(
        reach: .secret, name: .customLong("pin1-from"),
        help: help(
            "Where to read PIN 1: env:NAME, file:PATH or fd:NUMBER. Default: ask on the terminal.",
            "暗証番号1の入力元: env:変数名、file:パス、fd:番号。省略時は端末で尋ねる。", value: "source"))
    package var pin1From: SecretSource?

    @Option(
        reach: .secret, name: .customLong("pin2-from"),
        help: help(
            "Where to read PIN 2, in the same form.", "暗証番号2の入力元（書き方は同じ）。", value: "source"))
    package var pin2From: SecretSource?

    @Flag(
        reach: .never, name: .long,
        help: help(
            "Send a PIN even if only one try is left or the number is unknown; asks for confirmation first.",
            "残り 1 回、または残り回数が不明でも照合する（先に端末で確認する）。"))
    package var allowLastTry = false

    package func validate() throws {
        try SecretSource.validate(pin1From, "--pin1-from")
        try SecretSource.validate(pin2From, "--pin2-from")
    }

    /// The source of PIN 1 or 2; `nil` when it is to be typed.
    package func source(_ number: Int) -> SecretSource? { number == 1 ? pin1From : pin2From }
}

extension SecretSource {
    /// Reads the PIN from the source.
    ///
    /// - Parameter what: the PIN's name in messages.
    /// - Throws: ``CommandError``, without the data that was read.
    package func readPIN(_ what: String) throws(CommandError) -> PIN { PIN(try read(what)) }
}

/// Asks for PINs on the terminal, and whether a last try may be used.
package final class PINDialog {
    private let context: Context
    private let allowLastTry: Bool
    /// The PIN that was typed last.
    package private(set) var typed: PIN?
    /// Why a PIN could not be typed.
    private var failure: CommandError?

    package init(_ context: Context, allowLastTry: Bool) {
        self.context = context
        self.allowLastTry = allowLastTry
    }

    /// The PINs from the sources that the options name, or else those that are typed.
    ///
    /// - Parameter options: the option for each PIN, where the command can read something without it: an empty line
    ///   then skips that PIN and those after it.
    package func source(_ given: [PIN], options: [String] = []) -> PINSource {
        var options = options.makeIterator()
        return .asking(given: given, consent: consent) { [self] prompt in
            do throws(CommandError) {
                typed = try ask(prompt, options.next())
                return typed
            } catch {
                failure = error
                return nil
            }
        }
    }

    /// Throws the error that ended the dialog, if any.
    package func check() throws(CommandError) {
        if let failure { throw failure }
    }

    /// Whether there is a terminal to ask on.
    package var hasTerminal: Bool { Terminal() != nil }

    /// A last try is used only when the flag is set and the user has typed yes on the terminal.
    private var consent: PINConsent {
        PINConsent(allowsLastTry: allowLastTry) { reference, tries in
            guard let terminal = Terminal() else { return false }
            let name = reference.name[Language.current]
            let question =
                switch tries {
                case .count(let count):
                    tr(
                        "\(name) has \(count) try left. A wrong PIN locks it.",
                        "\(name)の残りは \(count) 回です。間違えると閉塞します。")
                default:
                    tr(
                        "The card does not report how many tries \(name) has left. A wrong PIN may lock it.",
                        "\(name)の残り回数が分かりません。間違えると閉塞するおそれがあります。")
                }
            return (try? terminal.confirms(question)) ?? false
        }
    }

    /// Asks until the PIN has the right form.
    ///
    /// - Returns: `nil` when there is no terminal, or nothing was typed.
    private func ask(_ prompt: PINPrompt, _ option: String?) throws(CommandError) -> PIN? {
        let name = prompt.reference.name
        guard let terminal = Terminal() else {
            if let option {
                context.note(
                    tr(
                        "cannot ask for \(name.inSentence) without a terminal; use \(option), or --free to skip it",
                        "対話できる端末ではないため\(name.japanese)を尋ねられません。\(option) で指定できます（--free なら尋ねません）"))
            }
            return nil
        }
        let form = prompt.reference.form.words
        let tries = prompt.tries.map { tr(", \($0.words)", "、\($0.words)") } ?? ""
        let enter = option != nil ? tr("; press Enter to skip", "。Enter で省略") : ""
        let question = tr(
            "\(name.english) (\(form)\(tries)\(enter)): ", "\(name.japanese)（\(form)\(tries)\(enter)）: ")
        var objection = ""
        while true {
            switch try terminal.secret(objection + question) {
            case .empty: return nil
            case .tooLong: break
            case .secret(let secret):
                let pin = PIN(secret)
                if prompt.accepts(pin) { return pin }
            }
            objection = CommandError(PINGuardError.form(prompt.reference)).message + "\n"
        }
    }
}

/// The source of a PIN or key that is not typed: `env:NAME`, `file:PATH` or `fd:NUMBER`. It is never an argument,
/// because every user of the machine can see those.
package enum SecretSource: ExpressibleByArgument, Hashable, Sendable {
    case environment(String)
    case file(String)
    case descriptor(Int32)
    /// None of these, and perhaps the secret itself: the parser's own message for a bad value would repeat it.
    case none

    package init(argument: String) {
        self = .none
        let parts = argument.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2, !parts[1].isEmpty else { return }
        switch parts[0] {
        case "env": self = .environment(String(parts[1]))
        case "file": self = .file(String(parts[1]))
        case "fd":
            guard let number = Int32(parts[1]), number >= 0 else { return }
            self = .descriptor(number)
        default: return
        }
    }

    /// The path of `file:PATH`.
    package var path: String? { if case .file(let path) = self { path } else { nil } }

    package static var defaultCompletionKind: CompletionKind { SchemeCompletion.secrets }

    /// Checks the value of an option.
    ///
    /// - Throws: `ValidationError`, without the value.
    package static func validate(_ source: SecretSource?, _ option: String) throws(ValidationError) {
        if CommandHost.current != nil, case .descriptor(0...2) = source {
            throw ValidationError(
                tr(
                    "\(option): descriptors 0 to 2 belong to the messages; open another one for the secret",
                    "\(option): ディスクリプター 0～2 はメッセージ用です。別の番号で渡してください"))
        }
        guard source == SecretSource.none else { return }
        let name = Caller.current.option(String(option.drop { $0 == "-" }))
        throw ValidationError(
            tr(
                "\(name) takes env:NAME, file:PATH or fd:NUMBER, never the secret itself",
                "\(name) には env:変数名、file:パス、fd:番号 を指定してください。値そのものは書けません"))
    }

    /// Reads the secret: everything up to the first line end.
    ///
    /// An environment variable is overwritten as it is read. A buffer filled from a file or descriptor is overwritten
    /// here; a source that is a pipe can be read only once.
    ///
    /// - Parameters:
    ///   - what: the secret's name in messages.
    ///   - reason: the machine-readable reason when there is none.
    ///   - longest: the longest secret, in bytes.
    ///   - isKept: whether the process may need it again, where the source gives it once.
    ///   - isComplete: whether no further line belongs to what was read; asked at the end of a line.
    /// - Throws: ``CommandError``, without the data that was read.
    package func read(
        _ what: String, reason: String = "noPIN", longest: Int = SecretLine.longest,
        isKept: Bool = CommandHost.current != nil, isComplete: (UnsafeRawBufferPointer) -> Bool = { _ in true }
    ) throws(CommandError) -> SecretBytes {
        if isKept, let secret = KeptSecrets.shared[self] { return secret }
        let line: SecretLine
        switch self {
        case .environment(let name):
            guard let value = SecretSource.take(name) else {
                throw SecretSource.missing(what, reason, tr("\(name) is not set", "環境変数 \(name) がありません"))
            }
            line = value.count > longest ? .tooLong : value.count == 0 ? .empty : .secret(value)
        case .file(let path):
            let descriptor = try Files.open(path)
            defer { close(descriptor) }
            line = try SecretLine.read(descriptor, name: path, longest: longest, isComplete: isComplete)
        case .descriptor(let number):
            line = try SecretLine.read(
                number, name: tr("descriptor \(number)", "ディスクリプター \(number)"), longest: longest,
                isComplete: isComplete)
        case .none: line = .empty
        }
        switch line {
        case .secret(let secret):
            if isKept { KeptSecrets.shared[self] = secret }
            return secret
        case .empty: throw SecretSource.missing(what, reason, tr("it is empty", "空です"))
        case .tooLong:
            throw SecretSource.missing(
                what, reason,
                tr("it is longer than \(longest) bytes", "\(longest) バイトより長い値です"))
        }
    }

    /// The whole value of an environment variable, which is overwritten as it is read, and kept.
    package static func keptVariable(_ name: String) -> SecretBytes? {
        if let value = KeptSecrets.shared[.environment(name)] { return value }
        let value = take(name)
        KeptSecrets.shared[.environment(name)] = value
        return value
    }

    /// The value of an environment variable, which is overwritten.
    private static func take(_ name: String) -> SecretBytes? {
        guard let value = getenv(name) else { return nil }
        ProcessSecrecy.begin()
        let bytes = UnsafeRawBufferPointer(start: value, count: strlen(value))
        defer { explicit_bzero(value, bytes.count) }
        return SecretBytes(bytes)
    }

    private static func missing(_ what: String, _ reason: String, _ why: String) -> CommandError {
        CommandError(
            .usage, reason, tr("\(what) cannot be read: \(why)", "\(what)を読めません（\(why)）"),
            hint: Remedy.secretForm.text())
    }
}

/// The secrets of variables and descriptors that may be needed again: those sources give them once.
private final class KeptSecrets: @unchecked Sendable {
    static let shared = KeptSecrets()

    private let lock = Mutex(())
    private var secrets: [SecretSource: SecretBytes] = [:]

    /// A copy of the secret; that of a file is not kept, since it may change.
    subscript(source: SecretSource) -> SecretBytes? {
        get { lock.withLock { _ in secrets[source].map { $0.withUnsafeBytes { SecretBytes($0) } } } }
        set {
            if case .file = source { return }
            lock.withLock { _ in secrets[source] = newValue.map { $0.withUnsafeBytes { SecretBytes($0) } } }
        }
    }
}

/// Reads a line that nobody else may see, directly into the memory that keeps it.
package enum SecretLine {
    case empty
    case tooLong
    case secret(SecretBytes)

    /// The longest secret, in bytes.
    package static let longest = 64

    /// The first line of an open file, without its end; more lines only where the first ones are not complete.
    ///
    /// - Throws: ``CommandError`` when it cannot be read, or a signal came first.
    package static func read(
        _ descriptor: Int32, name: String, longest: Int = longest,
        isComplete: (UnsafeRawBufferPointer) -> Bool = { _ in true }
    ) throws(CommandError) -> SecretLine {
        ProcessSecrecy.begin()
        var length = 0
        let secret = try SecretBytes(capacity: longest + 2) { buffer throws(CommandError) in
            var count = 0
            while count < buffer.count {
                // One byte at a time: the data after the line is not ours to consume.
                let place = UnsafeMutableRawBufferPointer(rebasing: buffer[count..<count + 1])
                let got = try Descriptor.read(descriptor, into: place, name: name)
                guard got > 0 else { break }
                let isEnd = buffer[count] == UInt8(ascii: "\n")
                if isEnd, isComplete(UnsafeRawBufferPointer(rebasing: buffer[..<count])) { break }
                count += 1
            }
            while count > 0, [UInt8(ascii: "\r"), UInt8(ascii: "\n")].contains(buffer[count - 1]) { count -= 1 }
            length = count
            return count
        }
        return length == 0 ? .empty : length > longest ? .tooLong : .secret(secret)
    }
}

/// Keeps a secret within the process that holds it.
package enum ProcessSecrecy {
    /// Prevents core dumps of this process, and access to its memory by other processes of the user.
    ///
    /// Called before a PIN or key is read; frames that carry one to the reader are in ordinary memory for a moment.
    package static func begin() {
        var none = rlimit(rlim_cur: 0, rlim_max: 0)
        setrlimit(__rlimit_resource_t(RLIMIT_CORE.rawValue), &none)
        kazasu_forbid_dumps()
    }
}
