// SPDX-License-Identifier: Apache-2.0

import CommandDescription
import Glibc
import Kazasu
import KazasuCLI
import SharedReaders
import Synchronization
import PCSCBridge

/// `kazasu bridge`
struct BridgeCommand: KazasuCommand {
    static let configuration = CommandConfiguration(
        commandName: "bridge",
        abstract: ServiceCommand.bridge.abstract,
        discussion: tr(
            """
            Offers a reader to PC/SC programs such as OpenSC, pyscard and GnuPG, through vsmartcard's vpcd \
            (Debian: apt install pcscd vsmartcard-vpcd). Cards with APDUs answer them; FeliCa cards and Type 2 Tags \
            answer the commands of PC/SC part 3. Runs until it is interrupted.

            PINs are sent as the PC/SC program sends them. --guard refuses (6985) what could use a last try.

            Examples:
              kazasu bridge                           # then: opensc-tool --list-readers
              kazasu bridge -r rcs380 --guard
              kazasu bridge -r rcs380 -r rcs300       # ports 35963 and 35964
            """,
            """
            OpenSC、pyscard、GnuPG などの PC/SC プログラムから、リーダーを使えるようにします。vsmartcard の vpcd を経由します\
            （Debian では apt install pcscd vsmartcard-vpcd）。APDU に対応するカードは APDU に、FeliCa と Type 2 タグは \
            PC/SC パート 3 のコマンドに応答します。中断されるまで動きます。

            暗証番号は PC/SC プログラムが送ったとおりにカードへ渡します。--guard を付けると、最後の 1 回を使うおそれのある照合を拒否します（6985）。

            例:
              kazasu bridge                           # 次に opensc-tool --list-readers
              kazasu bridge -r rcs380 --guard
              kazasu bridge -r rcs380 -r rcs300       # ポート 35963 と 35964
            """))

    static let programAccess = CommandAccess.none(because: "it runs until stopped, for programs that speak PC/SC")

    @Option(
        reach: .never, name: .joined("r"),
        help: help(
            "Which reader; repeat it for several, each on the next port. Default: KAZASU_READER, else the first ready one.",
            "リーダー。複数指定すると、順に次のポートを使う。省略時は KAZASU_READER、なければ、使えるもののうち最初に見つかったもの。", value: "id"),
        completion: SchemeCompletion.readers)
    var reader: [String] = []

    @Option(
        reach: .never, name: .long,
        help: help("The port at which vpcd listens.", "vpcd が待ち受けるポート。", value: "port"))
    var port = Bridge.usualPort

    @Flag(
        reach: .never, name: .customLong("guard"),
        help: help(
            "Refuse PIN commands with one try or fewer left, or an unknown number.",
            "残り回数が 1 回以下か不明のとき、暗証番号のコマンドを拒否する。"))
    var guardsPINs = false

    @OptionGroup(title: CommonOptions.title) var common: CommonOptions

    func validate() throws {
        guard port > 0 else { throw ValidationError(tr("--port takes 1 to 65535", "--port は 1～65535 です")) }
        guard Int(port) + max(reader.count, 1) - 1 <= Int(UInt16.max) else {
            throw ValidationError(tr("--port is too large for so many readers", "--port が大きすぎます（リーダーの数だけ続きを使います）"))
        }
        if Set(reader).count < reader.count {
            throw ValidationError(tr("a reader is named twice", "同じリーダーが 2 回指定されています"))
        }
    }

    func execute(_ context: Context) throws {
        let plan = RunPlan(bridges: try RunningBridges.settings(of: reader, from: port, guardsPINs: guardsPINs))
        Interrupt.hold()
        context.note(tr("offering the reader to PC/SC; press Ctrl-C to stop", "リーダーを PC/SC に提供しています。Ctrl-C で終了します"))
        let end = Latch()
        let parts = RunParts(SharedReaders(), verbosity: context.verbosity) { end.open() }
        parts.apply(plan)
        context.cancellation.onCancel { end.open() }
        end.wait()
        let failure = parts.bridges.stop()
        Blocking.run { () async in await parts.readers.close() }
        LineOutput.messages.finish()
        if let failure { throw CommandError(failure) }
    }
}

/// `--bridge` of `watch` and `serve`: PC/SC programs take turns with everybody else on their readers.
struct BridgeOptions: ParsableArguments {
    @Option(
        reach: .never, name: .long,
        help: help(
            "Offer the readers to PC/SC programs: vpcd's port for the first reader (vpcd's default is 35963); see 'kazasu bridge'.",
            "リーダーを PC/SC プログラムからも使えるようにする: 1 台目の vpcd のポート（vpcd の既定は 35963）。'kazasu bridge' を参照。",
            value: "port"))
    var bridge: UInt16?

    @Flag(
        reach: .never, name: .long,
        help: help(
            "With --bridge: refuse PIN commands with one try or fewer left, or an unknown number.",
            "--bridge で、残り回数が 1 回以下か不明のとき、暗証番号のコマンドを拒否する。"))
    var bridgeGuard = false

    /// The bridges of these readers; none without `--bridge`.
    func settings(of readers: [NamedReader]) throws(CommandError) -> [Bridge.Settings] {
        guard let bridge else { return [] }
        guard bridge > 0, Int(bridge) + max(readers.count, 1) - 1 <= Int(UInt16.max) else {
            throw CommandError(.bridgePort)
        }
        return try RunningBridges.settings(of: readers.map(\.id), from: bridge, guardsPINs: bridgeGuard)
    }
}

/// The bridges that run, each on a task of its own.
final class RunningBridges: Sendable {
    private struct State {
        var running: [Bridge.Settings: Task<Void, Never>] = [:]
        var failure: KazasuError?
        var isEnding = false
    }

    private let readers: SharedReaders
    private let verbosity: Int
    private let failed: @Sendable () -> Void
    private let state = Mutex(State())

    /// - Parameter failed: called when there can be no such reader as one of these.
    init(on readers: SharedReaders, verbosity: Int, failed: @escaping @Sendable () -> Void) {
        (self.readers, self.verbosity, self.failed) = (readers, verbosity, failed)
    }

    /// Each reader, or the usual one if there is none, at the next port.
    static func settings(
        of readers: [String], from port: UInt16, guardsPINs: Bool
    ) throws(CommandError) -> [Bridge.Settings] {
        try check(port)
        let readers: [String?] = readers.isEmpty ? [nil] : readers
        return readers.enumerated().map { index, reader in
            Bridge.Settings(reader: reader, port: port + UInt16(index), guardsPINs: guardsPINs)
        }
    }

    /// Ends the bridges that are not wanted any more, then starts the new ones; a PC/SC program keeps the card of another.
    func change(to wanted: [Bridge.Settings]) {
        end { !wanted.contains($0) }
        state.withLock { state in
            for settings in wanted where state.running[settings] == nil && !state.isEnding {
                state.running[settings] = start(settings)
            }
        }
    }

    private func start(_ settings: Bridge.Settings) -> Task<Void, Never> {
        let bridge = Bridge(settings, on: readers, tell: BridgeLog(settings.reader, verbosity: verbosity).tell)
        return Task(priority: .medium) {
            do throws(KazasuError) {
                try await bridge.run()
            } catch {
                state.withLock { $0.failure = $0.failure ?? error }
                failed()
            }
        }
    }

    private func end(_ isEnded: (Bridge.Settings) -> Bool) {
        let tasks = state.withLock { state in
            let ended = state.running.filter { isEnded($0.key) }
            for settings in ended.keys { state.running[settings] = nil }
            return Array(ended.values)
        }
        for task in tasks { task.cancel() }
        Blocking.run { () async in for task in tasks { await task.value } }
    }

    /// Takes the cards from PC/SC programs, for good.
    func cancel() {
        state.withLock { state in
            state.isEnding = true
            for task in state.running.values { task.cancel() }
        }
    }

    /// Takes the cards out, and waits until no reader is used any more.
    ///
    /// - Returns: why there could be no such reader as one of these.
    @discardableResult func stop() -> KazasuError? {
        cancel()
        end { _ in true }
        return state.withLock(\.failure)
    }

    /// Refuses a vpcd that connects instead of listening.
    private static func check(_ port: UInt16) throws(CommandError) {
        for slots in VirtualSlots.all(Machine()) where !slots.listens && slots.port == Int(port) {
            let check = Check(.slotConnects, slots.file, slots.device)
            throw CommandError(
                .noReader, UnavailableReason.unsupported.rawValue, check.message[Language.current],
                hint: check.hint)
        }
    }
}

/// The log of one bridge, on standard error.
private struct BridgeLog: Sendable {
    /// The reader, where there are several.
    private let reader: String?
    private let verbosity: Int

    init(_ reader: String?, verbosity: Int) { (self.reader, self.verbosity) = (reader, verbosity) }

    func tell(_ notice: Bridge.Notice) {
        let text: String
        switch notice {
        case .inserted(let technology):
            let name =
                switch technology {
                case .felica: "FeliCa"
                case .typeA: "ISO 14443 A"
                case .typeB: "ISO 14443 B"
                }
            text = tr("a card (\(name)) is there", "カード（\(name)）が置かれました")
        case .removed: text = tr("the card is gone", "カードが離れました")
        case .noService:
            text = tr(
                "nothing listens at the port of vpcd; waiting for pcscd (it starts with the first PC/SC program; Debian: apt install pcscd vsmartcard-vpcd)",
                "vpcd のポートで待ち受けがありません。pcscd を待っています（最初の PC/SC プログラムとともに起動します。Debian では apt install pcscd vsmartcard-vpcd）"
            )
        case .serviceEnded: text = tr("pcscd has ended; connecting again", "pcscd が終了しました。再接続します")
        case .portTaken:
            text = tr(
                "vpcd does not answer: another program has its port, such as a second bridge or vicc; waiting",
                "vpcd から応答がありません。別のプログラム（もう 1 つの bridge や vicc）がポートを使用中です。待っています")
        case .noConnection(let errno):
            text = tr(
                "vpcd cannot be reached: \(SystemMessage.of(errno).english)",
                "vpcd に接続できません: \(SystemMessage.of(errno).japanese)")
        case .noReader(let error):
            text = CommandError(error).message + tr("; retrying", "。再試行します")
        case .readerIsBack: text = tr("the reader can be used again", "リーダーが再び使えるようになりました")
        case .exchange(let header, let status, let time):
            guard verbosity > 0 else { return }
            text = "\(header) → \(status) (\(time.count(of: .milliseconds(1))) ms)"
        }
        guard verbosity >= 0 else { return }
        let prefix = reader.map { "\($0): " } ?? ""
        LineOutput.messages.write("kazasu: \(VisibleText.line(prefix + text))\n")
    }
}
