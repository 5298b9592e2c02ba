// SPDX-License-Identifier: Apache-2.0

package import CommandDescription
import Glibc
import Kazasu
import Synchronization

/// The commands that run for long or store something.
///
/// They need libraries that take longer to load than `kazasu --version` runs. So they are in a second
/// program, `kazasud`, which has every command of `kazasu` as well; `kazasu` replaces itself by it when needed.
package enum ServiceCommand: String, CaseIterable {
    case watch, ledger, outbox, collect, serve, rpc, bridge

    /// The line in the list of commands.
    package var abstract: String {
        switch self {
        case .watch: tr("Report cards placed on or removed from readers.", "カードが置かれた・離れたときに知らせる（終了するまで）。")
        case .serve: tr("Readers and cards for web pages and programs.", "Web ページやプログラムからカードを使えるようにする。")
        case .ledger:
            tr("Journeys and payments kept so far: list, sum, export.", "保存した履歴の一覧・集計・書き出し。")
        case .outbox: tr("Events that 'watch' has stored.", "watch が保存したイベントを調べる。")
        case .collect: tr("Collect the events of many sites.", "複数拠点のイベントを集める。")
        case .rpc: tr("Answer JSON-RPC on standard input and output.", "標準入出力で JSON-RPC に答える（ほかのプログラム用）。")
        case .bridge: tr("Offer a reader to PC/SC programs.", "リーダーを PC/SC プログラムから使えるようにする。")
        }
    }

    /// The commands of the ledger, which people try without its name. They are listed here because only `kazasud` has them.
    package static let ledgerCommands = [
        "list", "sum", "gaps", "cards", "import", "export", "report", "name", "link", "redecode", "forget", "undo",
        "backup", "merge",
    ]

    /// Stands in for the command where `kazasud` has the real one.
    var placeholder: any ParsableCommand.Type {
        switch self {
        case .watch: Placeholder.Watch.self
        case .serve: Placeholder.Serve.self
        case .ledger: Placeholder.Ledger.self
        case .outbox: Placeholder.Outbox.self
        case .collect: Placeholder.Collect.self
        case .rpc: Placeholder.RPC.self
        case .bridge: Placeholder.Bridge.self
        }
    }
}

/// What `kazasud` adds to the program; empty in `kazasu`.
package struct ServiceExtension: Sendable {
    /// The commands that replace the placeholders.
    package var commands: [ServiceCommand: any ParsableCommand.Type]
    /// Opens the ledger of `--keep`.
    package var keeper: OpenKeeper?

    /// Opens the ledger of a file, or the usual one for `nil`.
    package typealias OpenKeeper = @Sendable (_ path: String?, Context) throws(CommandError) -> any HistoryKeeper

    package init(commands: [ServiceCommand: any ParsableCommand.Type], keeper: OpenKeeper? = nil) {
        self.commands = commands
        self.keeper = keeper
    }

    private static let installed = Mutex<ServiceExtension?>(nil)

    /// The extension of this process; set once, before the command line is parsed.
    package static var current: ServiceExtension? {
        get { installed.withLock { $0 } }
        set { installed.withLock { $0 = newValue } }
    }

    /// The commands of this process, in the order of the help.
    package static var commands: [any ParsableCommand.Type] {
        ServiceCommand.allCases.map { current?.commands[$0] ?? $0.placeholder }
    }
}

/// The second program.
enum ServiceProgram {
    /// Its name, beside `kazasu` or in `../libexec/kazasu`.
    package static let name = "kazasud"

    /// Whether this command line is for it: one of its commands, its help or completion, or a command that keeps what it
    /// read.
    ///
    /// - Parameter arguments: without `--lang`.
    static func isNeeded(_ arguments: [String]) -> Bool {
        let words = CompletionRequest.words(arguments) ?? arguments[...]
        guard let first = words.first(where: { $0 != "help" }) else { return false }
        return ServiceCommand(rawValue: first) != nil || words.prefix { $0 != "--" }.contains("--keep")
    }

    /// Replaces this process by it. Called before signals are handled, since their mask would be inherited.
    ///
    /// - Throws: ``CommandError`` when it is not installed.
    package static func become(_ arguments: [String]) throws(CommandError) -> Never {
        let folder = OwnProgram.folder ?? "."
        for candidate in ["\(folder)/\(name)", "\(folder)/../libexec/kazasu/\(name)"] {
            var words = (["kazasu"] + arguments).map { strdup($0) } + [nil]
            execv(candidate, &words)
            for word in words { free(word) }
        }
        throw isMissing
    }

    /// It is not installed.
    static var isMissing: CommandError {
        CommandError(.serviceMissing, values: [name])
    }
}

/// Commands that exist in `kazasu` so that its help, completions and suggestions name them.
private enum Placeholder {
    struct Watch: ParsableCommand {
        static let configuration = ServiceCommand.watch.configuration
    }
    struct Serve: ParsableCommand {
        static let configuration = ServiceCommand.serve.configuration
    }
    struct Ledger: ParsableCommand {
        static let configuration = ServiceCommand.ledger.configuration
    }
    package struct Outbox: ParsableCommand {
        static let configuration = ServiceCommand.outbox.configuration
    }
    struct Bridge: ParsableCommand {
        static let configuration = ServiceCommand.bridge.configuration
    }
    struct Collect: ParsableCommand {
        static let configuration = ServiceCommand.collect.configuration
    }
    struct RPC: ParsableCommand {
        static let configuration = ServiceCommand.rpc.configuration
    }
}

extension ServiceCommand {
    fileprivate var configuration: CommandConfiguration {
        CommandConfiguration(commandName: rawValue, abstract: abstract)
    }
}
