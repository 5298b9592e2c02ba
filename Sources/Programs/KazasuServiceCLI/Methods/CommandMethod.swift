// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Kazasu
import KazasuCLI
import Synchronization
import Server

/// A method of `serve` and `rpc` that is a command of the program: its parameters are the command's options, its result
/// is the command's document.
struct CommandMethod: Sendable {
    /// What a command works with.
    enum Subject: Sendable {
        /// A reader, and the card on it.
        case card
        /// A dump that comes with the request.
        case dump
        case nothing
    }

    /// An option or argument of the command that is a parameter of the method.
    struct Option: Sendable {
        let parameter: ServiceMethod.Parameter
        /// As in `--blocks`; `nil` for the argument.
        let name: String?
        /// Whether the option is repeated for several values, which are else separated by commas.
        let isRepeating: Bool
        /// Whether only the process that started Kazasu may give it: it names a file or a secret, or writes one.
        let isLocal: Bool
    }

    let name: String
    /// As in `tag info`.
    let words: [String]
    /// `nil` for a method that only the process that started Kazasu may call: it names a key.
    let route: ServiceMethod.Route?
    let permission: ServiceMethod.Permission?
    let subject: Subject
    /// The parameter that is the command's argument.
    let argument: String?
    /// What is always on the command line.
    let fixed: [String]
    /// The option that stands in for one that names a file, and so is required.
    let required: String?
    /// As in `balance`; `nil` if the command prints text.
    let schema: String?

    init(
        _ name: String, _ words: String, _ verb: ServiceMethod.Route.Verb, _ path: String?,
        _ subject: Subject, needs permission: ServiceMethod.Permission? = nil, argument: String? = nil,
        fixed: [String] = [], required: String? = nil, schema: String?
    ) {
        self.name = name
        self.words = words.split(separator: " ").map(String.init)
        route = path.map { ServiceMethod.Route(verb, "/v1/" + $0) }
        (self.permission, self.subject, self.argument) = (permission, subject, argument)
        (self.fixed, self.required, self.schema) = (fixed, required, schema)
    }

    /// The methods. A new command is one line here.
    static let all = [
        CommandMethod("readers.list", "readers", .get, "readers", .nothing, schema: "readers"),
        CommandMethod("card.poll", "poll", .get, "poll", .card, schema: "poll"),
        CommandMethod("card.scan", "scan", .get, "scan", .card, schema: "scan"),
        CommandMethod("card.dump", "dump", .get, "dump", .card, schema: "dump"),
        CommandMethod("card.balance", "balance", .get, "balance", .card, schema: "balance"),
        CommandMethod("card.history", "history", .get, "history", .card, schema: "history"),
        CommandMethod("card.read", "read", .get, "read", .card, argument: "service", schema: "read"),
        CommandMethod("card.apdu", "apdu", .post, "apdu", .card, needs: .raw, argument: "commands", schema: "apdu"),
        CommandMethod(
            "card.felica", "felica", .post, "felica", .card, needs: .raw, argument: "commands", schema: "felica"),
        CommandMethod("card.license", "license", .get, "license", .card, schema: "license"),
        CommandMethod("card.mynumber", "mynumber", .get, "mynumber", .card, schema: "mynumber"),
        CommandMethod("tag.info", "tag info", .get, "tag/info", .card, schema: "tag"),
        CommandMethod("tag.read", "tag read", .get, "tag/read", .card, schema: "tagMessage"),
        CommandMethod("tag.pages", "tag pages", .get, "tag/pages", .card, schema: "tagPages"),
        CommandMethod(
            "tag.write", "tag write", .post, "tag/write", .card, needs: .write, argument: "data", schema: "tagWrite"),
        CommandMethod("lite.info", "lite info", .get, nil, .card, schema: "liteInfo"),
        CommandMethod("lite.verify", "lite verify", .get, nil, .card, schema: "lite"),
        CommandMethod("decode", "decode", .post, "decode", .dump, fixed: ["--", "-"], schema: "decode"),
        CommandMethod(
            "convert", "convert", .post, "convert", .dump, fixed: ["--", "-"], required: "to", schema: nil),
        CommandMethod("ledger.list", "ledger list", .get, "ledger/records", .nothing, needs: .ledger, schema: "ledger"),
        CommandMethod("ledger.sum", "ledger sum", .get, "ledger/sum", .nothing, needs: .ledger, schema: "ledgerSum"),
        CommandMethod(
            "ledger.gaps", "ledger gaps", .get, "ledger/gaps", .nothing, needs: .ledger, schema: "ledgerGaps"),
        CommandMethod("ledger.report", "ledger report", .get, "ledger/report", .nothing, needs: .ledger, schema: nil),
    ]

    /// Whether the command prints text instead of a document.
    var printsText: Bool { schema == nil }

    // MARK: Parameters

    /// Options that are for people, or that the server decides.
    private static let excluded: Set<String> = [
        "json", "redact", "verbose", "quiet", "lang", "color", "help", "version", "format", "bom", "header",
        "hex-separator", "trace", "wait-reader", "allow-last-try", "use-last-try", "watch", "reader", "timeout", "ids",
        "no-cache",
    ]
    /// Options with files that are read.
    private static let readableFiles: Set<String> = ["ca", "stations", "ledger"]
    /// Flags that write a file, or stand in for a question that a client of the network must answer exactly.
    private static let localFlags: Set<String> = ["face", "keep", "yes", "retry"]
    private static let numbers: Set<String> = ["seconds", "ms"]
    /// How values of these names are written, as documents tell it; people may write them in other ways, too.
    private static let patterns = [
        "code": "^[0-9A-F]{4}$", "codes": "^[0-9A-F]{4}$", "service": "^[0-9A-F]{4}$",
        "numbers": "^[0-9]{1,5}(-[0-9]{1,5})?$", "pages": "^[0-9A-F]{1,3}(-[0-9A-F]{1,3})?$", "page": "^[0-9A-F]{1,3}$",
        "date": "^[0-9]{4}-[0-9]{2}-[0-9]{2}$", "month": "^([0-9]{4}-[0-9]{2}|this|last)$",
        "year": "^[0-9]{4}$", "hex": "^([0-9A-F]{2})+$",
        "data": "^([0-9A-F]{8})+$", "a,b": "^[ab]$", "source": "^(env|file|fd):.+$",
    ]

    private static let cache = Mutex<[String: [Option]]>([:])

    /// The command; `nil` if the program has none of that name.
    var command: (any KazasuCommand.Type)? { Program.command(words, serviceExtension) }

    /// The options that are parameters, in the order of their names, required ones first.
    var options: [Option] {
        if let options = Self.cache.withLock({ $0[name] }) { return options }
        let options = listedOptions
        Self.cache.withLock { $0[name] = options }
        return options
    }

    private var listedOptions: [Option] {
        guard let command, let tree = CommandTree(command) else { return [] }
        var options: [Option] = []
        for (name, option) in tree.options where option.isShown {
            if name.hasPrefix("<") {
                guard let argument else { continue }
                options.append(
                    Option(
                        parameter: ServiceMethod.Parameter(
                            argument, option.isRepeating ? .list : .text, isRequired: option.isRequired,
                            values: option.values, pattern: Self.patterns[option.valueName ?? ""],
                            Self.words(option)),
                        name: nil, isRepeating: true, isLocal: false))
                continue
            }
            guard name.hasPrefix("--") else { continue }
            let plain = String(name.dropFirst(2))
            guard !Self.excluded.contains(plain), !option.namesFile || Self.readableFiles.contains(plain) else {
                continue
            }
            let valueName = option.valueName ?? ""
            let kind: ServiceMethod.Parameter.Kind =
                if !option.takesValue {
                    .flag
                } else if option.isRepeating || option.takesList {
                    .list
                } else if valueName == "count" {
                    .integer
                } else if Self.numbers.contains(valueName) {
                    .number
                } else {
                    .text
                }
            options.append(
                Option(
                    parameter: ServiceMethod.Parameter(
                        Self.camelCase(plain), kind, isRequired: option.isRequired || plain == required,
                        values: option.values, pattern: plain == "language" ? nil : Self.patterns[valueName],
                        Self.words(option)),
                    name: name, isRepeating: option.isRepeating,
                    isLocal: option.namesFile || option.namesSecret || Self.localFlags.contains(plain)))
        }
        return options.sorted {
            ($0.parameter.isRequired ? 0 : 1, $0.parameter.name) < ($1.parameter.isRequired ? 0 : 1, $1.parameter.name)
        }
    }

    /// Help exists in the language of the process.
    private static func words(_ option: CommandTree.Option) -> LocalizedText {
        let help = option.help ?? ""
        return LocalizedText(help, help)
    }

    /// As in `answerTimeout` for `answer-timeout`.
    private static func camelCase(_ name: String) -> String {
        let parts = name.split(separator: "-")
        return parts.prefix(1).joined()
            + parts.dropFirst().map { $0.prefix(1).uppercased() + $0.dropFirst() }.joined()
    }

    /// The methods as the process that started Kazasu sees them, and as clients of the network do.
    static let ofProcess = all.map { $0.method(isLocal: true) } + [ReaderFeedback.method]
    static let ofNetwork =
        all.filter { $0.route != nil }.map { $0.method(isLocal: false) } + [ReaderFeedback.method]

    /// The method as others see it.
    ///
    /// - Parameter isLocal: whether for the process that started Kazasu.
    func method(isLocal: Bool) -> ServiceMethod {
        ServiceMethod(
            name, route, permission: permission, parameters: parameters(isLocal: isLocal),
            schema: schema.map { "kazasu.\($0)/1" },
            computes: subject != .card, abstract)
    }

    private var abstract: LocalizedText {
        let words = command?.configuration.abstract ?? ""
        return LocalizedText(words, words)
    }

    private func parameters(isLocal: Bool) -> [ServiceMethod.Parameter] {
        var parameters: [ServiceMethod.Parameter] = []
        switch subject {
        case .card: parameters += CommandParameters.ofReaders
        case .dump: parameters += CommandParameters.ofDumps
        case .nothing: break
        }
        parameters += options.filter { isLocal || !$0.isLocal || $0.name == "--stations" }.map(\.parameter)
        if permission == .write { parameters.append(CommandParameters.confirm(isRequired: !isLocal)) }
        return parameters
    }
}
