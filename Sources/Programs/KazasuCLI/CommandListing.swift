// SPDX-License-Identifier: Apache-2.0

import CommandDescription
import Kazasu

/// All commands with their options, as JSON: man pages are made from it, and tests go over all commands by it.
enum CommandListing {
    package static var text: String {
        let listing = JSONValue.object(JSONObject([("command", command(RootCommand.self))]))
        return listing.compactText + "\n"
    }

    private static func command(_ type: any ParsableCommand.Type) -> JSONValue {
        let (configuration, spec) = (type.configuration, CommandSpec(type))
        return .object(
            JSONObject([
                ("commandName", .string(configuration.commandName)), ("abstract", .string(configuration.abstract)),
                ("discussion", .string(configuration.discussion)),
                ("runs", .bool(spec.runs)),
                ("arguments", .array(spec.arguments.filter { !$0.isHidden }.map(argument) + usual)),
                ("subcommands", .array(spec.subcommands.map(command))),
            ]))
    }

    /// What every command answers.
    private static var usual: [JSONValue] {
        HelpPage.usual.map { names, words in
            [
                "kind": "flag", "names": .array(names.map { .string($0) }), "abstract": .string(words),
                "isOptional": true, "isRepeating": false, "reach": "never", "values": [],
                "section": .string(CommonOptions.title),
            ]
        }
    }

    private static func argument(_ argument: ArgumentDefinition) -> JSONValue {
        var members: [(String, JSONValue)] = [
            ("kind", .string("\(argument.form)")), ("names", .array(argument.names.map { .string($0) })),
            ("abstract", .string(argument.words[Language.current])),
            ("isOptional", .bool(!argument.isRequired)), ("isRepeating", .bool(argument.isRepeating)),
            ("reach", .string("\(argument.reach)")), ("values", .array(argument.values.map { .string($0) })),
        ]
        if argument.form != .positional { members.append(("name", .string(argument.name))) }
        if argument.takesValue { members.append(("valueName", .string(argument.valueName))) }
        if let value = argument.defaultValue { members.append(("defaultValue", .string(value))) }
        if let section = argument.section { members.append(("section", .string(section))) }
        if case .default = argument.completion {} else { members.append(("isCompleted", true)) }
        return .object(JSONObject(members))
    }
}
