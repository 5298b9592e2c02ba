// SPDX-License-Identifier: Apache-2.0

import CardModel
import Synchronization
import TestSupport
import Testing

@testable import Server

@Suite("JSON-RPC 2.0")
struct RPCPeerTests {
    /// What a peer sent.
    private final class Sent: Sendable {
        let messages = Mutex<[JSONValue]>([])
        func add(_ message: JSONValue) { messages.withLock { $0.append(message) } }
    }

    /// The methods of the specification's examples.
    private static let methods: [String: RPCPeer.Method] = [
        "subtract": { call throws(RPCError) in
            switch call.params {
            case .array(let values):
                guard case .integer(let first)? = values.first, case .integer(let second)? = values.dropFirst().first
                else { throw .invalidParams }
                return .integer(first - second)
            case .object(let members):
                guard case .integer(let first)? = members["minuend"], case .integer(let second)? = members["subtrahend"]
                else { throw .invalidParams }
                return .integer(first - second)
            default: throw .invalidParams
            }
        },
        "sum": { call throws(RPCError) in
            guard case .array(let values) = call.params else { throw .invalidParams }
            var sum: Int64 = 0
            for case .integer(let value) in values { sum += value }
            return .integer(sum)
        },
        "update": { _ throws(RPCError) in .null },
        "notify_hello": { _ throws(RPCError) in .null },
        "get_data": { _ throws(RPCError) in ["hello", 5] },
        "wait": { call throws(RPCError) in
            call.notify("waiting", call.params)
            // Ends when the request is cancelled.
            for await _ in AsyncStream(Void.self, { _ in }) {}
            throw Task.isCancelled ? .cancelled : .invalidRequest
        },
    ]

    private static func answers(_ text: String) async -> [JSONValue] {
        let sent = Sent()
        let peer = RPCPeer(methods: methods, send: sent.add)
        await peer.receive(Array(text.utf8))
        await peer.finish()
        return sent.messages.withLock { $0 }
    }

    /// The examples of the specification, section 7: what is sent, and what comes back.
    static let examples: [(String, String?)] = [
        (
            #"{"jsonrpc": "2.0", "method": "subtract", "params": [42, 23], "id": 1}"#,
            #"{"jsonrpc":"2.0","result":19,"id":1}"#
        ),
        (
            #"{"jsonrpc": "2.0", "method": "subtract", "params": [23, 42], "id": 2}"#,
            #"{"jsonrpc":"2.0","result":-19,"id":2}"#
        ),
        (
            #"{"jsonrpc": "2.0", "method": "subtract", "params": {"subtrahend": 23, "minuend": 42}, "id": 3}"#,
            #"{"jsonrpc":"2.0","result":19,"id":3}"#
        ),
        (#"{"jsonrpc": "2.0", "method": "update", "params": [1,2,3,4,5]}"#, nil),
        (#"{"jsonrpc": "2.0", "method": "foobar"}"#, nil),
        (
            #"{"jsonrpc": "2.0", "method": "foobar", "id": "1"}"#,
            #"{"jsonrpc":"2.0","error":{"code":-32601,"message":"Method not found"},"id":"1"}"#
        ),
        (
            #"{"jsonrpc": "2.0", "method": "foobar, "params": "bar", "baz]"#,
            #"{"jsonrpc":"2.0","error":{"code":-32700,"message":"Parse error"},"id":null}"#
        ),
        (
            #"{"jsonrpc": "2.0", "method": 1, "params": "bar"}"#,
            #"{"jsonrpc":"2.0","error":{"code":-32600,"message":"Invalid Request"},"id":null}"#
        ),
        (
            #"[{"jsonrpc": "2.0", "method": "sum", "params": [1,2,4], "id": "1"}, {"jsonrpc": "2.0", "method""#,
            #"{"jsonrpc":"2.0","error":{"code":-32700,"message":"Parse error"},"id":null}"#
        ),
        (#"[]"#, #"{"jsonrpc":"2.0","error":{"code":-32600,"message":"Invalid Request"},"id":null}"#),
        (#"[1]"#, #"[{"jsonrpc":"2.0","error":{"code":-32600,"message":"Invalid Request"},"id":null}]"#),
        (
            #"[{"jsonrpc": "2.0", "method": "notify_sum", "params": [1,2,4]}, "#
                + #"{"jsonrpc": "2.0", "method": "notify_hello", "params": [7]}]"#,
            nil
        ),
        // Further rules of sections 4 and 5.
        (
            #"{"jsonrpc": "2.0", "method": "subtract", "params": 1, "id": 4}"#,
            #"{"jsonrpc":"2.0","error":{"code":-32600,"message":"Invalid Request"},"id":4}"#
        ),
        (
            #"{"jsonrpc": "2.0", "method": "subtract", "id": {}}"#,
            #"{"jsonrpc":"2.0","error":{"code":-32600,"message":"Invalid Request"},"id":null}"#
        ),
        (
            #"{"jsonrpc": "1.0", "method": "get_data", "id": 5}"#,
            #"{"jsonrpc":"2.0","error":{"code":-32600,"message":"Invalid Request"},"id":null}"#
        ),
        (
            #"{"jsonrpc": "2.0", "method": "get_data", "id": null}"#,
            #"{"jsonrpc":"2.0","result":["hello",5],"id":null}"#
        ),
        (
            #"{"jsonrpc": "2.0", "method": "subtract", "id": 6}"#,
            #"{"jsonrpc":"2.0","error":{"code":-32602,"message":"Invalid params"},"id":6}"#
        ),
    ]

    @Test("Answers the examples of the specification", arguments: examples)
    func specification(request: String, response: String?) async throws {
        let answers = await Self.answers(request)
        #expect(answers.map(\.compactText) == (response.map { [$0] } ?? []))
    }

    @Test("Answers a mixed batch in one array, whatever the order")
    func batch() async throws {
        let request = #"""
            [{"jsonrpc": "2.0", "method": "sum", "params": [1,2,4], "id": "1"},
             {"jsonrpc": "2.0", "method": "notify_hello", "params": [7]},
             {"jsonrpc": "2.0", "method": "subtract", "params": [42,23], "id": "2"},
             {"foo": "boo"},
             {"jsonrpc": "2.0", "method": "foo.get", "params": {"name": "myself"}, "id": "5"},
             {"jsonrpc": "2.0", "method": "get_data", "id": "9"}]
            """#
        let answers = await Self.answers(request)
        try #require(answers.count == 1)
        guard case .array(let responses) = answers[0] else { throw RPCError.invalidRequest }
        #expect(
            Set(responses.map(\.compactText)) == [
                #"{"jsonrpc":"2.0","result":7,"id":"1"}"#, #"{"jsonrpc":"2.0","result":19,"id":"2"}"#,
                #"{"jsonrpc":"2.0","error":{"code":-32600,"message":"Invalid Request"},"id":null}"#,
                #"{"jsonrpc":"2.0","error":{"code":-32601,"message":"Method not found"},"id":"5"}"#,
                #"{"jsonrpc":"2.0","result":["hello",5],"id":"9"}"#,
            ])
    }

    @Test("Cancels a request by its id, and answers it")
    func cancellation() async throws {
        let sent = Sent()
        let peer = RPCPeer(methods: Self.methods, send: sent.add)
        await peer.receive(Array(#"{"jsonrpc":"2.0","method":"wait","params":["x"],"id":7}"#.utf8))
        await peer.receive(Array(#"{"jsonrpc":"2.0","method":"$/cancel","params":{"id":7}}"#.utf8))
        await peer.finish()
        let messages = sent.messages.withLock { $0.map(\.compactText) }
        #expect(messages.last == #"{"jsonrpc":"2.0","error":{"code":-32800,"message":"Request cancelled"},"id":7}"#)
        #expect(messages.dropLast().allSatisfy { $0 == #"{"jsonrpc":"2.0","method":"waiting","params":["x"]}"# })
    }

    @Test("Of two members of one name, the first counts")
    func twice() async {
        let request = #"{"jsonrpc":"2.0","id":1,"id":2,"method":"sum","params":[1],"params":[2],"method":"get_data"}"#
        #expect(await Self.answers(request) == [["jsonrpc": "2.0", "result": 1, "id": 1]])
    }

    @Test("Answers are in the order in which the methods ended", arguments: 0..<20)
    func orderOfAnswers(round: Int) async {
        let sent = Sent()
        let (turns, turn) = AsyncStream.makeStream(of: CheckedContinuation<Void, Never>.self)
        let method: RPCPeer.Method = { _ throws(RPCError) in
            await withCheckedContinuation { _ = turn.yield($0) }
            return .null
        }
        let peer = RPCPeer(methods: ["turn": method], send: sent.add)
        for number in 0..<64 {
            await peer.receive(Array(#"{"jsonrpc":"2.0","id":\#(number),"method":"turn"}"#.utf8))
        }
        var waiting: [CheckedContinuation<Void, Never>] = []
        for await next in turns {
            waiting.append(next)
            if waiting.count == 64 { break }
        }
        // As a reader's thread does.
        for next in waiting { next.resume() }
        await peer.finish()
        let ids = sent.messages.withLock { $0 }.map { message -> JSONValue? in
            guard case .object(let members) = message else { return nil }
            return members["id"]
        }
        #expect(ids == (0..<64).map { .int($0) })
    }

    @Test("Runs no more requests at once than it may, and answers all")
    func manyRequests() async throws {
        let sent = Sent()
        let running = Mutex((now: 0, most: 0))
        let peer = RPCPeer(
            methods: [
                "count": { call throws(RPCError) in
                    running.withLock { running in
                        running.now += 1
                        running.most = max(running.most, running.now)
                    }
                    for _ in 0..<10 { await Task.yield() }
                    running.withLock { $0.now -= 1 }
                    return .null
                }
            ], send: sent.add)
        for id in 0..<1000 {
            await peer.receive(Array(#"{"jsonrpc":"2.0","method":"count","id":\#(id)}"#.utf8))
        }
        await peer.finish()
        #expect(sent.messages.withLock { $0.count } == 1000)
        #expect(running.withLock { $0.most } <= 64)
    }

    @Test("A client that asks too much at once is told so, until some of it is answered")
    func bounded() async {
        let sent = Sent()
        let busy = RPCError(-32069, "busy")
        let peer = RPCPeer(methods: Self.methods, bound: (64, busy), send: sent.add)
        func refused() -> [JSONValue] {
            sent.messages.withLock { messages in
                messages.compactMap { message -> JSONValue? in
                    guard case .object(let members) = message, members["error"] == busy.json else { return nil }
                    return members["id"]
                }
            }
        }
        for id in 0..<100 {
            await peer.receive(Array(#"{"jsonrpc":"2.0","method":"wait","id":\#(id)}"#.utf8))
        }
        #expect(refused() == (64..<100).map { .int($0) })
        // One that nobody waits for is not answered.
        await peer.receive(Array(#"{"jsonrpc":"2.0","method":"wait"}"#.utf8))
        #expect(refused().count == 36)
        // Cancellations do not count as requests.
        for id in 0..<64 {
            await peer.receive(Array(#"{"jsonrpc":"2.0","method":"$/cancel","params":{"id":\#(id)}}"#.utf8))
        }
        await peer.finish()
        await peer.receive(Array(#"{"jsonrpc":"2.0","method":"sum","params":[1,2],"id":"again"}"#.utf8))
        await peer.finish()
        #expect(refused().count == 36)
        #expect(sent.messages.withLock { $0.count } == 101)
    }

    @Test("A request behind many others can be cancelled, and so can those that run")
    func cancellationBehindOthers() async {
        let sent = Sent()
        let peer = RPCPeer(methods: Self.methods, send: sent.add)
        for id in 0..<100 {
            await peer.receive(Array(#"{"jsonrpc":"2.0","method":"wait","id":\#(id)}"#.utf8))
        }
        for id in (0..<100).reversed() {
            await peer.receive(Array(#"{"jsonrpc":"2.0","method":"$/cancel","params":{"id":\#(id)}}"#.utf8))
        }
        await peer.finish()
        let codes = sent.messages.withLock { messages in
            messages.compactMap { message -> JSONValue? in
                guard case .object(let members) = message, case .object(let error)? = members["error"] else {
                    return nil
                }
                return error["code"]
            }
        }
        #expect(codes == [JSONValue](repeating: -32_800, count: 100))
    }

    @Test("No request begins until the client takes answers; they can be cancelled meanwhile")
    func slowClient() async {
        let sent = Sent()
        let (opened, open) = AsyncStream.makeStream(of: Void.self)
        let isOpen = Mutex(false)
        let begun = Mutex(0)
        let peer = RPCPeer(
            methods: [
                "count": { _ throws(RPCError) in
                    begun.withLock { $0 += 1 }
                    return .bool(isOpen.withLock { $0 })
                }
            ],
            ready: {
                guard !isOpen.withLock({ $0 }) else { return }
                for await _ in opened { return }
            }, send: sent.add)
        for id in 0..<10 { await peer.receive(Array(#"{"jsonrpc":"2.0","method":"count","id":\#(id)}"#.utf8)) }
        await peer.receive(Array(#"{"jsonrpc":"2.0","method":"$/cancel","params":{"id":9}}"#.utf8))
        #expect(begun.withLock { $0 } == 0)
        isOpen.withLock { $0 = true }
        open.yield()
        await peer.finish()
        #expect(begun.withLock { $0 } == 9)
        let answers = sent.messages.withLock { $0.map(\.compactText) }
        #expect(answers.count == 10)
        #expect(answers.count { $0.contains("true") } == 9)
    }

    @Test("Messages that wait for their answers are limited by their size")
    func largeMessages() async {
        let sent = Sent()
        let (opened, open) = AsyncStream.makeStream(of: Void.self)
        let isOpen = Mutex(false)
        let peer = RPCPeer(
            methods: ["none": { _ throws(RPCError) in .null }],
            ready: {
                guard !isOpen.withLock({ $0 }) else { return }
                for await _ in opened { return }
            }, send: sent.add)
        let size = 8 << 20
        let taken = Mutex(0)
        let sending = Task {
            for id in 0..<6 {
                let text = #"{"jsonrpc":"2.0","method":"none","id":\#(id),"params":{"a":""#
                let rest = String(repeating: "a", count: size - text.utf8.count - 3) + #""}}"#
                await peer.receive(Array((text + rest).utf8))
                taken.withLock { $0 += 1 }
            }
        }
        while taken.withLock({ $0 }) < 4 { await Task.yield() }
        for _ in 0..<1000 { await Task.yield() }
        #expect(taken.withLock { $0 } == 4)
        isOpen.withLock { $0 = true }
        open.yield()
        await sending.value
        await peer.finish()
        #expect(sent.messages.withLock { $0.count } == 6)
    }

    @Test("After everything was cancelled, nothing begins any more")
    func afterTheEnd() async {
        let sent = Sent()
        let begun = Mutex(0)
        let peer = RPCPeer(
            methods: [
                "count": { _ throws(RPCError) in
                    begun.withLock { $0 += 1 }
                    return .null
                }
            ], send: sent.add)
        peer.cancelAll()
        await peer.receive(Array(#"{"jsonrpc":"2.0","method":"count","id":1}"#.utf8))
        await peer.finish()
        #expect(begun.withLock { $0 } == 0)
        let answers = sent.messages.withLock { $0.map(\.compactText) }
        #expect(answers == [#"{"jsonrpc":"2.0","error":{"code":-32800,"message":"Request cancelled"},"id":1}"#])
    }

    @Test("Survives any bytes", arguments: 0..<200)
    func anyBytes(seed: Int) async throws {
        var generator = SeededGenerator(seed: UInt64(seed))
        var text = Array(Self.examples[seed % Self.examples.count].0.utf8)
        for _ in 0..<Int.random(in: 1...8, using: &generator) {
            text[Int.random(in: text.indices, using: &generator)] = .random(in: 0...255, using: &generator)
        }
        for answer in await Self.answers(String(decoding: text, as: UTF8.self)) {
            switch answer {
            case .object(let members): #expect(members["jsonrpc"] == "2.0")
            case .array(let several): #expect(!several.isEmpty)
            default: Issue.record("\(answer)")
            }
        }
    }
}
