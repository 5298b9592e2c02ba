// SPDX-License-Identifier: Apache-2.0

import Glibc
import Kazasu
import ReaderCore
import Synchronization
import TestSupport
import Testing

@testable import SharedReaders

/// Answers at readers, and at lights of the computer.
struct ReaderLightsTests {
    /// A reader with lights, without lights, or one that is unplugged while it blinks.
    private final class LitReader: Reader {
        enum Kind: Sendable { case lit, dark, pulled }

        let information = ReaderInformation(id: "lit", name: "lit")
        private let kind: Kind
        private let log: SignalLog

        init(_ kind: Kind, _ log: SignalLog) { (self.kind, self.log) = (kind, log) }

        func activate(_ request: ActivationRequest) throws(TransportError) -> PICC? { nil }
        func transceive(_ frame: [UInt8], timeout: Duration) throws(TransportError) -> [UInt8] { throw .noAnswer }
        func show(_ signal: ReaderSignal) throws(TransportError) -> Bool {
            log.add("\(signal)")
            if kind == .pulled { throw .readerUnavailable(reason: .absent, detail: .init(.unplugged)) }
            return kind == .lit
        }
        func close() {}
    }

    private final class SignalLog: Sendable {
        private let words = Mutex<[String]>([])
        var all: [String] { words.withLock { $0 } }
        func add(_ word: String) { words.withLock { $0.append(word) } }
    }

    private struct Stand {
        let log = SignalLog()
        let failures = SignalLog()
        let readers: SharedReaders

        init(_ kind: LitReader.Kind) {
            readers = SharedReaders(
                linger: .zero, patience: .seconds(600),
                open: { [log] id, _ throws(KazasuError) in
                    guard id == "gate" else { throw .unknownReader(id) }
                    return LitReader(kind, log)
                }, choose: { () throws(KazasuError) in "gate" })
        }

        func lights(
            _ outputs: [ReaderLights.Output], lines: GPIOLines = GPIOLines(),
            sleep: @escaping @Sendable (Duration) async -> Void = { _ in }
        ) -> ReaderLights {
            ReaderLights(
                readers, outputs, lines: lines, tell: { [failures] in failures.add("\($0): \($1)") }, sleep: sleep)
        }
    }

    @Test func showsAnAnswerForATime() async {
        let stand = Stand(.lit)
        await stand.lights([.reader]).show(.yes, at: "gate")
        #expect(stand.log.all == ["yes", "off"])
        #expect(stand.failures.all == [])
        await stand.readers.close()
    }

    /// The answer to the next card stays as long as any other.
    @Test func theNextAnswerIsNotSwitchedOff() async {
        let stand = Stand(.lit)
        let again = AsyncStream.makeStream(of: Void.self)
        let next = Mutex(true)
        let lights = stand.lights([.reader]) { _ in
            guard
                next.withLock({ isFirst in
                    defer { isFirst = false }; return isFirst
                })
            else { return }
            for await _ in again.stream { return }
        }
        async let first: Void = lights.show(.no, at: "gate")
        while stand.log.all.isEmpty { await Task.yield() }
        await lights.show(.yes, at: "gate")
        again.continuation.yield()
        await first
        #expect(stand.log.all == ["no", "yes", "off"])
        await stand.readers.close()
    }

    /// A program that ends while an answer is shown leaves no light on.
    @Test func aCancelledAnswerGoesOff() async {
        let stand = Stand(.lit)
        let never = AsyncStream.makeStream(of: Void.self)
        // Ends when the task is cancelled.
        let lights = stand.lights([.reader]) { _ in for await _ in never.stream {} }
        let showing = Task { await lights.show(.yes, at: "gate") }
        while stand.log.all.isEmpty { await Task.yield() }
        showing.cancel()
        await showing.value
        #expect(stand.log.all == ["yes", "off"])
        never.continuation.finish()
        await stand.readers.close()
    }

    @Test func saysWhyNothingIsShown() async {
        let dark = Stand(.dark)
        await dark.lights([.reader]).show(.no, at: "gate")
        #expect(dark.failures.all == ["gate: noLights"])
        await dark.readers.close()
        let pulled = Stand(.pulled)
        await pulled.lights([.reader]).show(.no, at: "gate")
        #expect(pulled.failures.all.count == 1)
        #expect(pulled.failures.all.first?.contains("unplugged") == true)
        await pulled.readers.close()
        let absent = Stand(.lit)
        await absent.lights([.reader]).show(.no, at: "other")
        #expect(absent.failures.all == ["other: reader(unknown reader ID 'other')"])
    }

    @Test func feedbackOnDemand() async throws {
        let stand = Stand(.lit)
        #expect(try await stand.readers.show(.fault, at: nil))
        #expect(stand.log.all == ["fault"])
        await stand.readers.close()
        let dark = Stand(.dark)
        #expect(try await !dark.readers.show(.yes, at: "gate"))
        await dark.readers.close()
    }

    // MARK: Lights of the computer

    private static func files(_ folder: TemporaryFolder) throws -> String {
        for (name, most) in [("green", "1"), ("red", "255")] {
            let light = "\(folder.path)/sys/class/leds/kazasu-\(name)"
            let commands =
                "mkdir -p '\(light)' && cd '\(light)' && echo \(most) > max_brightness && echo 0 > brightness"
            _ = try ChildProcess.run("/bin/sh", ["-c", commands])
        }
        return folder.path
    }

    private static func brightness(_ root: String) throws -> [String] {
        try ["green", "red"].map {
            let bytes = try TestFiles.read("\(root)/sys/class/leds/kazasu-\($0)/brightness")
            return String(decoding: bytes, as: UTF8.self)
        }
    }

    @Test(
        arguments: [
            (.yes, ["1", "0"]), (.no, ["0", "255"]), (.fault, ["1", "255"]), (.off, ["0", "0"]),
        ] as [(ReaderSignal, [String])])
    func setsLights(_ signal: ReaderSignal, _ expected: [String]) throws {
        let folder = try TemporaryFolder()
        let path = try Self.files(folder)
        let lights = try #require(LEDLights(green: "kazasu-green", red: "kazasu-red", root: path))
        #expect(lights.obstacle == nil)
        try lights.show(signal)
        #expect(try Self.brightness(path) == expected)
    }

    @Test func aLightThatIsNotThere() async throws {
        let folder = try TemporaryFolder()
        let lights = try #require(LEDLights(green: "kazasu-green", red: "kazasu-red", root: folder.path))
        let path = "\(folder.path)/sys/class/leds/kazasu-green/brightness"
        #expect(lights.obstacle == LEDLights.Failure(path: path, number: ENOENT))
        let stand = Stand(.lit)
        await stand.lights([.leds(lights), .reader]).show(.no, at: "gate")
        #expect(stand.failures.all.count == 1)
        // The reader shows it all the same.
        #expect(stand.log.all == ["no", "off"])
        await stand.readers.close()
    }

    @Test(arguments: ["", ".", "..", "../x", "a/b", "a\u{0}b"]) func noOtherFile(_ name: String) {
        #expect(LEDLights(green: name, red: "red") == nil)
        #expect(LEDLights(green: "green", red: name) == nil)
    }

    // MARK: Lines of GPIO chips

    /// Lights that belong to all readers show the answer to the last card, whose reader ever it was.
    @Test func anotherReadersAnswerIsNotSwitchedOff() async throws {
        let stand = Stand(.lit)
        let (chips, lines) = try GPIOChips.withLines()
        let again = AsyncStream.makeStream(of: Void.self)
        let isShowing = Mutex(false)
        let lights = stand.lights([.lines(GPIOChips.lights)], lines: lines) { _ in
            guard
                isShowing.withLock({ wasShowing in
                    defer { wasShowing = true }; return !wasShowing
                })
            else { return }
            for await _ in again.stream { return }
        }
        async let first: Void = lights.show(.no, at: "gate")
        // The first answer is shown, and waits before it is switched off.
        while !isShowing.withLock({ $0 }) { await Task.yield() }
        await lights.show(.yes, at: "other")
        #expect(chips.shown == ["17-", "22+", "22-", "17+", "17-", "22-"])
        again.continuation.yield()
        await first
        #expect(chips.shown.count == 6)
        #expect(stand.failures.all == [])
    }

    /// The reader shows an answer although a chip does not.
    @Test func aChipThatIsPulledOut() async throws {
        let stand = Stand(.lit)
        let (chips, lines) = try GPIOChips.withLines()
        chips.plug(false)
        let lights = stand.lights([.lines(GPIOChips.lights), .reader], lines: lines)
        await lights.show(.no, at: "gate")
        #expect(stand.log.all == ["no", "off"])
        #expect(stand.failures.all.count == 1)
        #expect(stand.failures.all.first?.contains("/dev/gpiochip0") == true)
        // Plugged in again, it is another chip of the same name.
        chips.plug(true)
        await lights.show(.yes, at: "gate")
        #expect(stand.failures.all.count == 1)
        #expect(chips.shown.prefix(2) == ["22-", "17+"])
        await stand.readers.close()
    }

    /// A chip that never returns holds up neither the reader's own lights nor the next answer there.
    @Test func aChipThatHangs() async throws {
        let stand = Stand(.lit)
        let (chips, lines) = try GPIOChips.withLines()
        let lights = stand.lights([.lines(GPIOChips.lights), .reader], lines: lines)
        chips.hang()
        let first = Task { await lights.show(.no, at: "gate") }
        while stand.log.all.count < 1 { await Task.yield() }
        let second = Task { await lights.show(.yes, at: "gate") }
        while stand.log.all.count < 2 { await Task.yield() }
        #expect(stand.log.all == ["no", "yes"])
        chips.goOn()
        await first.value
        await second.value
        #expect(stand.log.all.last == "off")
        await stand.readers.close()
    }
}
