// SPDX-License-Identifier: Apache-2.0

package import CardModel
internal import Kazasu
internal import Synchronization

/// The taps that clients of a server subscribe to.
package protocol ServiceTaps: Sendable {
    /// Sends each event.
    ///
    /// - Parameters:
    ///   - params: what the client wants; a server that decides that itself accepts none.
    ///   - send: called for one event after another.
    /// - Returns: what ends it; afterwards nothing is sent.
    func subscribe(
        _ params: JSONObject, _ send: @escaping @Sendable (JSONValue) -> Void
    ) async throws(ServiceFailure) -> @Sendable () async -> Void
}

/// One client that speaks JSON-RPC 2.0, on standard input and output or over a WebSocket.
package final class RPCSession: Sendable {
    /// The version of the protocol: methods and members may be added to it.
    package static let version = 1

    /// How many requests a client of the network may have open.
    package static let mostOpen = 64

    private let peer: RPCPeer
    private let subscription: Subscription

    /// - Parameters:
    ///   - version: the program's.
    ///   - language: the language of messages.
    ///   - ready: waits until the client takes the answers of further requests.
    ///   - send: sends one message; called from any thread.
    package init(
        version: String, methods: any ServiceMethods, taps: any ServiceTaps, origin: ServiceRequest.Origin,
        language: Language, ready: @escaping @Sendable () async -> Void = {},
        send: @escaping @Sendable (JSONValue) -> Void
    ) {
        let subscription = Subscription()
        self.subscription = subscription
        let server = Server(version: version, methods: methods, taps: taps, origin: origin, language: language)
        var table: [String: RPCPeer.Method] = [:]
        for method in methods.methods { table[method.name] = server.method(method.name) }
        let names = (table.keys + ["initialize", "taps.subscribe", "taps.unsubscribe"]).sorted()
        // Closures with `throws(RPCError)` and `await` crash the compiler (6.3.1); functions do not.
        @Sendable func initialize(_ call: RPCCall) async throws(RPCError) -> JSONValue {
            try await server.initialize(names)
        }
        @Sendable func subscribe(_ call: RPCCall) async throws(RPCError) -> JSONValue {
            try await server.subscribe(call, subscription)
        }
        @Sendable func unsubscribe(_ call: RPCCall) async throws(RPCError) -> JSONValue {
            await subscription.end()
            return .null
        }
        table["initialize"] = initialize
        table["taps.subscribe"] = subscribe
        table["taps.unsubscribe"] = unsubscribe
        var bound: (Int, RPCError)?
        if case .network = origin {
            bound = (
                Self.mostOpen, RPCError(.failed(.noReader, ServeError.tooManyRequests.document(in: language)), language)
            )
        }
        peer = RPCPeer(methods: table, bound: bound, ready: ready, send: send)
    }

    /// Takes a message.
    package func receive(_ message: some Collection<UInt8> & Sendable) async { await peer.receive(message) }

    /// Answers a message that is too long to be read.
    package func refuse() async { await peer.receive([]) }

    /// Waits until every request is answered, and ends the subscription.
    package func finish() async {
        await peer.finish()
        await subscription.end()
    }

    /// Cancels everything, and what still arrives: the client is gone, or the server ends.
    package func cancel() async {
        peer.cancelAll()
        await subscription.close()
    }

    // MARK: Answers

    /// What the requests of a client are answered with.
    private struct Server: Sendable {
        let version: String
        let methods: any ServiceMethods
        let taps: any ServiceTaps
        let origin: ServiceRequest.Origin
        let language: Language

        func method(_ name: String) -> RPCPeer.Method {
            @Sendable func answer(_ call: RPCCall) async throws(RPCError) -> JSONValue {
                let progress = RPCSession.progress(of: call)
                return try await self.answer(name, ServiceRequest(members(of: call), from: origin, progress: progress))
            }
            return answer
        }

        private func answer(_ name: String, _ request: ServiceRequest) async throws(RPCError) -> JSONValue {
            let result: Result<JSONValue, ServiceFailure>
            do throws(ServiceFailure) {
                result = .success(try await methods.call(name, request))
            } catch {
                result = .failure(error)
            }
            switch result {
            case .success(let value): return value
            case .failure(let failure): throw RPCError(failure, language)
            }
        }

        func initialize(_ names: [String]) async throws(RPCError) -> JSONValue {
            let list = try await answer("readers.list", ServiceRequest(JSONObject(), from: origin))
            var readers: JSONValue?
            if case .object(let document) = list { readers = document["readers"] }
            return [
                "name": "kazasu", "version": .string(version), "protocol": .int(RPCSession.version),
                "methods": .array(names.map { .string($0) }), "readers": readers ?? .array([]),
            ]
        }

        func subscribe(_ call: RPCCall, _ subscription: Subscription) async throws(RPCError) -> JSONValue {
            let params = try members(of: call)
            await subscription.end()
            var failure: ServiceFailure?
            do throws(ServiceFailure) {
                let new = try await taps.subscribe(params) { call.notify("tap", $0) }
                await subscription.begin(new)
            } catch {
                failure = error
            }
            if let failure { throw RPCError(failure, language) }
            return .null
        }

        /// The members of params; those by position have no names.
        private func members(of call: RPCCall) throws(RPCError) -> JSONObject {
            switch call.params {
            case .object(let members): return members
            case .array(let values) where values.isEmpty: return JSONObject()
            default: throw .invalidParams
            }
        }
    }

    /// Notifies the client of the progress of its request.
    private static func progress(of call: RPCCall) -> @Sendable (Int, Int?) -> Void {
        guard let id = call.id else { return { _, _ in } }
        return { done, total in
            call.notify("progress", ["id": id, "done": .int(done), "total": total.map { .int($0) } ?? .null])
        }
    }

    /// The subscription of a client, if it has one.
    private actor Subscription {
        private var cancel: (@Sendable () async -> Void)?
        private var isClosed = false

        /// Takes the place of the one before. Ends at once if the client is gone.
        ///
        /// - Parameter new: ends it.
        func begin(_ new: @escaping @Sendable () async -> Void) async {
            guard !isClosed else { return await new() }
            let old = cancel
            cancel = new
            await old?()
        }

        func end() async {
            let old = cancel
            cancel = nil
            await old?()
        }

        /// Ends it for good.
        func close() async {
            isClosed = true
            await end()
        }
    }
}

extension RPCError {
    /// The error that a client gets.
    init(_ failure: ServiceFailure, _ language: Language) {
        let document = failure.document(language)
        var message = ""
        if case .string(let text)? = document?["message"] { message = text }
        let data = document.map { JSONValue.object($0) }
        switch failure {
        case .unknownMethod: self = .methodNotFound
        case .cancelled: self = .cancelled
        case .badParameters: self.init(Self.invalidParams.code, message, data: data)
        case .notAllowed: self.init(FailureStatus.rpc(of: .refused), message, data: data)
        case .failed(let status, _): self.init(FailureStatus.rpc(of: status), message, data: data)
        }
    }
}

extension ServiceFailure {
    /// The document `kazasu.error/1`; `nil` for a failure that has none.
    package func document(_ language: Language) -> JSONObject? {
        switch self {
        case .unknownMethod, .cancelled: return nil
        case .badParameters(let document), .failed(_, let document): return document
        case .notAllowed(let permission):
            let message = LocalizedText(
                "the server does not allow '\(permission.rawValue)'", "サーバーは '\(permission.rawValue)' を許可していません")
            let hint = LocalizedText(
                "start it with --allow \(permission.rawValue)", "--allow \(permission.rawValue) を付けて起動してください")
            return JSONObject([
                ("schema", "kazasu.error/1"), ("status", .int(ExitStatus.refused.rawValue)), ("reason", "notAllowed"),
                ("message", .string(message[language])), ("hint", .string(hint[language])),
            ])
        }
    }
}
