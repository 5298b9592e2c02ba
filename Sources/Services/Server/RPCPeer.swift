// SPDX-License-Identifier: Apache-2.0

package import CardModel
internal import ReaderCore
internal import Synchronization

/// An error of JSON-RPC 2.0.
package struct RPCError: Error, Equatable, Sendable {
    package var code: Int
    package var message: String
    package var data: JSONValue?

    package init(_ code: Int, _ message: String, data: JSONValue? = nil) {
        (self.code, self.message, self.data) = (code, message, data)
    }

    package static let parseError = RPCError(-32700, "Parse error")
    package static let invalidRequest = RPCError(-32600, "Invalid Request")
    package static let methodNotFound = RPCError(-32601, "Method not found")
    package static let invalidParams = RPCError(-32602, "Invalid params")
    /// The request was cancelled by `$/cancel`, as in the Language Server Protocol.
    package static let cancelled = RPCError(-32800, "Request cancelled")

    /// The member `error` of a response.
    package var json: JSONValue {
        var members = JSONObject([("code", .int(code)), ("message", .string(message))])
        if let data { members["data"] = data }
        return .object(members)
    }
}

/// A request or notification that a method answers.
package struct RPCCall: Sendable {
    /// `nil` for a notification, whose result is dropped.
    package let id: JSONValue?
    /// An array or an object; an empty object if the request has none.
    package let params: JSONValue
    /// Sends a notification to the other side.
    package let notify: @Sendable (_ method: String, _ params: JSONValue) -> Void
}

/// One side of a JSON-RPC 2.0 connection: answers requests, several at a time, and sends notifications.
///
/// Source: the JSON-RPC 2.0 specification of 2013-01-04.
package final class RPCPeer: Sendable {
    /// Answers a request. Cancelled when the other side cancels the request or goes away.
    package typealias Method = @Sendable (RPCCall) async throws(RPCError) -> JSONValue

    /// A request that was received.
    private struct Request: Sendable {
        let number: Int
        let method: Method
        let call: RPCCall
        let done: @Sendable (JSONValue?) -> Void
    }

    /// A request that is not answered.
    private struct Open: Sendable {
        let id: JSONValue?
        var isCancelled = false
        /// `nil` while it waits for others to end, and while it begins.
        var task: Task<Void, Never>?
    }

    private struct State: Sendable {
        /// Whether nobody is left to read answers.
        var isOver = false
        var next = 0
        /// Those that were received, by their numbers.
        var open: [Int: Open] = [:]
        /// How many of them run.
        var running = 0
        /// Bytes of messages that are not answered.
        var bytes = 0

        /// Whether a request is to be answered by nothing but its end.
        func isCancelled(_ number: Int) -> Bool { isOver || open[number]?.isCancelled ?? false }

        /// Makes room for a message, if there is some. One that is larger than all of it comes alone.
        mutating func take(_ size: Int) -> Bool {
            guard bytes == 0 || bytes + size <= RPCPeer.mostBytes else { return false }
            bytes += size
            return true
        }
    }

    /// How many requests may run at once, and be received in all; ``receive(_:)`` waits for one to end before it takes more.
    private static let (mostRequests, mostReceived) = (64, 1_024)
    /// How many bytes of messages may wait for their answers.
    private static let mostBytes = 32 << 20
    /// The notification that cancels a request.
    private static let cancel = "$/cancel"

    private let methods: [String: Method]
    /// What answers a request while so many others are open; `nil` if it waits for them.
    private let bound: (count: Int, error: RPCError)?
    private let send: @Sendable (JSONValue) -> Void
    /// What is received and running; a message waits until there is room for it.
    private let state = Gate(State())
    private let requests: AsyncStream<Request>.Continuation
    /// Where requests go on when what they waited for is there: in order, so that answers of one reader do not overtake
    /// each other.
    private let executor = WorkExecutor(threads: 1)

    /// - Parameters:
    ///   - methods: by name.
    ///   - bound: how many requests may be open, and what answers further ones; `nil` if ``receive(_:)`` waits instead.
    ///   - ready: waits until further requests may begin.
    ///   - send: sends one message; called from any thread, one call at a time must be enough for a whole message.
    package init(
        methods: [String: Method], bound: (count: Int, error: RPCError)? = nil,
        ready: @escaping @Sendable () async -> Void = {}, send: @escaping @Sendable (JSONValue) -> Void
    ) {
        (self.methods, self.bound, self.send) = (methods, bound, send)
        let (requests, request) = AsyncStream.makeStream(of: Request.self)
        self.requests = request
        // One after the other, so that they begin in the order of their messages.
        Task(priority: .medium) { [weak self] in
            for await request in requests {
                await ready()
                await self?.begin(request)
            }
        }
    }

    deinit { requests.finish() }

    /// Sends a notification.
    package func notify(_ method: String, _ params: JSONValue) {
        send(["jsonrpc": "2.0", "method": .string(method), "params": params])
    }

    /// Takes a message, or a batch of several. Returns before they are answered, unless too many requests are running.
    package func receive(_ message: some Collection<UInt8> & Sendable) async {
        let size = message.count
        await state.wait { $0.take(size) ? () : nil }
        @Sendable func done(_ response: JSONValue?) {
            if let response { send(response) }
            state.withLock { $0.bytes -= size }
        }
        let value: JSONValue
        do throws(DocumentError) {
            value = try JSONValue(parsing: Array(message))
        } catch {
            return done(Self.response(nil, .failure(.parseError)))
        }
        guard case .array(let batch) = value else { return await start(value, done) }
        guard !batch.isEmpty else { return done(Self.response(nil, .failure(.invalidRequest))) }
        let responses = Responses(count: batch.count, done)
        for value in batch { await start(value, responses.add) }
    }

    /// Waits until every request is answered.
    package func finish() async { await state.wait { $0.open.isEmpty ? () : nil } }

    /// Cancels every request, and those that are still to come; nobody is left to read the answers.
    package func cancelAll() {
        let tasks = state.withLock { state in
            state.isOver = true
            return state.open.values.compactMap(\.task)
        }
        for task in tasks { task.cancel() }
    }

    // MARK: Requests

    /// Takes what a message asks for.
    ///
    /// - Parameter done: gets the response, `nil` if there is none.
    private func start(_ value: JSONValue, _ done: @escaping @Sendable (JSONValue?) -> Void) async {
        guard case .object(let message) = value, message["jsonrpc"] == "2.0",
            case .string(let name)? = message["method"], Self.isID(message["id"])
        else { return done(Self.response(nil, .failure(.invalidRequest))) }
        let params = message["params"] ?? .object(JSONObject())
        let id = message["id"]
        switch params {
        case .array, .object: break
        default: return done(Self.response(id, .failure(.invalidRequest)))
        }
        if name == Self.cancel {
            if case .object(let members) = params, let wanted = members["id"] { cancel(wanted) }
            return done(id.map { Self.response($0, .success(.null)) })
        }
        guard let method = methods[name] else {
            return done(id.map { Self.response($0, .failure(.methodNotFound)) })
        }
        if let bound, state.withLock({ $0.open.count }) >= bound.count {
            return done(id.map { Self.response($0, .failure(bound.error)) })
        }
        await state.wait { $0.open.count < Self.mostReceived ? () : nil }
        let call = RPCCall(id: id, params: params) { [weak self] in self?.notify($0, $1) }
        let number = state.withLock { state in
            state.next += 1
            state.open[state.next] = Open(id: id)
            return state.next
        }
        requests.yield(Request(number: number, method: method, call: call, done: done))
    }

    /// Begins a request, as soon as there is room for it.
    private func begin(_ request: Request) async {
        await state.wait { state -> Void? in
            guard state.running < Self.mostRequests else { return nil }
            state.running += 1
            return ()
        }
        let (number, call, done) = (request.number, request.call, request.done)
        let method = request.method
        // Up to its first wait at once: requests for one reader are answered in the order of their messages.
        let task = Task.immediate(executorPreference: executor) {
            let result: Result<JSONValue, RPCError>
            if state.withLock({ $0.isCancelled(number) }) {
                result = .failure(.cancelled)
            } else {
                do throws(RPCError) {
                    result = .success(try await method(call))
                } catch {
                    result = .failure(error)
                }
            }
            done(call.id.map { Self.response($0, result) })
            state.withLock { state in
                state.running -= 1
                state.open[number] = nil
            }
        }
        let isCancelled = state.withLock { state in
            state.open[number]?.task = task
            return state.isCancelled(number)
        }
        // It was cancelled while it began.
        if isCancelled { task.cancel() }
    }

    private func cancel(_ id: JSONValue) {
        let tasks = state.withLock { state in
            let wanted = state.open.filter { $0.value.id == id }
            for number in wanted.keys { state.open[number]?.isCancelled = true }
            return wanted.values.compactMap(\.task)
        }
        for task in tasks { task.cancel() }
    }

    // MARK: Responses

    private static func response(_ id: JSONValue?, _ result: Result<JSONValue, RPCError>) -> JSONValue {
        switch result {
        case .success(let value): ["jsonrpc": "2.0", "result": value, "id": id ?? .null]
        case .failure(let error): ["jsonrpc": "2.0", "error": error.json, "id": id ?? .null]
        }
    }

    /// Whether an id is a string, a number or null; no id makes a notification.
    private static func isID(_ id: JSONValue?) -> Bool {
        switch id {
        case nil, .null, .string, .integer, .number: true
        case .bool, .array, .object: false
        }
    }

    /// The responses of a batch, which are sent together.
    private final class Responses: Sendable {
        private let collected: Mutex<(missing: Int, responses: [JSONValue])>
        private let done: @Sendable (JSONValue?) -> Void

        init(count: Int, _ done: @escaping @Sendable (JSONValue?) -> Void) {
            collected = Mutex((count, []))
            self.done = done
        }

        func add(_ response: JSONValue?) {
            let whole = collected.withLock { collected -> [JSONValue]? in
                collected.missing -= 1
                if let response { collected.responses.append(response) }
                return collected.missing == 0 ? collected.responses : nil
            }
            // A batch of notifications is not answered.
            if let whole { done(whole.isEmpty ? nil : .array(whole)) }
        }
    }
}
