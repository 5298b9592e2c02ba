// SPDX-License-Identifier: Apache-2.0

import CommandDescription
import Kazasu
import KazasuCLI
import Synchronization
import Server

/// A method of `serve` and `rpc` that is a command of the program: its parameters are the command's options, its result
/// is the command's document.
struct CommandMethod: Sendable {
    /// An option or argument of the command that is a parameter of the method.
    struct Option: Sendable {
        let parameter: ServiceMethod.Parameter
        /// As in `--blocks`; `nil` for an argument.
        let name: String?
        /// Its place among the command's options; arguments are given in this order.
        let place: Int
        /// Whether the option is repeated for several values, which are else separated by commas.
        let isRepeating: Bool
        /// Whether only the process that started Kazasu may give it: it names a file or a secret, or writes one.
        let isLocal: Bool
    }

    /// What the command says about it.
    let declared: DeclaredMethod
    /// The words of the command, as in `tag info`.
    let words: [String]
    let command: any KazasuCommand.Type

    /// The methods, in the order of the commands.
    static let all = Program.commands(serviceExtension).flatMap { words, command -> [CommandMethod] in
        guard let command = command as? any KazasuCommand.Type else { return [] }
        return command.programAccess.methods.map { CommandMethod(declared: $0, words: words, command: command) }
    }

    var name: String { declared.name }
    /// As in `balance`; `nil` if the command prints text.
    var schema: String? { declared.schema }

    /// Where HTTP has it; `nil` for a method that only the process that started Kazasu may call.
    var route: ServiceMethod.Route? {
        switch declared.route {
        case .get(let path): ServiceMethod.Route(.get, "/v1/" + path)
        case .post(let path): ServiceMethod.Route(.post, "/v1/" + path)
        case .none: nil
        }
    }

    var permission: ServiceMethod.Permission? {
        switch declared.permission {
        case .raw: .raw
        case .write: .write
        case .ledger: .ledger
        case .ids: .ids
        case nil: nil
        }
    }

    /// Whether the command asks before it writes, and takes `--yes`.
    var asks: Bool { CommandSpec(command).arguments.contains { $0.name == "yes" } }

    /// Whether the command prints text instead of a document.
    var printsText: Bool { schema == nil }

    // MARK: Parameters

    /// How texts of these names are written, as documents tell it; people may write them in other ways, too.
    private static let patterns = [
        "hex": "^([0-9A-F]{2})+$", "data": "^([0-9A-F]{8})+$", "source": "^(env|file|fd):.+$",
    ]

    private static let cache = Mutex<[String: [Option]]>([:])

    /// The options that are parameters, required ones first, in the order of their names.
    var options: [Option] {
        if let options = Self.cache.withLock({ $0[name] }) { return options }
        let options = listedOptions
        Self.cache.withLock { $0[name] = options }
        return options
    }

    private var listedOptions: [Option] {
        var options: [Option] = []
        let arguments = CommandSpec(command).arguments
        let isAlone = arguments.count { $0.form == .positional } == 1
        for (place, option) in arguments.enumerated() where option.reach != .never && !option.isHidden {
            let isArgument = option.form == .positional
            if isArgument, declared.argument == nil { continue }
            if declared.omitted.contains(option.name) || declared.fixed.contains("--" + option.name) { continue }
            let name =
                !isArgument ? option.name.parameterName : isAlone ? declared.argument ?? "" : option.valueName
            let kind: ServiceMethod.Parameter.Kind =
                if !option.takesValue {
                    .flag
                } else if option.isRepeating {
                    .list
                } else {
                    switch option.kind {
                    case .text: .text
                    case .integer: .integer
                    case .number: .number
                    case .list: isArgument ? .text : .list
                    }
                }
            options.append(
                Option(
                    parameter: ServiceMethod.Parameter(
                        name, kind, isRequired: option.isRequired || declared.required.contains(name),
                        values: option.values, pattern: option.pattern ?? Self.patterns[option.valueName],
                        bounds: option.bounds, option.programWords),
                    name: isArgument ? nil : "--" + option.name, place: place,
                    isRepeating: isArgument || option.isRepeating, isLocal: option.reach != .network))
        }
        // What is required comes first, and of that the arguments.
        func rank(_ option: Option) -> (Int, Int, String) {
            let isArgument = option.name == nil
            return (
                !option.parameter.isRequired ? 2 : isArgument ? 0 : 1, isArgument && !isAlone ? option.place : .max,
                option.parameter.name
            )
        }
        return options.sorted { rank($0) < rank($1) }
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
            schema: schema.map { "kazasu.\($0)/1" }, otherSchema: declared.otherSchema.map { "kazasu.\($0)/1" },
            computes: declared.subject != .card, declared.words)
    }

    private func parameters(isLocal: Bool) -> [ServiceMethod.Parameter] {
        var parameters: [ServiceMethod.Parameter] = []
        switch declared.subject {
        case .card: parameters += CommandParameters.ofReaders(isLocal: isLocal)
        case .dump: parameters += CommandParameters.ofDumps
        case .nothing: break
        }
        parameters += options.filter { isLocal || !$0.isLocal || $0.name == "--stations" }.map(\.parameter)
        if permission == .write { parameters.append(CommandParameters.confirm(isRequired: !isLocal)) }
        return parameters
    }
}
