// SPDX-License-Identifier: Apache-2.0

import CommandDescription
import Glibc
import Kazasu
import KazasuCLI
import ReaderCore
import SharedReaders
import Synchronization
import Server

/// `kazasu rpc`
struct RPCCommand: KazasuCommand {
    static let configuration = CommandConfiguration(
        commandName: "rpc",
        abstract: ServiceCommand.rpc.abstract,
        discussion: tr(
            """
            Speaks JSON-RPC 2.0 on standard input and output, one message a line, for programs in any language. \
            Requests on one reader are answered in order, those on several side by side; $/cancel with the id of a request \
            cancels it. A reader stays open for a few seconds after a request, so that the next one is fast.

            Params are the long options of the command in camelCase, results are the documents of --json. PINs are \
            given by reference only: {"pin1From": "env:PIN"}. It ends at the end of input. \(Documents.path("rpc.md")) lists the methods.

            Examples:
              echo '{"jsonrpc":"2.0","id":1,"method":"card.balance"}' | kazasu rpc
              kazasu rpc -r entrance=rcs380 -r exit=rcs300      # two readers with names
              kazasu rpc --describe > openrpc.json
            """,
            """
            標準入力と標準出力で JSON-RPC 2.0 を話します（1 行に 1 メッセージ）。どの言語のプログラムからも使えます。\
            同じリーダーへの要求は順に、別のリーダーへの要求は並行して処理します。$/cancel に要求の id を渡すと取り消せます。\
            要求のあと数秒はリーダーを開いたままにするため、続けて読むと速くなります。

            params はコマンドの長いオプション名を camelCase にしたもの、result は --json の文書です。暗証番号は参照だけで渡します\
            （{"pin1From": "env:PIN"}）。入力が終わると終了します。メソッドの一覧は \(Documents.path("rpc.ja.md")) にあります。

            例:
              echo '{"jsonrpc":"2.0","id":1,"method":"card.balance"}' | kazasu rpc
              kazasu rpc -r entrance=rcs380 -r exit=rcs300      # 2 台に名前を付ける
              kazasu rpc --describe > openrpc.json
            """))

    static let programAccess = CommandAccess.none(because: "its methods are these")

    @OptionGroup(title: CommonOptions.title) var common: CommonOptions

    @Option(
        reach: .never, name: .joined("r"),
        help: help(
            "Which reader, with a name if wanted: ID or NAME=ID; repeatable. Requests without a reader use the first.",
            "リーダー: ID または 名前=ID（複数指定可）。リーダーを指定しない要求は最初のものを使う。", value: "[name=]id"),
        completion: SchemeCompletion.readers)
    var reader: [String] = []

    @Flag(
        reach: .never, name: .long,
        help: help("Print the methods as an OpenRPC document, and exit.", "メソッドの一覧を OpenRPC の文書で出力して終わる。"))
    var describe = false

    func validate() throws { _ = try NamedReader.parse(reader) }

    func execute(_ context: Context) throws {
        if describe {
            return try context.print(
                ServiceDescription(CommandMethod.ofProcess, version: Program.version, language: Language.current)
                    .openRPC)
        }
        try RPCRun(context, NamedReader.parse(reader)).run()
    }
}

/// One run of `rpc`.
final class RPCRun: Sendable {
    /// How many seconds the readers get to close after a signal.
    private static let patience: UInt32 = 3
    /// The longest message, in bytes.
    private static let longestMessage = 8 << 20

    private let readers: SharedReaders
    private let session: RPCSession
    private let output: MessageOutput
    private let token: CancellationToken
    private let isJSON: Bool

    init(_ context: Context, _ named: [NamedReader]) {
        ReaderRegistry.answering = .milliseconds(700)
        let readers = SharedReaders.forCommands()
        RunParts(readers, verbosity: context.verbosity).apply(RunPlan(readers: named))
        let output = MessageOutput()
        (self.readers, self.output, token, isJSON) = (readers, output, context.cancellation, context.json)
        session = RPCSession(
            version: Program.version, methods: CommandMethods(on: readers, context.redaction, isLocal: true),
            taps: WatchedTaps(named, readers, context), origin: .standardInput, language: Language.current,
            ready: { await output.ready() }
        ) { output.send($0) }
    }

    /// Answers requests until the end of input, or a signal.
    func run() throws {
        Interrupt.hold()
        let session = session
        let cancelling = token.onCancel {
            Task { await session.cancel() }
            Self.exit(0)
        }
        defer {
            token.remove(cancelling)
            LineOutput.messages.finish()
        }
        output.failed { [isJSON] error, isBehind in
            Task { await session.cancel() }
            // A client that does not read may never end its input either.
            if isBehind { Self.exit(error.status.rawValue) { Output.message(error, json: isJSON) } }
        }
        watchOutput()
        do throws(CommandError) {
            try readMessages()
            Blocking.run { () async in await session.finish() }
        } catch {
            guard token.isCancelled else { throw error }
        }
        let readers = readers
        Blocking.run { () async in
            await session.cancel()
            await readers.close()
        }
        output.finish()
        if let error = output.error, !token.isCancelled { throw error }
    }

    /// Ends the program, even if a driver hangs or standard output is never read again.
    private static func exit(_ status: Int32, _ last: @escaping @Sendable () -> Void = {}) {
        BlockingWork.start {
            sleep(patience)
            last()
            ExitCleanup.run()
            _exit(status)
        }
    }

    /// Cancels everything when nobody can read an answer any more: a request that waits for a card would keep the reader
    /// of a program that was killed.
    private func watchOutput() {
        let session = session
        BlockingWork.start {
            var output = pollfd(fd: STDOUT_FILENO, events: 0, revents: 0)
            while poll(&output, 1, -1) < 0 { guard errno == EINTR else { return } }
            if output.revents & Int16(POLLERR | POLLHUP) != 0 { Task { await session.cancel() } }
        }
    }

    private func readMessages() throws(CommandError) {
        var buffer = [UInt8](repeating: 0, count: 65_536)
        var line: [UInt8] = []
        var isTooLong = false
        let session = session
        func end() {
            let message = line
            let isRefused = isTooLong
            (line, isTooLong) = ([], false)
            if isRefused {
                Blocking.run { () async in await session.refuse() }
            } else if message.contains(where: { ![0x20, 0x09, 0x0D].contains($0) }) {
                Blocking.run { () async in await session.receive(message) }
            }
        }
        while output.error == nil {
            let count = try Descriptor.read(STDIN_FILENO, into: &buffer, name: tr("standard input", "標準入力"))
            guard count > 0 else { break }
            var rest = buffer[..<count]
            while let newline = rest.firstIndex(of: UInt8(ascii: "\n")) {
                add(rest[..<newline])
                end()
                rest = rest[(newline + 1)...]
            }
            add(rest)
        }
        end()

        func add(_ bytes: ArraySlice<UInt8>) {
            guard !isTooLong else { return }
            line += bytes
            guard line.count > Self.longestMessage else { return }
            (line, isTooLong) = ([], true)
        }
    }
}
