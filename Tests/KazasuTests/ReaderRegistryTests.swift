// SPDX-License-Identifier: Apache-2.0

import Dispatch
import ReaderCore
import Synchronization
import TestSupport
import Testing
import VirtualReader

@testable import Kazasu
@testable import KazasuReading

/// A driver is a row: what it opens, what it is called, how long it may take.
@Suite(.waits)
struct ReaderRegistryTests {
    /// A driver of one reader, of which a call may hang.
    private final class FakeDriver: ReaderDriver {
        enum Call { case list, open, activate, close }

        let id: String
        let hanging: Call?
        let end = DispatchSemaphore(value: 0)

        init(_ id: String, hangingIn call: Call? = nil) { (self.id, hanging) = (id, call) }

        func begin(_ call: Call) { if call == hanging { end.wait() } }

        func list() -> [ReaderListing] {
            begin(.list)
            return [ReaderListing(id: id, state: .ready)]
        }

        func open(_ id: String, cancellation: CancellationToken) throws(TransportError) -> (any Reader)? {
            guard id == self.id else { return nil }
            begin(.open)
            return FakeReader(self)
        }

        /// The row of the driver.
        func row(_ turn: ReaderRegistry.Driver.Turn = .own) -> ReaderRegistry.Driver {
            var limits = BoundedReader.Limits(opening: hanging == .open ? .milliseconds(1) : .seconds(600))
            limits.exchange = hanging == .activate ? .milliseconds(1) : .seconds(600)
            limits.closing = hanging == .close ? .milliseconds(1) : .seconds(600)
            let word = String(id.prefix { $0 != ":" })
            var row = ReaderRegistry.Driver([word], name: "Fake \(word)", turn: turn, limits: limits) { _ in self }
            row.answering = hanging == .list ? .milliseconds(1) : .seconds(600)
            return row
        }
    }

    private final class FakeReader: Reader {
        let information = ReaderInformation(id: "fake", name: "Fake")
        private let driver: FakeDriver

        init(_ driver: FakeDriver) { self.driver = driver }

        func activate(_ request: ActivationRequest) throws(TransportError) -> PICC? {
            driver.begin(.activate)
            return nil
        }
        func transceive(_ frame: [UInt8], timeout: Duration) throws(TransportError) -> [UInt8] { throw .noAnswer }
        func close() { driver.begin(.close) }
    }

    @Test("The place of a driver in the list means nothing")
    func order() throws {
        let rows = [
            FakeDriver("own:1").row(), FakeDriver("library:1").row(.library), FakeDriver("service:1").row(.service),
        ]
        for rows in [rows, rows.reversed(), [rows[1], rows[2], rows[0]], [rows[2], rows[0], rows[1]]] {
            try ReaderRegistry.$drivers.withValue(rows) {
                #expect(ReaderRegistry.list().map(\.id) == ["own:1", "library:1", "service:1"])
                #expect(try ReaderRegistry.choose(nil) == "own:1")
                for row in rows {
                    let id = try #require(row.list().first?.id)
                    let reader = try #require(try ReaderRegistry.openDevice(id, CancellationToken()))
                    reader.close()
                }
                #expect(try ReaderRegistry.openDevice("another:1", CancellationToken()) == nil)
            }
        }
    }

    @Test("A driver that does not answer is listed by its own name, and another one is chosen")
    func silentList() {
        let hanging = FakeDriver("silent", hangingIn: .list)
        let service = FakeDriver("service", hangingIn: .list)
        ReaderRegistry.$drivers.withValue([
            service.row(.service), FakeDriver("library:1").row(.library), hanging.row(),
        ]) {
            let listings = ReaderRegistry.list()
            #expect(listings.map(\.id) == ["silent", "library:1", "service:"])
            #expect(listings.first?.name == "Fake silent")
            #expect(listings.first?.state == .unavailable(.busy, detail: .init(.hanging)))
            #expect((try? ReaderRegistry.choose(nil)) == "library:1")
        }
        ReaderRegistry.$drivers.withValue([hanging.row()]) {
            #expect(throws: KazasuError.self) { try ReaderRegistry.choose(nil) }
        }
        for driver in [hanging, service] { for _ in 0..<4 { driver.end.signal() } }
    }

    @Test("openReader() returns whatever hangs")
    func openReader() {
        for call in [FakeDriver.Call.open, .activate, .close] {
            let driver = FakeDriver("hangs in \(call)", hangingIn: call)
            ReaderRegistry.$drivers.withValue([driver.row()]) {
                do throws(KazasuError) {
                    let reader = try Kazasu.openReader(driver.id)
                    defer { reader.close() }
                    _ = try reader.waitForCard(timeout: .zero)
                } catch {
                    switch call {
                    case .open: #expect(error == .reader(.hanging, id: driver.id))
                    case .activate: #expect(error.description.contains("stopped answering"), "\(error)")
                    default: #expect(error == .noCard)
                    }
                }
            }
            driver.end.signal()
        }
    }

    @Test("Every row of the real drivers is told apart by its prefixes")
    func prefixes() {
        let words = ReaderRegistry.drivers.flatMap(\.prefixes)
        #expect(Set(words).count == words.count)
        #expect(words.allSatisfy { $0 == $0.lowercased() && !$0.contains(":") })
    }
}
