// SPDX-License-Identifier: Apache-2.0

import Glibc
import Kazasu
import SharedReaders
import TestSupport
import Testing

@testable import PCSCBridge

@Suite("The bridge to PC/SC")
struct BridgeTests {
    @Test("A port whose queue is full is taken, and the bridge ends when it is told to")
    func fullQueue() async throws {
        let listener = LoopbackPort.makeSocket()
        defer { close(listener) }
        let port = try LoopbackPort.free()
        // As vpcd listens: Linux keeps one connection for it, and drops the next.
        try #require(LoopbackPort.withAddress(port) { bind(listener, $0, $1) } == 0 && listen(listener, 0) == 0)
        let other = LoopbackPort.makeSocket()
        defer { close(other) }
        try #require(LoopbackPort.withAddress(port) { connect(other, $0, $1) } == 0)
        let readers = SharedReaders()
        let (notices, notice) = AsyncStream.makeStream(of: Bridge.Notice.self)
        let card = TestFiles.root + "/Fixtures/iso7816/mynumber/card.json"
        let bridge = Bridge(Bridge.Settings(reader: "virtual:\(card)", port: port), on: readers) { notice.yield($0) }
        let running = Task { try await bridge.run() }
        var told = notices.makeAsyncIterator()
        #expect(await told.next() == .portTaken)
        running.cancel()
        try await running.value
        await readers.close()
    }
}
