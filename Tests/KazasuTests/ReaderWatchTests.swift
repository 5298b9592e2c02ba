// SPDX-License-Identifier: Apache-2.0

import CardModel
import Dispatch
import Glibc
import ReaderCore
import Synchronization
import TestSupport
import Testing
import VirtualReader

@testable import Kazasu
@testable import KazasuReading

/// Several readers at once, which come, fail and go.
struct ReaderWatchTests {
    private static let suica = "cards/suica-p1/card.json"

    private static func field(_ file: String) throws -> VirtualField {
        try VirtualField(cardFile: TestFiles.read("Fixtures/\(file)"))
    }

    /// A watch over these readers, which nothing but the test opens.
    private static func watch(
        _ readers: [String], _ open: @escaping @Sendable (String) throws(KazasuError) -> any Reader
    ) -> ReaderWatch {
        var watch = ReaderWatch(readers: readers, query: .any, reading: .id)
        watch.open = { id, _ throws(KazasuError) in try open(id) }
        watch.sleep = { _ in await Task.yield() }
        return watch
    }

    @Test func eachReaderGivesItsCards() async throws {
        let fields = ["a": try Self.field(Self.suica), "b": try Self.field("tags/ntag213.json")]
        let watch = Self.watch(["a", "b"]) { id throws(KazasuError) in
            guard let field = fields[id] else { throw .unknownReader(id) }
            return InProcessReader(field)
        }
        var technologies: Set<String> = []
        for try await tap in Taps(watch: watch) {
            technologies.insert("\(tap.card.technology)")
            if technologies.count == 2 { break }
        }
        #expect(technologies == ["felica", "typeA"])
    }

    @Test func reopensAFailedReaderAndLosesItsCard() async throws {
        let field = try Self.field(Self.suica)
        let opened = Attempts()
        let watch = Self.watch(["a"]) { _ throws(KazasuError) in
            let count = opened.next()
            // Not there, then there and pulled out, then there for good.
            if count == 1 {
                throw .reader(.readerUnavailable(reason: .absent, detail: .init(.unplugged)), id: "a")
            }
            return FailingReader(InProcessReader(field), after: count == 2 ? 4 : .max)
        }
        var kinds: [Tap.Kind] = []
        for try await tap in Taps(watch: watch) {
            kinds.append(tap.kind)
            if kinds.count == 3 { break }
        }
        #expect(kinds == [.on, .lost, .on])
        #expect(opened.count == 3)
    }

    @Test func reportsAnUnchangedStateOnce() async throws {
        let field = try Self.field(Self.suica)
        let opened = Attempts()
        let watch = Self.watch(["a"]) { _ throws(KazasuError) in
            let count = opened.next()
            switch count {
            case ...10: throw .reader(.readerUnavailable(reason: .absent, detail: .init(.unplugged)), id: "a")
            case ...20: throw .reader(.readerUnavailable(reason: .busy, detail: .init(.unplugged)), id: "a")
            case 21: return FailingReader(InProcessReader(field), after: 0)
            case ...30: throw .reader(.readerFailed(detail: .init(.closed)), id: "a")
            default: throw .cancelled
            }
        }
        let states = Mutex<[ReaderWatch.ReaderState]>([])
        await watch.run { event in
            if case .reader(_, let state) = event { states.withLock { $0.append(state) } }
        }
        let busy = KazasuError.reader(.readerUnavailable(reason: .busy, detail: .init(.unplugged)), id: "a")
        let failed = KazasuError.reader(.readerFailed(detail: .init(.closed)), id: "a")
        // It was not there before it was ready, so it is not gone.
        let absent = KazasuError.reader(.readerUnavailable(reason: .absent, detail: .init(.unplugged)), id: "a")
        #expect(states.withLock { $0 } == [.error(absent), .error(busy), .ready, .gone, .error(failed)])
    }

    /// - Parameter canBeCancelled: otherwise its thread is lost, as in a call of a driver that never returns.
    @Test(arguments: [true, false])
    func reopensAHangingReader(canBeCancelled: Bool) async throws {
        let field = try Self.field(Self.suica)
        let (hanging, other) = (DispatchSemaphore(value: 0), try Self.field("tags/ntag213.json"))
        let opened = Attempts()
        var watch = ReaderWatch(readers: ["hangs", "works"], query: .any, reading: .id)
        // Opening and looking take no time here, so only what hangs takes longer.
        watch.limits.exchange = .seconds(2)
        watch.limits.grace = .milliseconds(1)
        watch.open = { id, cancellation throws(KazasuError) in
            guard id == "hangs" else { return InProcessReader(other) }
            let count = opened.next()
            if canBeCancelled { _ = cancellation.onCancel { hanging.signal() } }
            return FailingReader(InProcessReader(field), after: count == 1 ? 4 : .max) { hanging.wait() }
        }
        watch.sleep = { _ in await Task.yield() }
        var (kinds, technologies): ([Tap.Kind], Set<Technology>) = ([], [])
        for try await tap in Taps(watch: watch) {
            technologies.insert(tap.card.technology)
            if tap.card.technology == .felica { kinds.append(tap.kind) }
            if kinds.count >= 3, technologies.count == 2 { break }
        }
        hanging.signal()
        #expect(kinds == [.on, .lost, .on])
    }

    /// A bridge of the same computer puts the cards of the other readers there.
    @Test(.timeLimit(.minutes(5))) func watchesNoVirtualReaderThatIsNotNamed() async throws {
        let field = try Self.field(Self.suica)
        var watch = ReaderWatch(readers: nil, query: .any, reading: .id)
        watch.list = {
            [
                ReaderListing(id: "pcsc:Virtual PCD 00 00", state: .ready, isVirtual: true),
                ReaderListing(id: "a", state: .ready),
            ]
        }
        let opened = Mutex<Set<String>>([])
        watch.open = { id, _ throws(KazasuError) in
            opened.withLock { _ = $0.insert(id) }
            return InProcessReader(field)
        }
        watch.sleep = { _ in await Task.yield() }
        for try await tap in Taps(watch: watch) {
            #expect(tap.kind == .on)
            break
        }
        #expect(opened.withLock { $0 } == ["a"])
    }

    /// While a reader that was pulled out is still in use, it comes back.
    @Test(.timeLimit(.minutes(5))) func watchesAReaderThatCameBackBeforeItsWatchEnded() async throws {
        let field = try Self.field(Self.suica)
        let (pulled, returned) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        let listed = Attempts()
        let opened = Attempts()
        var watch = ReaderWatch(readers: nil, query: .any, reading: .id)
        watch.list = { listed.next() == 2 ? [] : [ReaderListing(id: "a", state: .ready)] }
        watch.notices = { cancellation in Replugging(pulled, returned, cancellation) }
        watch.open = { _, _ throws(KazasuError) in
            guard opened.next() == 1 else { return InProcessReader(field) }
            let unplugged = TransportError.readerUnavailable(reason: .absent, detail: .init(.unplugged))
            return FailingReader(InProcessReader(VirtualField()), after: 0, with: unplugged) {
                pulled.signal()
                returned.wait()
            }
        }
        let states = Mutex<[ReaderWatch.ReaderState]>([])
        let watching = watch
        let (taps, tap) = AsyncStream.makeStream(of: Tap.Kind.self)
        let task = Task {
            await watching.run { event in
                switch event {
                case .reader(_, let state): states.withLock { $0.append(state) }
                case .tap(let new, _): tap.yield(new.kind)
                default: break
                }
            }
        }
        for await kind in taps {
            #expect(kind == .on)
            break
        }
        #expect(states.withLock { $0 } == [.ready, .gone, .ready])
        returned.signal()
        task.cancel()
        await task.value
    }

    /// Reports that a reader was pulled out, and at once that it is back.
    private final class Replugging: DeviceNotices {
        private let (pulled, returned): (DispatchSemaphore, DispatchSemaphore)
        private let end = DispatchSemaphore(value: 0)
        private let cancellation: CancellationToken
        private var waits = 0

        init(_ pulled: DispatchSemaphore, _ returned: DispatchSemaphore, _ cancellation: CancellationToken) {
            (self.pulled, self.returned, self.cancellation) = (pulled, returned, cancellation)
            cancellation.onCancel { [end, pulled] in
                end.signal()
                pulled.signal()
            }
        }

        func wait(within time: Duration) throws(TransportError) -> Bool {
            waits += 1
            switch waits {
            case 1: pulled.wait()
            case 2: break
            default:
                returned.signal()
                end.wait()
            }
            try cancellation.check()
            return true
        }
    }

    @Test func brokenReaderStopsNoOther() async throws {
        let field = try Self.field(Self.suica)
        let watch = Self.watch(["broken", "works"]) { id throws(KazasuError) in
            guard id == "works" else { throw .reader(.readerFailed(detail: .init(.closed)), id: id) }
            return InProcessReader(field)
        }
        for try await tap in Taps(watch: watch) {
            #expect(tap.kind == .on)
            break
        }
    }

    @Test func unknownReaderIsAnError() async {
        await #expect(throws: KazasuError.unknownReader("toaster")) {
            for try await _ in taps(on: ["toaster"]) {}
        }
    }

    @Test func environmentNamesTheReader() async {
        await #expect(processExitsWith: .success) { [path = TestFiles.root as String] in
            setenv("KAZASU_READER", "virtual:\(path)/Fixtures/tags/ntag213.json", 1)
            for try await tap in taps() {
                exit(tap.card.technology == .typeA ? 0 : 3)
            }
            exit(4)
        }
    }

    @Test func cancelledTaskEnds() async {
        let watch = Self.watch(["a"]) { _ throws(KazasuError) in InProcessReader(VirtualField()) }
        let task = Task { () -> KazasuError? in
            do throws(KazasuError) {
                for try await _ in Taps(watch: watch) {}
                return nil
            } catch {
                return error
            }
        }
        task.cancel()
        #expect(await task.value == .cancelled)
    }

    @Test func recordingYieldsItsTapsAndEnds() async throws {
        let reader = "virtual:\(TestFiles.root)/Fixtures/felica/two-purses.json"
        var kinds: [Tap.Kind] = []
        // Each read sends this card away, so that it comes and goes.
        for try await tap in taps(on: [reader], .purse, reading: .balance) {
            kinds.append(tap.kind)
            if tap.kind == .on { #expect(tap.balance?.balances.map(\.amount) == [5000]) }
            if kinds.count == 6 { break }
        }
        #expect(kinds == [.on, .off, .on, .off, .on, .off])
    }

    /// Counts how often a reader was opened.
    private final class Attempts: Sendable {
        private let number = Mutex(0)
        var count: Int { number.withLock { $0 } }

        func next() -> Int {
            number.withLock { number in
                number += 1
                return number
            }
        }
    }

    /// A reader that is pulled out, or hangs, after some calls.
    private final class FailingReader: Reader {
        private let reader: InProcessReader
        private let hang: (() -> Void)?
        private let error: TransportError
        private var left: Int

        /// - Parameter hang: called before it fails.
        init(
            _ reader: InProcessReader, after calls: Int, with error: TransportError = .cancelled,
            _ hang: (() -> Void)? = nil
        ) {
            (self.reader, self.error, self.hang) = (reader, error, hang)
            left = calls
        }

        var information: ReaderInformation { reader.information }

        private func count() throws(TransportError) {
            guard left > 0 else {
                if let hang {
                    hang()
                    throw error
                }
                throw .readerUnavailable(reason: .absent, detail: .init(.unplugged))
            }
            left -= 1
        }

        func activate(_ request: ActivationRequest) throws(TransportError) -> PICC? {
            try count()
            return try reader.activate(request)
        }

        func transceive(_ frame: [UInt8], timeout: Duration) throws(TransportError) -> [UInt8] {
            try count()
            return try reader.transceive(frame, timeout: timeout)
        }

        func close() { reader.close() }
    }
}
