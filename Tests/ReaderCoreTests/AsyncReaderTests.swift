// SPDX-License-Identifier: Apache-2.0

import CardModel
import Dispatch
import Glibc
import ReaderCore
import Synchronization
import Testing

@Suite("Readers for code that must not block")
struct AsyncReaderTests {
    /// Answers every frame with its bytes in reverse; the frame FF blocks until somebody cancels.
    private final class BlockingReader: Reader {
        let information = ReaderInformation(id: "blocking", name: "Blocking")
        let cancellation: CancellationToken
        let record: Record

        init(_ cancellation: CancellationToken, _ record: Record) {
            self.cancellation = cancellation
            self.record = record
        }

        func activate(_ request: ActivationRequest) throws(TransportError) -> PICC? {
            record.note()
            return nil
        }

        func transceive(_ frame: [UInt8], timeout: Duration) throws(TransportError) -> [UInt8] {
            record.note()
            guard frame == [0xFF] else { return frame.reversed() }
            let end = DispatchSemaphore(value: 0)
            let id = cancellation.onCancel { end.signal() }
            record.blocked.signal()
            end.wait()
            cancellation.remove(id)
            throw .cancelled
        }

        func close() { record.closed.withLock { $0 += 1 } }
    }

    private final class Record: Sendable {
        let threads = Mutex<[pthread_t]>([])
        let closed = Mutex(0)
        let blocked = DispatchSemaphore(value: 0)
        func note() { threads.withLock { $0.append(pthread_self()) } }
    }

    private struct Driver: ReaderDriver {
        let record = Record()
        func list() -> [ReaderListing] { [] }
        func open(_ id: String, cancellation: CancellationToken) throws(TransportError) -> (any Reader)? {
            record.note()
            switch id {
            case "blocking": return BlockingReader(cancellation, record)
            case "busy": throw .readerUnavailable(reason: .busy, detail: .init(.text, "taken"))
            default: return nil
            }
        }
    }

    @Test func runsOnADedicatedThread() async throws {
        let driver = Driver()
        let reader = try #require(try await AsyncReader.open("blocking", with: driver))
        #expect(await reader.information?.name == "Blocking")
        #expect(try await reader.activate(.felica(.any)) == nil)
        #expect(try await reader.transceive([1, 2, 3], timeout: .zero) == [3, 2, 1])
        let sum = try await reader.run { reader throws(TransportError) in
            var sum = 0
            for number: UInt8 in 0..<10 { sum += Int(try reader.transceive([number], timeout: .zero).first ?? 0) }
            return sum
        }
        #expect(sum == 45)
        let threads = driver.record.threads.withLock { $0 }
        #expect(threads.count == 13)
        #expect(Set(threads).count == 1)
    }

    @Test func cancelledTaskEndsTheBlockedCall() async throws {
        let driver = Driver()
        let reader = try #require(try await AsyncReader.open("blocking", with: driver))
        let task = Task { () -> TransportError? in
            do throws(TransportError) {
                _ = try await reader.transceive([0xFF], timeout: .seconds(5))
                return nil
            } catch {
                return error
            }
        }
        await Self.wait(driver.record.blocked)
        task.cancel()
        #expect(await task.value == .cancelled)
    }

    @Test func reportsAClosedReader() async throws {
        let driver = Driver()
        let reader = try #require(try await AsyncReader.open("blocking", with: driver))
        await reader.close()
        await reader.close()
        #expect(driver.record.closed.withLock { $0 } == 1)
        #expect(await reader.information == nil)
        await #expect(throws: TransportError.readerUnavailable(reason: .absent, detail: .init(.closed))) {
            try await reader.activate(.typeB())
        }
    }

    @Test func passesOnTheListingOfTheDriver() async throws {
        #expect(try await AsyncReader.open("other", with: Driver()) == nil)
        await #expect(throws: TransportError.readerUnavailable(reason: .busy, detail: .init(.text, "taken"))) {
            try await AsyncReader.open("busy", with: Driver())
        }
    }

    /// Waits off Swift's threads, which must stay free.
    private static func wait(_ semaphore: DispatchSemaphore) async {
        await BlockingWork.run { semaphore.wait() }
    }
}

extension AsyncReader {
    fileprivate static func open(_ id: String, with driver: any ReaderDriver) async throws -> AsyncReader? {
        let cancellation = CancellationToken()
        let reader = try AsyncReader(cancellation: cancellation)
        let isOpen = try await reader.open { () throws(TransportError) in
            try driver.open(id, cancellation: cancellation)
        }
        return isOpen ? reader : nil
    }

    fileprivate nonisolated func activate(_ request: ActivationRequest) async throws(TransportError) -> PICC? {
        try await run { reader throws(TransportError) in try reader.activate(request) }
    }

    fileprivate nonisolated func transceive(
        _ frame: [UInt8], timeout: Duration
    ) async throws(TransportError) -> [UInt8] {
        try await run { reader throws(TransportError) in try reader.transceive(frame, timeout: timeout) }
    }
}
