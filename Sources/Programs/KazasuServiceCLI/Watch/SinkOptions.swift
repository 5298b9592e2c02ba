// SPDX-License-Identifier: Apache-2.0

import CommandDescription
import CardCiphers
import Kazasu
import KazasuCLI
import KazasuService
import Synchronization
import KazasuTaps
import KazasuLedger

/// What sinks need in addition to their options.
struct SinkEnvironment {
    /// The name of the place.
    var site: String
    /// The names of the readers that the user named.
    var readers: [String]
    /// Whether events have balances.
    var readsBalances: Bool
    /// Replaces the numbers of cards.
    var key: IdentityKey?
    /// The command line with the settings of the environment and the file, for options whose order matters.
    var words: [String]
    var outbox: Outbox
    var metrics: Metrics
    var log: ServiceLog
    /// Whether cards are masked in messages.
    var isRedacted: Bool
}

/// The sinks of `watch`, each made from its options; a new kind adds a line to `Watch.makeSinks(_:)`.
struct SinkOptions: ParsableArguments {
    @Option(
        reach: .never, name: .long, parsing: .unconditional,
        help: help("How long a program may run.", "プログラムの制限時間。", value: "seconds"))
    var execTimeout = 30.0

    @Option(
        reach: .secret, name: .long,
        help: help(
            "The key that signs the requests of the --webhook before it: env:NAME, file:PATH or fd:NUMBER.",
            "直前の --webhook の署名に使う鍵: env:変数名、file:パス、fd:番号。", value: "source"))
    var secretFrom: [SecretSource] = []

    @Option(
        reach: .never, name: .long,
        help: help(
            "The events that the --webhook before it gets, with commas. Default: all; on with a service's body.",
            "直前の --webhook に送るイベント（カンマ区切り）。省略時はすべて（サービス名の本文では on だけ）。",
            value: "types"))
    var webhookTypes: [EventTypes] = []

    @Option(
        reach: .never, name: .long,
        help: help(
            "What the --webhook before it posts: discord, slack, teams, ntfy, ifttt, grafana, or a file with {name}, {balance} and so on. Default: the event.",
            "直前の --webhook の本文: discord、slack、teams、ntfy、ifttt、grafana、または {name} や {balance} を書いたファイル。省略時はイベントそのもの。",
            value: "service|file"),
        completion: WebhookForm.completion)
    var webhookBody: [String] = []

    @Option(
        reach: .never, name: .long,
        help: help(
            "Type the tag of each card through uinput: us, jp, de, fr or keypad (a decimal number).",
            "カードの番号（tag）をキー入力する（uinput）: us、jp、de、fr、keypad（10 進数）。", value: "layout"))
    var keyboard: KeyboardLayout?

    @OptionGroup var place: LedgerPath

    func validate() throws {
        for source in secretFrom { try SecretSource.validate(source, "--secret-from") }
        guard (0.1...86_400).contains(execTimeout) else {
            throw ValidationError(tr("--exec-timeout takes 0.1 to 86400 seconds", "--exec-timeout は 0.1～86400 秒です"))
        }
    }

    /// A program, which must be there and executable: otherwise every event would go to the dead letters.
    ///
    /// - Parameters:
    ///   - isForAll: whether it runs for each event, and not for cards that come alone.
    ///   - needsTag: whether a card that comes must have proved its key.
    func program(_ path: String, isForAll: Bool = false, needsTag: Bool = false) throws(CommandError) -> SinkFactory {
        let sink = ExecSink(
            path, types: isForAll ? Set(TapEvent.EventType.allCases) : [.on], needsTag: needsTag && !isForAll,
            timeout: .seconds(execTimeout))
        try Self.check(sink, path, option: isForAll ? "--exec-all" : "--exec")
        return { sink }
    }

    /// Checks that a program is there and executable.
    static func check(_ sink: ExecSink, _ path: String, option: String) throws(CommandError) {
        switch sink.obstacle {
        case nil: return
        case .unreadable(let errno):
            throw CommandError(.sinkUnreadable, values: [option, path, SystemMessage.text(errno)])
        case .folder:
            throw CommandError(.sinkFolder, values: [option, path])
        case .notExecutable:
            throw CommandError(.sinkNotExecutable, values: [option, path, ShellWord.quoted(path)])
        case .arguments(let program):
            throw CommandError(.sinkArguments, values: [option, program])
        }
    }

    /// The ledger. It waits for another program that writes in the queue, as for a disk with room.
    func ledger(_ environment: SinkEnvironment) throws(CommandError) -> SinkFactory {
        let path = try LedgerFileOptions.path(place.ledger)
        let opened = try LedgerFileOptions.open(path, isRedacted: environment.isRedacted) { options in
            if let key = environment.key { options.cardKey = { key.tag(of: $0.bytes) } }
            options.patience = 1
        }
        let log = environment.log
        return {
            LedgerSink(opened) { addition in
                log.info(tr("ledger: ", "台帳: ") + LedgerWords.added(addition))
                for notice in addition.notices { log.warning(LedgerWords.notice(notice)) }
                for gap in addition.gaps { log.warning(LedgerWords.gap(gap)) }
            }
        }
    }

    /// The keyboard, which is there from now on: an operator hears at once that there is none.
    static func keyboard(_ layout: KeyboardLayout) throws(CommandError) -> SinkFactory {
        do throws(KeyboardSink.KeyboardError) {
            let sink = try KeyboardSink(layout)
            return { sink }
        } catch {
            throw CommandError(.keyboardUnusable, values: [SystemMessage.text(error.errno)])
        }
    }
}

extension KeyboardLayout: ExpressibleByArgument {}

extension SecretSource {
    /// The longest key, in bytes.
    private static let longestKey = 4096
    /// The keys of descriptors, by their names in messages and the numbers: settings are read again, but a pipe gives its
    /// bytes once.
    private static let kept = Mutex<[String: [UInt8]]>([:])

    /// The bytes of a key: everything in the source except one line end at its end.
    ///
    /// - Parameter what: the key's name in messages.
    func key(_ what: String) throws(CommandError) -> [UInt8] {
        var bytes: [UInt8]
        switch self {
        case .file(let path): bytes = try Files.read(path, limit: Self.longestKey)
        case .descriptor(let number):
            let name = "\(what) \(number)"
            bytes = try Self.kept.withLock { kept throws(CommandError) in
                if let known = kept[name] { return known }
                let bytes = try Files.read("/dev/fd/\(number)", limit: Self.longestKey)
                kept[name] = bytes
                return bytes
            }
        case .environment(let name):
            // Programs of --exec inherit the variables.
            bytes = SecretSource.keptVariable(name)?.withUnsafeBytes { Array($0) } ?? []
        case .none: bytes = []
        }
        if bytes.last == UInt8(ascii: "\n") { bytes.removeLast() }
        if bytes.last == UInt8(ascii: "\r") { bytes.removeLast() }
        guard !bytes.isEmpty else {
            throw CommandError(.sinkNoSecret, values: [what])
        }
        return bytes
    }
}
