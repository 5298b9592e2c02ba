// SPDX-License-Identifier: Apache-2.0

package import CommandDescription
import Glibc
import Kazasu
import Synchronization

/// The root command of the program.
struct RootCommand: ParsableCommand {
    /// The version of the program and of its libraries.
    package static let version = "0.3.0"

    /// The program's name, help and commands.
    package static var configuration: CommandConfiguration {
        CommandConfiguration(
            commandName: page.commandName, abstract: page.abstract, discussion: page.discussion,
            subcommands: Program.own + ServiceExtension.commands)
    }

    /// Its name and help.
    private static let page = CommandConfiguration(
        commandName: "kazasu",
        abstract: tr(
            "Read contactless cards: FeliCa, ISO 14443, NFC tags.",
            "非接触カードを読む: FeliCa、ISO 14443、NFC タグ。"),
        discussion: ProgramHelp.examples + "\n\n"
            + tr(
                """
                Exit status:
                  0    done
                  1    not found (stations lookup), dumps differ (diff --exit-code)
                  64   the command line is wrong
                  65   a file is malformed
                  66   a file is missing or unreadable
                  69   no usable reader: absent, busy, no permission
                  70   a bug in Kazasu
                  73   an output file cannot be written
                  74   the card left, or the radio failed; the data read so far is kept
                  75   no card came in time
                  76   wrong kind of card for this command
                  77   the card refused
                  130  interrupted (Ctrl-C); 0 for commands that run until stopped
                  143  terminated (SIGTERM); 0 for commands that run until stopped
                """,
                """
                終了ステータス:
                  0    完了
                  1    該当なし（stations lookup）、違いあり（diff --exit-code）
                  64   コマンドラインの誤り
                  65   ファイルの内容が正しくない
                  66   ファイルがない、または読めない
                  69   使えるリーダーがない（未接続、使用中、権限なし）
                  70   Kazasu の不具合
                  73   出力ファイルに書けない
                  74   カードが離れた、または通信に失敗した（読めた分は残る）
                  75   時間内にカードが来なかった
                  76   カードはあるが、読める種類ではない
                  77   カードに拒否された
                  130  Ctrl-C で中断（simulate などの常駐コマンドでは 0）
                  143  SIGTERM で終了（simulate などの常駐コマンドでは 0）
                """) + "\n\n" + HelpTables.text)

    /// Runs one command line.
    ///
    /// - Returns: the exit status.
    package static func run(_ arguments: [String]) -> Int32 {
        _ = ExchangeLog.start
        if hasFlag("--redact", arguments) { RedactionGate.shared.start(arguments) }
        let words = ProgramHelp.usual(Language.removed(from: arguments))
        do {
            if let request = CompletionRequest(arguments) {
                try Output.write(Array(request.answer.utf8))
                return ExitStatus.done.rawValue
            }
            if words == ["---describe"] {
                try Output.write(CommandListing.text)
                return ExitStatus.done.rawValue
            }
            if let answer = ProgramHelp.answer(words) {
                try Output.write(answer)
                return ExitStatus.done.rawValue
            }
            var command = try RootCommand.parseAsRoot(words)
            try command.run()
            return ExitStatus.done.rawValue
        } catch let failure as CommandError {
            KeptProblem.current.failed(failure, command: words.first)
            return report(failure, words)
        } catch {
            return report(parserError: error, words)
        }
    }

    private static func report(_ failure: CommandError, _ arguments: [String]) -> Int32 {
        if !failure.isSilent { tell(failure, arguments) }
        return failure.status.rawValue
    }

    /// Reports on standard error why there is no answer.
    package static func tell(_ failure: CommandError, _ arguments: [String] = ProgramArguments.all) {
        Output.message(failure, json: hasFlag("--json", arguments))
    }

    /// Help and version are answers; anything else that the parser throws is an invalid command line.
    private static func report(parserError error: any Error, _ arguments: [String]) -> Int32 {
        if let unknown = UnknownCommand(arguments) { return report(unknown.error, arguments) }
        let answer: String
        switch error {
        case ParserAnswer.help(let commands): answer = HelpPage(commands).text + "\n"
        case ParserAnswer.version: answer = version + "\n"
        default:
            if let unknown = UnknownOption(arguments) { return report(unknown.error, arguments) }
            let words = ParserMessage(arguments)
            let failure =
                (error as? ParserFailure)?.error(words)
                ?? CommandError(.commandLine, words.withoutSecrets("\(error)"), values: ["kazasu --help"])
            return report(failure, arguments)
        }
        do throws(CommandError) {
            try Output.write(answer)
            return ExitStatus.done.rawValue
        } catch {
            return error.status.rawValue
        }
    }

    private static func hasFlag(_ flag: String, _ arguments: [String]) -> Bool {
        arguments.prefix { $0 != "--" }.contains(flag)
    }
}

/// A command: parses its options, prints its answer or throws a ``CommandError``.
package protocol KazasuCommand: ParsableCommand {
    /// How programs use it. There is no default, so that no command is left out unnoticed.
    static var programAccess: CommandAccess { get }
    var common: CommonOptions { get }
    func execute(_ context: Context) throws
}

extension KazasuCommand {
    package func run() throws {
        let context = Context(
            json: common.json, verbosity: common.quiet ? -1 : common.verbose ? 1 : 0,
            redaction: Redaction(isOn: common.redact), cancellation: Interrupt.token,
            command: Self.configuration.commandName)
        do {
            try execute(context)
        } catch {
            let error = CommandError.of(error)
            // The command's own failure sets the exit status; the late one is still reported.
            if let late = context.late.first { Output.message(late, json: context.json) }
            // A reader that is released in the middle of an exchange may fail in any way.
            let failures: [ExitStatus] = [.noReader, .interruptedReading, .noCard]
            if let failure = error as? CommandError, failures.contains(failure.status), Interrupt.token.isCancelled {
                throw CommandError.cancelled(": " + failure.message)
            }
            throw error
        }
        if let late = context.late.first { throw late }
    }
}

/// The program, for the main file of each executable.
package enum Program {
    /// The version of the program and of its libraries.
    package static var version: String { RootCommand.version }

    private static let installed = Mutex<(commands: [any ParsableCommand.Type], groups: [HelpGroup])>(([], []))

    /// The commands that both programs have, in the order of the help.
    package static var own: [any ParsableCommand.Type] { installed.withLock { $0.commands } }

    /// The commands in the program's own help.
    static var groups: [HelpGroup] { installed.withLock { $0.groups } }

    /// Sets the commands, once and before a command line is parsed. They are in a module of their own, which those of the
    /// services need not wait for.
    package static func install(_ commands: [any ParsableCommand.Type], _ groups: [HelpGroup]) {
        installed.withLock { $0 = (commands, groups) }
    }

    /// The command of these words, as in `tag info`.
    ///
    /// - Parameter service: what the program has beside its own commands.
    package static func command(_ words: [String], _ service: ServiceExtension) -> (any KazasuCommand.Type)? {
        var command: any ParsableCommand.Type = RootCommand.self
        var rest = words[...]
        if let first = words.first.flatMap(ServiceCommand.init), let own = service.commands[first] {
            command = own
            rest = rest.dropFirst()
        }
        for word in rest {
            let below = command.configuration.subcommands
            guard let next = below.first(where: { $0.configuration.commandName == word }) else { return nil }
            command = next
        }
        return command as? any KazasuCommand.Type
    }

    /// How programs use the command of these words.
    package static func access(_ words: [String]) -> CommandAccess {
        let service = ServiceExtension.current ?? ServiceExtension(commands: [:])
        return command(words, service)?.programAccess ?? .none(because: "this program has no such command")
    }

    /// All commands that do something themselves, in the order of the help, with their words, as in `tag info`.
    ///
    /// - Parameter service: what the program has beside its own commands.
    package static func commands(_ service: ServiceExtension) -> [(words: [String], command: any ParsableCommand.Type)]
    {
        let services = ServiceCommand.allCases.compactMap { service.commands[$0] }
        return (own + services).flatMap { leaves($0, []) }
    }

    private static func leaves(
        _ command: any ParsableCommand.Type, _ words: [String]
    ) -> [(words: [String], command: any ParsableCommand.Type)] {
        let configuration = command.configuration
        let words = words + [configuration.commandName]
        let below = configuration.subcommands.flatMap { leaves($0, words) }
        // `passport` reads one, and has commands of its own as well.
        return below.isEmpty || command is any KazasuCommand.Type ? [(words, command)] + below : below
    }

    /// Runs the command line of the process and ends it with the documented exit status.
    ///
    /// - Parameter service: the commands of `kazasud`; without them, `kazasu` leaves their command lines to it.
    package static func start(_ service: ServiceExtension? = nil) -> Never {
        StandardStreams.openClosedOnes()
        ServiceExtension.current = service
        guard let arguments = ProgramArguments.given else {
            RootCommand.tell(noArguments)
            exit(noArguments.status.rawValue)
        }
        let words = ProgramHelp.usual(Language.removed(from: arguments))
        if service == nil, ServiceProgram.isNeeded(words) {
            do throws(CommandError) {
                try ServiceProgram.become(arguments)
            } catch  where CompletionRequest.words(arguments) == nil {
                RootCommand.tell(error)
                exit(error.status.rawValue)
            } catch {
                // What it has is not completed.
            }
        }
        // Its manager thread asks for a priority that only root may have, and tells the system log that it did not get it.
        SystemEnvironment.add("LIBDISPATCH_LOG", "NO")
        Interrupt.install()
        exit(RootCommand.run(arguments))
    }

    private static var noArguments: CommandError {
        CommandError(.argumentsUnknown)
    }
}
