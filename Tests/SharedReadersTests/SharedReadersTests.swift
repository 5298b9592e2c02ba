// SPDX-License-Identifier: Apache-2.0

import CardModel
import CardReading
import Dispatch
import Glibc
import ReaderCore
import Synchronization
import TestSupport
import Testing
import VirtualReader

@testable import Kazasu
@testable import KazasuReading
@testable import SharedReaders

/// Programs that use readers between the taps, and without them.
struct SharedReadersTests {
    private static let suica = "cards/suica-p1/card.json"
    private static let tag = "tags/ntag213.json"
    /// A card file of each kind.
    static let cards = [
        suica, "tags/lite-s-no-ndef.json", tag, "tags/type4.json", "iso7816/mynumber/card.json",
    ]

    private static func card(_ file: String) throws -> any VirtualCard {
        let field = try VirtualField(cardFile: TestFiles.read("Fixtures/\(file)"))
        return try #require(field.cards.first)
    }

    /// The readers of a test, and what is opened on them.
    private final class Bench: Sendable {
        let fields: [String: VirtualField]
        let readers: SharedReaders
        /// How often each reader was opened, and how often it is open now.
        private let counts: Mutex<(opened: Int, open: Int, most: Int)>
        private let taps = Mutex<[Tap.Kind]>([])
        private let (events, event) = AsyncStream.makeStream(of: Void.self)
        private let watch: Mutex<Task<Void, Never>?>
        private let makeReader: Box

        private struct Box: Sendable {
            let make: @Sendable (VirtualField, Int, CancellationToken) -> any Reader
        }

        init(
            _ fields: [String: VirtualField], patience: Duration = .seconds(600),
            reader: @escaping @Sendable (VirtualField, Int, CancellationToken) -> any Reader = { field, _, _ in
                InProcessReader(field)
            }
        ) {
            self.fields = fields
            makeReader = Box(make: reader)
            counts = Mutex((0, 0, 0))
            watch = Mutex(nil)
            let opener = Opener()
            readers = SharedReaders(
                linger: .zero, patience: patience,
                open: { id, token throws(KazasuError) in try opener.open(id, token) },
                choose: { () throws(KazasuError) in "a" })
            opener.bench.withLock { $0 = { [weak self] in self } }
        }

        /// Breaks the cycle between the bench and its readers.
        private final class Opener: Sendable {
            let bench = Mutex<@Sendable () -> Bench?>({ nil })

            func open(_ id: String, _ token: CancellationToken) throws(KazasuError) -> any Reader {
                guard let bench = bench.withLock({ $0 })() else { throw .unknownReader(id) }
                return try bench.open(id, token)
            }
        }

        private func open(_ id: String, _ token: CancellationToken) throws(KazasuError) -> any Reader {
            guard let field = fields[id] else { throw .unknownReader(id) }
            let number = counts.withLock { counts in
                counts.opened += 1
                counts.open += 1
                counts.most = max(counts.most, counts.open)
                return counts.opened
            }
            return CountedReader(makeReader.make(field, number, token)) { [weak self] in
                self?.counts.withLock { $0.open -= 1 }
            }
        }

        var opened: Int { counts.withLock(\.opened) }
        /// How many were open at once.
        var mostOpen: Int { counts.withLock(\.most) }
        var kinds: [Tap.Kind] { taps.withLock { $0 } }

        /// Watches the readers.
        func startTaps() {
            var watch = ReaderWatch(readers: fields.keys.sorted(), query: .any, reading: .id, shared: readers)
            watch.open = { [weak self] id, token throws(KazasuError) in
                guard let self else { throw .unknownReader(id) }
                return try open(id, token)
            }
            watch.sleep = { _ in await Task.yield() }
            let task = Task { [watch] in
                await watch.run { [weak self] event in
                    guard case .tap(let tap, _) = event else { return }
                    self?.taps.withLock { $0.append(tap.kind) }
                    self?.event.yield()
                }
            }
            self.watch.withLock { $0 = task }
        }

        /// Waits until so many taps were reported.
        func waitForTaps(_ count: Int) async {
            guard kinds.count < count else { return }
            for await _ in events where kinds.count >= count { return }
        }

        func stopTaps() async {
            let task = watch.withLock { $0 }
            task?.cancel()
            await task?.value
        }

        func end() async {
            await stopTaps()
            await readers.close()
        }
    }

    private final class Guarded<Value: Sendable>: Sendable {
        private let value: Mutex<Value>

        init(_ value: Value) { self.value = Mutex(value) }

        func withLock<Result: Sendable>(_ body: @Sendable (inout Value) -> Result) -> Result {
            value.withLock { body(&$0) }
        }
    }

    private final class CountedReader: Reader {
        private let reader: any Reader
        private var didClose: (() -> Void)?

        init(_ reader: any Reader, _ didClose: @escaping () -> Void) {
            (self.reader, self.didClose) = (reader, didClose)
        }

        var information: ReaderInformation { reader.information }
        func activate(_ request: ActivationRequest) throws(TransportError) -> PICC? { try reader.activate(request) }
        func transceive(_ frame: [UInt8], timeout: Duration) throws(TransportError) -> [UInt8] {
            try reader.transceive(frame, timeout: timeout)
        }
        func isCardPresent() throws(TransportError) -> Bool? { try reader.isCardPresent() }
        func cyclePower() throws(TransportError) -> Bool { try reader.cyclePower() }
        func close() {
            reader.close()
            didClose?()
            didClose = nil
        }
    }

    /// What a request does: waits not at all for a card, and works with it.
    private static func attempt<Value: Sendable>(
        _ turn: ReaderTurn, _ query: CardQuery, _ body: (Card) throws(KazasuError) -> Value
    ) -> TurnAttempt<Result<Value, KazasuError>> {
        let reader = CardReader(borrowing: turn.reader, cancellation: turn.cancellation)
        do throws(KazasuError) {
            return .done(.success(try body(reader.waitForCard(query, timeout: .zero))))
        } catch {
            return error == .noCard ? .noCard(.failure(error)) : .done(.failure(error))
        }
    }

    private static func balance(
        _ readers: SharedReaders, on reader: String? = nil, timeout: Duration? = .seconds(600)
    ) async throws(KazasuError) -> Int? {
        let result = try await readers.run(on: reader, timeout: timeout) { turn in
            attempt(turn, .purse) { card throws(KazasuError) in try card.balance().balances.first?.amount }
        }
        return try result.get()
    }

    // MARK: Taps and requests

    /// Requests that select other applications, systems and cards never make the card leave, and its leaving is noticed as
    /// always.
    @Test(arguments: cards)
    func cardIsUsedWithoutLeaving(_ file: String) async throws {
        let field = VirtualField(cards: [try Self.card(file)])
        let bench = Bench(["a": field])
        bench.startTaps()
        await bench.waitForTaps(1)
        for _ in 0..<10 {
            let names = try await bench.readers.run(on: "a", timeout: .zero) { turn in
                Self.attempt(turn, .any) { card throws(KazasuError) in
                    // As many commands do, it leaves the reader looking for something else.
                    let kinds = try card.identify().map(\.kind.id)
                    _ = try? turn.reader.activate(.felica(SystemCode(rawValue: 0x1234)))
                    _ = try? turn.reader.activate(.typeB())
                    return kinds
                }
            }
            #expect(throws: Never.self) { try names.get() }
        }
        #expect(bench.kinds == [.on])
        field.removeCards()
        await bench.waitForTaps(2)
        #expect(bench.kinds == [.on, .off])
        #expect(bench.opened == 1)
        await bench.end()
    }

    @Test(arguments: [true, false])
    func manyClientsAreAnsweredInTurn(hasTaps: Bool) async throws {
        let bench = Bench(["a": VirtualField(cards: [try Self.card(Self.suica)])])
        if hasTaps {
            bench.startTaps()
            await bench.waitForTaps(1)
        }
        let order = Guarded<[Int]>([])
        let tasks = (0..<20).map { number in
            Task.immediate {
                try await bench.readers.run(on: "a", timeout: .seconds(600)) { turn in
                    order.withLock { $0.append(number) }
                    return Self.attempt(turn, .purse) { card throws(KazasuError) in
                        try card.balance().balances.first?.amount
                    }
                }.get()
            }
        }
        for task in tasks { #expect(try await task.value == 10) }
        #expect(order.withLock { $0 } == Array(0..<20))
        if hasTaps { #expect(bench.kinds == [.on]) }
        await bench.end()
        #expect(bench.mostOpen == 1)
    }

    @Test func readersWorkSideBySide() async throws {
        let fields = try ["a", "b"].map { ($0, VirtualField(cards: [try Self.card(Self.suica)])) }
        let bench = Bench(Dictionary(uniqueKeysWithValues: fields))
        let met = DispatchSemaphore(value: 0)
        // Each waits for the other.
        async let first = bench.readers.run(on: "a", timeout: .zero) { _ in
            met.signal()
            met.wait()
            met.signal()
            return TurnAttempt.done(true)
        }
        async let second = bench.readers.run(on: "b", timeout: .zero) { _ in
            met.signal()
            met.wait()
            met.signal()
            return TurnAttempt.done(true)
        }
        let both = try await (first, second)
        #expect(both == (true, true))
        await bench.end()
    }

    /// The reader that was opened for a request is closed before it is opened for taps, and the other way round.
    @Test func readerHasOneHostAtATime() async throws {
        let bench = Bench(["a": VirtualField(cards: [try Self.card(Self.suica)])])
        for _ in 0..<5 {
            let before = bench.kinds.count
            async let amount = Self.balance(bench.readers)
            bench.startTaps()
            await bench.waitForTaps(before + 1)
            #expect(try await amount == 10)
            #expect(try await Self.balance(bench.readers) == 10)
            await bench.stopTaps()
            #expect(try await Self.balance(bench.readers) == 10)
        }
        #expect(bench.mostOpen == 1)
        await bench.end()
    }

    // MARK: Waiting for a card

    @Test(arguments: [true, false])
    func waitingRequestsShareASearch(hasTaps: Bool) async throws {
        let field = VirtualField()
        let bench = Bench(["a": field])
        if hasTaps { bench.startTaps() }
        let order = Guarded<[Int]>([])
        let attempts = Guarded(0)
        let (asked, ask) = AsyncStream.makeStream(of: Void.self)
        let tasks = (0..<5).map { number in
            Task.immediate {
                try await bench.readers.run(on: "a", timeout: .seconds(600)) { turn in
                    attempts.withLock { $0 += 1 }
                    ask.yield()
                    return Self.attempt(turn, .purse) { card throws(KazasuError) in
                        order.withLock { $0.append(number) }
                        return try card.balance().balances.first?.amount
                    }
                }.get()
            }
        }
        for await _ in asked { break }
        field.place(try Self.card(Self.suica))
        for task in tasks { #expect(try await task.value == 10) }
        #expect(order.withLock { $0 } == Array(0..<5))
        // At most the first one looked for itself.
        #expect(attempts.withLock { $0 } <= 6)
        await bench.end()
    }

    @Test(arguments: [true, false])
    func otherKindOfCardIsAnsweredAtOnce(hasTaps: Bool) async throws {
        let field = VirtualField()
        let bench = Bench(["a": field])
        if hasTaps { bench.startTaps() }
        let task = Task.immediate { () -> KazasuError? in
            do throws(KazasuError) {
                _ = try await Self.balance(bench.readers)
                return nil
            } catch {
                return error
            }
        }
        field.place(try Self.card(Self.tag))
        guard case .wrongCard? = await task.value else {
            Issue.record("\(await task.value.debugDescription)")
            return
        }
        await bench.end()
    }

    @Test(arguments: [true, false], [Duration.zero, .milliseconds(1), .milliseconds(50)])
    func noCardInTime(hasTaps: Bool, timeout: Duration) async throws {
        let bench = Bench(["a": VirtualField()])
        if hasTaps { bench.startTaps() }
        let tasks = (0..<3).map { _ in
            Task { () -> KazasuError? in
                do throws(KazasuError) {
                    _ = try await Self.balance(bench.readers, timeout: timeout)
                    return nil
                } catch {
                    return error
                }
            }
        }
        for task in tasks { #expect(await task.value == .noCard) }
        await bench.end()
    }

    // MARK: Ends

    /// A request that runs when the taps end is answered as if they went on, and the next one, too.
    @Test func endOfTapsLetsARequestFinish() async throws {
        let field = VirtualField()
        let bench = Bench(["a": field])
        bench.startTaps()
        field.place(try Self.card(Self.suica))
        await bench.waitForTaps(1)
        let turns = bench.readers.turns(of: "a")
        let begun = Mutex(false)
        let request = Task {
            try await bench.readers.run(on: "a", timeout: .zero) { turn in
                begun.withLock { $0 = true }
                // The thread of the reader waits here until the taps are about to end.
                while !turns.isLeaving { sched_yield() }
                return Self.attempt(turn, .purse) { card throws(KazasuError) in
                    try card.balance().balances.first?.amount
                }
            }.get()
        }
        while !begun.withLock({ $0 }) { await Task.yield() }
        let next = Task { try await Self.balance(bench.readers, on: "a") }
        await bench.stopTaps()
        #expect(try await request.value == 10)
        #expect(try await next.value == 10)
        await bench.end()
    }

    @Test(arguments: [true, false])
    func cancellationEndsOneRequest(hasTaps: Bool) async throws {
        let field = VirtualField()
        let bench = Bench(["a": field])
        if hasTaps { bench.startTaps() }
        let (asked, ask) = AsyncStream.makeStream(of: Void.self)
        let cancelled = Task.immediate { () -> KazasuError? in
            do throws(KazasuError) {
                _ = try await bench.readers.run(on: "a", timeout: nil) { turn in
                    ask.yield()
                    return Self.attempt(turn, .purse) { card throws(KazasuError) in try card.balance() }
                }
                return nil
            } catch {
                return error
            }
        }
        let other = Task.immediate { try await Self.balance(bench.readers, timeout: nil) }
        for await _ in asked { break }
        cancelled.cancel()
        #expect(await cancelled.value == .cancelled)
        field.place(try Self.card(Self.suica))
        #expect(try await other.value == 10)
        if hasTaps { #expect(bench.kinds.allSatisfy { $0 == .on }) }
        await bench.end()
    }

    /// An exchange that does not end is ended by cancelling the reader, which is opened again. No tap shows it.
    @Test(arguments: [true, false])
    func cancellationEndsAnExchange(hasTaps: Bool) async throws {
        let (begun, begin) = AsyncStream.makeStream(of: Void.self)
        let bench = Bench(["a": VirtualField(cards: [try Self.card(Self.suica)])]) { field, _, token in
            StuckReader(InProcessReader(field), token) { begin.yield() }
        }
        if hasTaps {
            bench.startTaps()
            await bench.waitForTaps(1)
        }
        let stuck = Task { () -> KazasuError? in
            do throws(KazasuError) {
                _ = try await bench.readers.run(on: "a", timeout: .zero) { turn in
                    let result: Result<[UInt8], TransportError>
                    do throws(TransportError) {
                        result = .success(try turn.reader.transceive(StuckReader.frame, timeout: .seconds(5)))
                    } catch {
                        result = .failure(error)
                    }
                    return TurnAttempt.done(result)
                }
                return nil
            } catch {
                return error
            }
        }
        for await _ in begun { break }
        let other = Task { try await Self.balance(bench.readers) }
        stuck.cancel()
        #expect(await stuck.value == .cancelled)
        #expect(try await other.value == 10)
        if hasTaps { #expect(bench.kinds == [.on]) }
        #expect(bench.opened == 2)
        #expect(bench.mostOpen == 1)
        await bench.end()
    }

    // MARK: Drivers that hang

    /// A driver that hangs keeps its thread; requests end with their own time, everything ends when it is to.
    @Test(.timeLimit(.minutes(3)), arguments: Hanging.allCases, [true, false])
    func programsDoNotHangWithADriver(_ call: Hanging, hasTaps: Bool) async throws {
        let driver = HangingDriver(call)
        // A reader that hangs in closing has answered before.
        let bench = Bench(
            ["a": VirtualField(cards: [try Self.card(Self.suica)])], patience: call == .close ? .seconds(600) : .zero
        ) { field, _, _ in
            driver.opened(InProcessReader(field))
        }
        if hasTaps {
            bench.startTaps()
            if call == .transceive { await bench.waitForTaps(1) }
        }
        driver.hang()
        let answer = Task { () -> KazasuError? in
            do throws(KazasuError) {
                _ = try await Self.balance(bench.readers, on: "a", timeout: .milliseconds(1))
                return nil
            } catch {
                return error
            }
        }
        #expect(await answer.value == (call == .close ? nil : .reader(.hanging, id: "a")))
        // Programs and taps end although the driver still hangs.
        await bench.end()
        driver.release()
    }

    enum Hanging: CaseIterable {
        case open, activate, transceive, close
    }

    /// Opens readers that hang in one of their calls until they are released.
    private final class HangingDriver: Sendable {
        private let call: Hanging
        private let isHanging = Mutex(false)
        private let end = DispatchSemaphore(value: 0)

        init(_ call: Hanging) { self.call = call }

        func hang() { isHanging.withLock { $0 = true } }

        /// Lets every call return.
        func release() {
            isHanging.withLock { $0 = false }
            for _ in 0..<100 { end.signal() }
        }

        func call(_ call: Hanging) { if call == self.call, isHanging.withLock({ $0 }) { end.wait() } }

        func opened(_ reader: InProcessReader) -> any Reader {
            if call == .open { hang() }
            call(.open)
            return HangingReader(reader, self)
        }
    }

    private final class HangingReader: Reader {
        private let reader: InProcessReader
        private let driver: HangingDriver

        init(_ reader: InProcessReader, _ driver: HangingDriver) { (self.reader, self.driver) = (reader, driver) }

        var information: ReaderInformation { reader.information }
        func activate(_ request: ActivationRequest) throws(TransportError) -> PICC? {
            driver.call(.activate)
            return try reader.activate(request)
        }
        func transceive(_ frame: [UInt8], timeout: Duration) throws(TransportError) -> [UInt8] {
            driver.call(.transceive)
            return try reader.transceive(frame, timeout: timeout)
        }
        func isCardPresent() throws(TransportError) -> Bool? { try reader.isCardPresent() }
        func close() {
            driver.call(.close)
            reader.close()
        }
    }

    /// A reader that answers one frame only when it is cancelled.
    private final class StuckReader: Reader {
        static let frame: [UInt8] = [0xFF]
        private let reader: InProcessReader
        private let token: CancellationToken
        private let begin: @Sendable () -> Void
        private let isEnded = DispatchSemaphore(value: 0)

        /// - Parameter begin: called when the exchange that does not end has begun.
        init(_ reader: InProcessReader, _ token: CancellationToken, _ begin: @escaping @Sendable () -> Void) {
            (self.reader, self.token, self.begin) = (reader, token, begin)
            token.onCancel { [isEnded] in isEnded.signal() }
        }

        var information: ReaderInformation { reader.information }
        func activate(_ request: ActivationRequest) throws(TransportError) -> PICC? {
            try token.check()
            return try reader.activate(request)
        }
        func transceive(_ frame: [UInt8], timeout: Duration) throws(TransportError) -> [UInt8] {
            if frame == Self.frame {
                begin()
                isEnded.wait()
            }
            try token.check()
            return try reader.transceive(frame, timeout: timeout)
        }
        func isCardPresent() throws(TransportError) -> Bool? {
            try token.check()
            return try reader.isCardPresent()
        }
        func close() { reader.close() }
    }

    @Test(arguments: [true, false])
    func unpluggedReaderIsFoundAgain(hasTaps: Bool) async throws {
        let pulled = Guarded(false)
        let bench = Bench(["a": VirtualField(cards: [try Self.card(Self.suica)])]) { field, _, _ in
            PulledReader(InProcessReader(field)) { pulled.withLock { $0 } }
        }
        if hasTaps {
            bench.startTaps()
            await bench.waitForTaps(1)
        }
        let error = await Task { () -> KazasuError? in
            do throws(KazasuError) {
                let result = try await bench.readers.run(on: "a", timeout: .zero) { turn in
                    Self.attempt(turn, .purse) { card throws(KazasuError) in
                        pulled.withLock { $0 = true }
                        defer { pulled.withLock { $0 = false } }
                        return try card.balance()
                    }
                }
                _ = try result.get()
                return nil
            } catch {
                return error
            }
        }.value
        guard case .reading(.reader(.readerUnavailable))? = error else {
            Issue.record("\(error.debugDescription)")
            return
        }
        #expect(try await Self.balance(bench.readers) == 10)
        if hasTaps {
            await bench.waitForTaps(3)
            #expect(bench.kinds == [.on, .lost, .on])
        }
        #expect(bench.mostOpen == 1)
        await bench.end()
    }

    /// A reader that is not connected at times.
    private final class PulledReader: Reader {
        private let reader: InProcessReader
        private let isPulled: () -> Bool

        init(_ reader: InProcessReader, _ isPulled: @escaping () -> Bool) {
            (self.reader, self.isPulled) = (reader, isPulled)
        }

        private func check() throws(TransportError) {
            if isPulled() { throw .readerUnavailable(reason: .absent, detail: .init(.unplugged)) }
        }

        var information: ReaderInformation { reader.information }
        func activate(_ request: ActivationRequest) throws(TransportError) -> PICC? {
            try check()
            return try reader.activate(request)
        }
        func transceive(_ frame: [UInt8], timeout: Duration) throws(TransportError) -> [UInt8] {
            try check()
            return try reader.transceive(frame, timeout: timeout)
        }
        func close() { reader.close() }
    }

    @Test func readerThatCannotBeOpenedIsAnError() async {
        let bench = Bench([:])
        await #expect(throws: KazasuError.unknownReader("toaster")) {
            try await Self.balance(bench.readers, on: "toaster")
        }
        await bench.end()
    }

    /// Requests that leave the choice to Kazasu are answered in order, too, and can be cancelled before it is made.
    @Test func unnamedReaderKeepsTheOrder() async throws {
        let field = VirtualField(cards: [try Self.card(Self.suica)])
        let chosen = DispatchSemaphore(value: 0)
        let readers = SharedReaders(
            linger: .zero, patience: .seconds(600), open: { _, _ throws(KazasuError) in InProcessReader(field) },
            choose: { () throws(KazasuError) in
                chosen.wait()
                chosen.signal()
                return "a"
            })
        let order = Guarded<[Int]>([])
        let tasks = (0..<10).map { number in
            Task.immediate { () -> KazasuError? in
                do throws(KazasuError) {
                    return try await readers.run(on: nil, timeout: .zero) { _ in
                        order.withLock { $0.append(number) }
                        return TurnAttempt<KazasuError?>.done(nil)
                    }
                } catch {
                    return error
                }
            }
        }
        tasks[3].cancel()
        #expect(await tasks[3].value == .cancelled)
        chosen.signal()
        for (number, task) in tasks.enumerated() where number != 3 { #expect(await task.value == nil) }
        #expect(order.withLock { $0 } == [0, 1, 2, 4, 5, 6, 7, 8, 9])
        await readers.close()
    }

    @Test func namesStandForIDs() async throws {
        let bench = Bench(["a": VirtualField(cards: [try Self.card(Self.suica)])])
        bench.readers.setNames([("gate", "a")])
        #expect(try await Self.balance(bench.readers, on: "gate") == 10)
        #expect(bench.readers.isKnown("gate"))
        #expect(!bench.readers.isKnown("door"))
        await bench.end()
    }

    /// The user has removed it while the program runs.
    @Test func readerWithoutANameAnyMoreIsNotOpened() async throws {
        let bench = Bench([
            "a": VirtualField(cards: [try Self.card(Self.suica)]),
            "b": VirtualField(cards: [try Self.card(Self.suica)]),
        ])
        bench.readers.setNames([("gate", "a"), ("door", "b")])
        #expect(try await Self.balance(bench.readers, on: "gate") == 10)
        bench.readers.setNames([("door", "b")])
        for reader in ["gate", "a", "a:1"] {
            await #expect(throws: KazasuError.unknownReader(reader)) {
                try await Self.balance(bench.readers, on: reader)
            }
        }
        #expect(try await Self.balance(bench.readers, on: nil) == 10)
        bench.readers.setNames([("gate", "b"), ("a", "a")])
        #expect(try await Self.balance(bench.readers, on: "a") == 10)
        // Without names, any reader may be used.
        bench.readers.setNames([("door", "b")])
        bench.readers.setNames([])
        #expect(try await Self.balance(bench.readers, on: "a") == 10)
        await bench.end()
    }

    /// Issuing a FeliCa Lite-S card needs it.
    @Test func turnCanSwitchTheFieldOff() async throws {
        let bench = Bench(["a": VirtualField(cards: [try Self.card(Self.suica)])])
        let isDone = try await bench.readers.run(on: "a", timeout: .zero) { turn in
            TurnAttempt.done(turn.result { () throws(TransportError) in try turn.reader.cyclePower() })
        }
        #expect(try isDone.get())
        await bench.end()
    }

    /// A turn that is over gives no access to the reader any more.
    @Test func readerDoesNotOutliveTheTurn() async throws {
        let bench = Bench(["a": VirtualField(cards: [try Self.card(Self.suica)])])
        nonisolated(unsafe) var kept: (any Reader)?
        _ = try await bench.readers.run(on: "a", timeout: .zero) { turn in
            kept = turn.reader
            return TurnAttempt.done(true)
        }
        let reader = try #require(kept)
        #expect(throws: TransportError.closed) { try reader.activate(.typeA()) }
        await bench.end()
    }
}
