// SPDX-License-Identifier: Apache-2.0

import Dispatch
import ReaderCore
import Synchronization
import TestSupport
import Testing

/// Every call of a reader returns, whatever its driver does, and what it holds is given back when it can be.
@Suite("Drivers that hang", .waits)
struct BoundedReaderTests {
    /// A call of a driver, and what it throws when it hangs.
    enum Call: CaseIterable {
        case open, activate, transceive, isCardPresent, waitForEvent, cyclePower, show, silence, close

        /// What a caller does after the reader was opened.
        func perform(_ reader: BoundedReader) throws(TransportError) {
            switch self {
            case .open: break
            case .activate: _ = try reader.activate(.typeA())
            case .transceive: _ = try reader.transceive([0x01], timeout: .zero)
            case .isCardPresent: _ = try reader.isCardPresent()
            case .waitForEvent: _ = try reader.waitForEvent(within: .zero)
            case .cyclePower: _ = try reader.cyclePower()
            case .show: _ = try reader.show(.off)
            case .silence: _ = try reader.silence()
            case .close: reader.close()
            }
        }
    }

    /// Opens readers of which one call hangs until it is released.
    private final class Driver: Sendable {
        let call: Call
        /// What was called, in that order.
        let calls = Mutex<[Call]>([])
        /// Signalled when the call has begun to hang, and when a reader was closed.
        let (hangs, closed) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        let end = DispatchSemaphore(value: 0)
        let cancelled = OneShot<Void>()

        init(_ call: Call) { self.call = call }

        func open(_ cancellation: CancellationToken) -> any Reader {
            cancellation.onCancel { [cancelled] in cancelled.give(()) }
            begin(.open)
            return HangingReader(self)
        }

        func begin(_ call: Call) {
            calls.withLock { $0.append(call) }
            guard call == self.call else { return }
            hangs.signal()
            end.wait()
        }
    }

    private final class HangingReader: Reader {
        let information = ReaderInformation(id: "hanging", name: "Hanging")
        private let driver: Driver

        init(_ driver: Driver) { self.driver = driver }

        func activate(_ request: ActivationRequest) throws(TransportError) -> PICC? {
            driver.begin(.activate)
            return nil
        }
        func transceive(_ frame: [UInt8], timeout: Duration) throws(TransportError) -> [UInt8] {
            driver.begin(.transceive)
            return frame
        }
        func isCardPresent() throws(TransportError) -> Bool? {
            driver.begin(.isCardPresent)
            return nil
        }
        func waitForEvent(within time: Duration) throws(TransportError) -> Bool {
            driver.begin(.waitForEvent)
            return true
        }
        func cyclePower() throws(TransportError) -> Bool {
            driver.begin(.cyclePower)
            return true
        }
        func show(_ signal: ReaderSignal) throws(TransportError) -> Bool {
            driver.begin(.show)
            return true
        }
        func silence() throws(TransportError) -> Bool {
            driver.begin(.silence)
            return true
        }
        func close() {
            driver.begin(.close)
            driver.closed.signal()
        }
    }

    private static func open(
        _ driver: Driver, _ id: String, _ limits: BoundedReader.Limits, _ cancellation: CancellationToken
    ) throws(TransportError) -> BoundedReader {
        let reader = try BoundedReader.open(id, limits, cancellation, { $0 }) { token throws(TransportError) in
            driver.open(token)
        }
        guard let reader else { throw .closed }
        return reader
    }

    /// Opens a reader, makes the call, and closes the reader.
    private static func work(
        _ driver: Driver, _ limits: BoundedReader.Limits, _ cancellation: CancellationToken = CancellationToken()
    ) throws(TransportError) {
        let reader = try open(driver, "\(driver.call) \(ObjectIdentifier(driver))", limits, cancellation)
        defer { reader.close() }
        try driver.call.perform(reader)
    }

    /// Limits of which only the one of a call is short.
    private static func limits(of call: Call) -> BoundedReader.Limits {
        var limits = BoundedReader.Limits(opening: call == .open ? .milliseconds(1) : .seconds(600))
        limits.exchange = .milliseconds(1)
        limits.closing = .milliseconds(1)
        if call == .close { limits.exchange = .seconds(600) } else { limits.closing = .seconds(600) }
        limits.grace = .seconds(600)
        return limits
    }

    @Test("ends with its limit; the device is released once the driver returns", arguments: Call.allCases)
    func limit(_ call: Call) async throws {
        let driver = Driver(call)
        let error = await BlockingWork.run { () -> TransportError? in
            do throws(TransportError) {
                try Self.work(driver, Self.limits(of: call))
                return nil
            } catch {
                return error
            }
        }
        #expect(error == (call == .open ? .hanging : call == .close ? nil : .readerTimeout))
        await BlockingWork.run { driver.hangs.wait() }
        // The driver was told to stop, and nothing else was asked of it.
        if call != .close { await driver.cancelled.value }
        #expect(driver.calls.withLock { $0 } == (call == .open ? [.open] : [.open, call]))
        driver.end.signal()
        await BlockingWork.run { driver.closed.wait() }
        #expect(driver.calls.withLock { $0.last } == .close)
    }

    @Test("ends when the work is cancelled, although the driver does not stop", arguments: Call.allCases)
    func cancellation(_ call: Call) async throws {
        let driver = Driver(call)
        // Nothing but the cancellation ends it. Closing is what a cancelled program does.
        var limits = BoundedReader.Limits(opening: .seconds(600))
        limits.exchange = .seconds(600)
        limits.closing = .milliseconds(1)
        limits.grace = .milliseconds(1)
        let cancellation = CancellationToken()
        let work = Task { [limits] in
            await BlockingWork.run { () -> TransportError? in
                do throws(TransportError) {
                    try Self.work(driver, limits, cancellation)
                    return nil
                } catch {
                    return error
                }
            }
        }
        await BlockingWork.run { driver.hangs.wait() }
        cancellation.cancel()
        #expect(await work.value == (call == .close ? nil : .cancelled))
        driver.end.signal()
        await BlockingWork.run { driver.closed.wait() }
        #expect(driver.calls.withLock { $0.last } == .close)
    }

    @Test("A reader that hangs in its driver refuses further calls, and is opened twice at most")
    func refusal() async throws {
        let driver = Driver(.activate)
        let limits = Self.limits(of: .activate)
        await BlockingWork.run {
            for _ in 0..<2 {
                guard let reader = try? Self.open(driver, "refusal", limits, CancellationToken()) else {
                    Issue.record("not opened")
                    continue
                }
                #expect(throws: TransportError.readerTimeout) { try reader.activate(.typeA()) }
                #expect(throws: TransportError.readerTimeout) { try reader.transceive([0x01], timeout: .zero) }
            }
            #expect(throws: TransportError.hanging) { try Self.open(driver, "refusal", limits, CancellationToken()) }
            for _ in 0..<2 { driver.end.signal() }
        }
        #expect(!driver.calls.withLock { $0 }.contains(.transceive))
    }

    @Test("A reader that answers is used as it is, and its errors are its own")
    func answers() throws {
        let driver = Driver(.open)
        driver.end.signal()
        let limits = BoundedReader.Limits()
        let reader = try Self.open(driver, "answers", limits, CancellationToken())
        #expect(reader.information.name == "Hanging")
        for call in Call.allCases { try call.perform(reader) }
        #expect(throws: TransportError.closed) { try reader.activate(.typeA()) }
        reader.close()
        #expect(driver.calls.withLock { $0 } == Call.allCases)
        let busy = TransportError.readerUnavailable(reason: .busy, detail: .init(.text, "taken"))
        #expect(throws: busy) {
            try BoundedReader.open("busy", limits, CancellationToken(), { $0 }) { _ throws(TransportError) in throw busy
            }
        }
        let none = try BoundedReader.open("none", limits, CancellationToken(), { $0 }) { _ throws(TransportError) in nil
        }
        #expect(none == nil)
    }

    @Test("A cancellation whose handler hangs blocks no query")
    func hangingHandler() async {
        let (token, end, begun) = (CancellationToken(), DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        token.onCancel {
            begun.signal()
            end.wait()
        }
        BlockingWork.start { token.cancel() }
        await BlockingWork.run { begun.wait() }
        #expect(token.isCancelled)
        end.signal()
    }
}
