// SPDX-License-Identifier: Apache-2.0

package import CardModel
package import Kazasu

/// One method of `serve` and `rpc`. HTTP routes, JSON-RPC methods, OpenAPI, OpenRPC and the reference page follow from it.
package struct ServiceMethod: Sendable {
    /// What a server must have been started with.
    package enum Permission: String, CaseIterable, Sendable {
        case raw, write, ledger, feedback, ids
    }

    /// Where HTTP has the method.
    package struct Route: Sendable {
        package enum Verb: String, Sendable {
            case get = "GET"
            case post = "POST"
        }

        package var verb: Verb
        /// As in `/v1/tag/info`.
        package var path: String

        package init(_ verb: Verb, _ path: String) { (self.verb, self.path) = (verb, path) }
    }

    package struct Parameter: Sendable {
        package enum Kind: Sendable {
            case text, integer, number, flag
            /// Separated by commas in a query, an array in JSON.
            case list
            /// An object of names by keys, or where they are: `file:PATH`.
            case names
        }

        /// The long option in camelCase.
        package var name: String
        package var kind: Kind
        package var isRequired: Bool
        /// The values that it may have; empty if there is no such list.
        package var values: [String]
        /// A regular expression that every value of a list, or the text, matches; `nil` if any will do.
        package var pattern: String?
        /// What an integer may be; `nil` for any.
        package var bounds: ClosedRange<Int>?
        package var words: LocalizedText

        package init(
            _ name: String, _ kind: Kind, isRequired: Bool = false, values: [String] = [], pattern: String? = nil,
            bounds: ClosedRange<Int>? = nil, _ words: LocalizedText
        ) {
            (self.name, self.kind, self.isRequired, self.values) = (name, kind, isRequired, values)
            (self.pattern, self.bounds, self.words) = (pattern, bounds, words)
        }
    }

    /// The JSON-RPC method, as in `card.balance`.
    package var name: String
    /// `nil` for a method that only RPC has.
    package var route: Route?
    /// `nil` if everybody may call it.
    package var permission: Permission?
    /// The schema of the result, as in `kazasu.balance/1`; `nil` if the result has no schema of its own.
    package var schema: String?
    /// The schema of a result that is another one.
    package var otherSchema: String?
    /// Whether it computes, with what the client sent or the server has stored, instead of waiting for a card.
    package var computes: Bool
    // Made when somebody asks, since they come from the options and the help of a command.
    private let listed: @Sendable () -> [Parameter]
    private let described: @Sendable () -> LocalizedText

    package var parameters: [Parameter] { listed() }
    package var words: LocalizedText { described() }

    package init(
        _ name: String, _ route: Route? = nil, permission: Permission? = nil,
        parameters: @autoclosure @escaping @Sendable () -> [Parameter] = [], schema: String? = nil,
        otherSchema: String? = nil, computes: Bool = false,
        _ words: @autoclosure @escaping @Sendable () -> LocalizedText
    ) {
        (self.name, self.route, self.permission, self.schema) = (name, route, permission, schema)
        (self.otherSchema, self.computes) = (otherSchema, computes)
        (listed, described) = (parameters, words)
    }
}

/// A request for a method.
package struct ServiceRequest: Sendable {
    /// Where a request comes from, which decides what it may name.
    package enum Origin: Sendable {
        /// The process that started Kazasu: may name files, and PINs by reference.
        case standardInput
        /// HTTP or a WebSocket: may name no file of this computer and no PIN, and calls what the server allows.
        case network(allowed: Set<ServiceMethod.Permission>)
    }

    package var params: JSONObject
    package var origin: Origin
    /// Reports how much is done, which grows, and of how much, if that is known; called from any thread.
    package var progress: @Sendable (_ done: Int, _ total: Int?) -> Void

    package init(
        _ params: JSONObject, from origin: Origin,
        progress: @escaping @Sendable (_ done: Int, _ total: Int?) -> Void = { _, _ in }
    ) {
        (self.params, self.origin, self.progress) = (params, origin, progress)
    }
}

/// Why a request was not answered.
package enum ServiceFailure: Error, Sendable {
    case unknownMethod
    /// The parameters are wrong. The document is a `kazasu.error/1`.
    case badParameters(JSONObject)
    /// The server was not started with this.
    case notAllowed(ServiceMethod.Permission)
    case cancelled
    /// The command failed with this exit status. The document is a `kazasu.error/1`, with `partial` if something was read.
    case failed(ExitStatus, JSONObject)
}

/// Answers requests: the commands of the program on readers that many clients share.
package protocol ServiceMethods: Sendable {
    var methods: [ServiceMethod] { get }

    /// Answers a request. Cancelling the task cancels what runs on the reader.
    func call(_ name: String, _ request: ServiceRequest) async throws(ServiceFailure) -> JSONValue
}
