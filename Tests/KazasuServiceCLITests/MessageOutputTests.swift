// SPDX-License-Identifier: Apache-2.0

import CardModel
import Dispatch
import Kazasu
import KazasuCLI
import Synchronization
import Testing

@testable import KazasuServiceCLI

/// What a client of `rpc` gets that reads slowly, or not at all.
@Suite("Messages to a slow client")
struct MessageOutputTests {
    /// A pipe that nobody reads until it is opened.
    private final class Pipe: Sendable {
        private let gate = DispatchSemaphore(value: 0)
        let lines = Mutex<[String]>([])

        func write(_ line: [UInt8]) throws(CommandError) {
            gate.wait()
            gate.signal()
            lines.withLock { $0.append(String(decoding: line.dropLast(), as: UTF8.self)) }
        }

        func open() { gate.signal() }
    }

    private static func message(_ number: Int, bytes: Int) -> JSONValue {
        ["number": .int(number), "text": .string(String(repeating: "a", count: bytes))]
    }

    private static func output(_ pipe: Pipe) -> MessageOutput {
        MessageOutput { line throws(CommandError) in try pipe.write(line) }
    }

    @Test("All of it arrives in order when the client reads again")
    func order() async {
        let pipe = Pipe()
        let output = Self.output(pipe)
        let messages = (0..<31).map { Self.message($0, bytes: 1_000_000) }
        for message in messages { output.send(message) }
        #expect(output.error == nil)
        pipe.open()
        await output.ready()
        output.finish()
        #expect(pipe.lines.withLock { $0 } == messages.map(\.compactText))
    }

    @Test("More than the limit fails once, and nothing more is kept")
    func limit() async {
        let pipe = Pipe()
        let output = Self.output(pipe)
        let failures = Mutex<[(CommandError, Bool)]>([])
        output.failed { error, isBehind in failures.withLock { $0.append((error, isBehind)) } }
        for number in 0..<40 { output.send(Self.message(number, bytes: 1 << 20)) }
        let found = failures.withLock { $0 }
        #expect(found.count == 1)
        #expect(found.first?.0.status == .cannotWrite && found.first?.1 == true)
        #expect(output.error?.reason == "cannotWrite")
        // Nobody waits for a client that is given up.
        await output.ready()
        pipe.open()
        output.finish()
        #expect(pipe.lines.withLock { $0.count } <= 1)
    }

    @Test("Requests wait while a megabyte does")
    func ready() async {
        let pipe = Pipe()
        let output = Self.output(pipe)
        output.send(Self.message(0, bytes: 1000))
        await output.ready()
        output.send(Self.message(1, bytes: 1 << 20))
        let isReady = Mutex(false)
        let waiting = Task {
            await output.ready()
            isReady.withLock { $0 = true }
        }
        for _ in 0..<1000 { await Task.yield() }
        #expect(!isReady.withLock { $0 })
        pipe.open()
        await waiting.value
        output.finish()
    }
}
