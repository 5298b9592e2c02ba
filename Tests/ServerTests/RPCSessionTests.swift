// SPDX-License-Identifier: Apache-2.0

import CardModel
import Synchronization
import Testing

@testable import Server

@Suite("Sessions of JSON-RPC")
struct RPCSessionTests {
    /// Taps to which a client subscribes slowly.
    private final class SlowTaps: ServiceTaps {
        let (begun, begin) = AsyncStream.makeStream(of: Void.self)
        let (opened, open) = AsyncStream.makeStream(of: Void.self)
        let isCancelled = Mutex(false)

        func subscribe(
            _ params: JSONObject, _ send: @escaping @Sendable (JSONValue) -> Void
        ) async throws(ServiceFailure) -> @Sendable () async -> Void {
            begin.yield()
            // Whatever cancels the request: what is subscribed must be cancelled.
            let opened = opened
            await Task { for await _ in opened { return } }.value
            return { self.isCancelled.withLock { $0 = true } }
        }
    }

    @Test("A subscription that begins after the client went away ends at once")
    func lateSubscription() async {
        let taps = SlowTaps()
        let (answers, answer) = AsyncStream.makeStream(of: JSONValue.self)
        let session = RPCSession(
            version: "1", methods: ScriptedMethods(), taps: taps, origin: .standardInput, language: .english
        ) { answer.yield($0) }
        await session.receive(Array(#"{"jsonrpc":"2.0","method":"taps.subscribe","id":1}"#.utf8))
        for await _ in taps.begun { break }
        await session.cancel()
        taps.open.yield()
        for await _ in answers { break }
        #expect(taps.isCancelled.withLock { $0 })
    }

    @Test("A client of the network has a bound, the process that started Kazasu has none", arguments: [true, false])
    func bound(isNetwork: Bool) async throws {
        let messages = Mutex<[JSONValue]>([])
        let session = RPCSession(
            version: "1", methods: ScriptedMethods(), taps: SlowTaps(),
            origin: isNetwork ? .network(allowed: []) : .standardInput, language: .english
        ) { message in messages.withLock { $0.append(message) } }
        for id in 0...RPCSession.mostOpen {
            await session.receive(Array(#"{"jsonrpc":"2.0","method":"card.poll","id":\#(id)}"#.utf8))
        }
        let answered = messages.withLock { $0 }
        #expect(answered.count == (isNetwork ? 1 : 0))
        if let answer = answered.first {
            let error = JSONCursor(answer)
            #expect(try error.required("id").integer() == RPCSession.mostOpen)
            #expect(try error.required("error").required("code").integer() == -32069)
            #expect(try error.required("error").required("data").required("reason").text() == "busy")
        }
        await session.cancel()
        await session.finish()
    }
}
