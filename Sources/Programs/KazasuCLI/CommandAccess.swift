// SPDX-License-Identifier: Apache-2.0

package import Kazasu

/// How programs use a command: as methods of `kazasu rpc`, `kazasu serve` and the Python package, or not at all.
package enum CommandAccess: Sendable {
    /// The methods, the most usual one first; a command whose options change its document is one for each document.
    case methods([DeclaredMethod])
    /// - Parameter because: why programs do without it.
    case none(because: StaticString)

    package static func method(_ method: DeclaredMethod) -> Self { .methods([method]) }

    /// The methods; empty if there are none.
    package var methods: [DeclaredMethod] {
        switch self {
        case .methods(let methods): methods
        case .none: []
        }
    }
}

/// What a command says about one of its methods; the parameters and their words follow from its options.
package struct DeclaredMethod: Sendable {
    /// What a command works with.
    package enum Subject: Sendable {
        /// A reader, and the card on it.
        case card
        /// A dump that comes with the request.
        case dump
        case nothing
    }

    /// Where HTTP has the method, by its path below `/v1/`.
    package enum Route: Sendable {
        case get(String)
        case post(String)
        /// Only the process that started Kazasu may call it.
        ///
        /// - Parameter because: why a client of the network may not.
        case none(because: StaticString)
    }

    /// What a server must have been started with.
    package enum Permission: Sendable {
        case raw, write, ledger, ids
    }

    /// As in `card.balance`.
    package let name: String
    package let route: Route
    package let permission: Permission?
    package let subject: Subject
    /// As in `balance`; `nil` if the command prints text.
    package let schema: String?
    /// That of the other one, where the work of a journal decides which of two it is.
    package let otherSchema: String?
    /// The parameter that is the command's argument; `nil` if it has none, or programs do not give it.
    package let argument: String?
    /// The parameters that must be given although the command can do without them.
    package let required: Set<String>
    /// The long options, without hyphens, that this method does not have as parameters.
    package let omitted: Set<String>
    /// What is always on the command line.
    package let fixed: [String]
    /// What is on it as well for clients of the network.
    package let networkFixed: [String]
    /// What it returns or does, for programs: API documents, the tables of pages and the Python package have these words.
    package let words: LocalizedText

    /// The function of the Python package: `balance` for `card.balance`, `tag_verify_url` for `tag.verifyUrl`, `readers`
    /// for `readers.list`. The package makes its functions by the same rule.
    package var pythonName: String {
        var parts = name.split(separator: ".").map { word in
            String(word.flatMap { $0.isUppercase ? ["_", Character($0.lowercased())] : [$0] })
        }
        if parts.first == "card" { parts.removeFirst() }
        if parts == ["readers", "list"] { parts.removeLast() }
        return parts.joined(separator: "_")
    }

    private init(
        _ name: String, _ route: Route, _ subject: Subject, needs permission: Permission?, argument: String?,
        required: Set<String>, omitted: Set<String>, fixed: [String], networkFixed: [String], schema: String?,
        otherSchema: String? = nil, _ words: LocalizedText
    ) {
        (self.name, self.route, self.subject, self.permission) = (name, route, subject, permission)
        (self.argument, self.required, self.omitted) = (argument, required, omitted)
        (self.fixed, self.networkFixed, self.words) = (fixed, networkFixed, words)
        (self.schema, self.otherSchema) = (schema, otherSchema)
    }

    /// A method that reads or writes a card.
    ///
    /// - Parameter other: the schema of the answer where it is not the first one.
    package static func card(
        _ name: String, _ route: Route, needs permission: Permission? = nil, argument: String? = nil,
        required: Set<String> = [], omitting omitted: Set<String> = [], fixed: [String] = [],
        networkFixed: [String] = [], schema: String, or other: String? = nil, _ words: LocalizedText
    ) -> DeclaredMethod {
        DeclaredMethod(
            name, route, .card, needs: permission, argument: argument, required: required, omitted: omitted,
            fixed: fixed, networkFixed: networkFixed, schema: schema, otherSchema: other, words)
    }

    /// A method that takes a dump as `-`.
    package static func dump(
        _ name: String, _ route: Route, needs permission: Permission? = nil, required: Set<String> = [],
        omitting omitted: Set<String> = [], schema: String?, _ words: LocalizedText
    ) -> DeclaredMethod {
        DeclaredMethod(
            name, route, .dump, needs: permission, argument: nil, required: required, omitted: omitted,
            fixed: ["--", "-"], networkFixed: [], schema: schema, words)
    }

    /// A method without a card and without a dump.
    package static func plain(
        _ name: String, _ route: Route, needs permission: Permission? = nil, argument: String? = nil,
        required: Set<String> = [], schema: String?, _ words: LocalizedText
    ) -> DeclaredMethod {
        DeclaredMethod(
            name, route, .nothing, needs: permission, argument: argument, required: required, omitted: [], fixed: [],
            networkFixed: [], schema: schema, words)
    }
}
