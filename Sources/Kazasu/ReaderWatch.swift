// SPDX-License-Identifier: Apache-2.0

internal import CardReading
internal import NFCTransport
internal import Synchronization

/// Watches several readers, each on its own thread. Readers may be connected and disconnected.
package struct ReaderWatch: Sendable {
    /// An event on the watched readers.
    package enum Event: Sendable {
        /// A tap, on the reader that was opened by this ID; the tap itself has the driver's ID of the reader.
        case tap(Tap, reader: String)
        /// A reader became ready, or is no longer ready.
        case reader(String, ReaderState)
        /// A reader named by the caller can never be used.
        case failed(KazasuError)
    }

    /// Whether a watched reader can notice cards.
    package enum ReaderState: Sendable {
        case ready
        /// It is not connected, or was disconnected.
        case gone
        /// It is connected but cannot be used.
        case error(KazasuError)
    }

    /// How long to wait before retrying a reader that could not be opened or failed; the pause grows up to the limit.
    private static let (firstPause, longestPause): (Duration, Duration) = (.milliseconds(500), .seconds(5))

    /// The readers to watch; `nil` for all that are ready, now or later.
    let readers: [String]?
    let query: CardQuery
    let reading: TapReading
    /// Called on the reader's thread each time it has looked for cards, with the ID by which it was opened.
    let beat: @Sendable (String) -> Void
    /// Opens a reader; tests replace it.
    var open: @Sendable (String, CancellationToken) throws(KazasuError) -> any Reader = {
        id, cancellation throws(KazasuError) in
        try ReaderRegistry.openReader(id, cancellation)
    }
    /// Waits between attempts; tests replace it to avoid waiting.
    var sleep: @Sendable (Duration) async throws -> Void = { try await Task.sleep(for: $0) }

    package init(
        readers: [String]?, query: CardQuery, reading: TapReading, beat: @escaping @Sendable (String) -> Void = { _ in }
    ) {
        (self.readers, self.query, self.reading, self.beat) = (readers, query, reading, beat)
    }

    /// Watches until the task is cancelled or no reader can deliver any more cards.
    ///
    /// - Parameter tell: called from any thread.
    package func run(_ tell: @escaping @Sendable (Event) -> Void) async {
        if let readers = readers ?? ReaderRegistry.namedReader.map({ [$0] }) {
            await withDiscardingTaskGroup { group in
                for id in readers { group.addTask { await watch(id, isNamed: true, tell) } }
            }
        } else {
            await watchAll(tell)
        }
    }

    /// Watches every reader as soon as it is ready.
    private func watchAll(_ tell: @escaping @Sendable (Event) -> Void) async {
        let running = Running()
        await withDiscardingTaskGroup { group in
            do throws(TransportError) {
                let devices = try AsyncDeviceWatch(ReaderRegistry.notices) { ReaderRegistry.list() }
                while true {
                    for change in try await devices.next() {
                        guard let id = change.arrived, running.begin(id) else { continue }
                        group.addTask {
                            await watch(id, isNamed: false, tell)
                            running.end(id)
                        }
                    }
                }
            } catch {
                group.cancelAll()
                if error != .cancelled { tell(.failed(.reader(error, id: ""))) }
            }
        }
    }

    /// Watches one reader, opening it again after each failure.
    private func watch(_ id: String, isNamed: Bool, _ tell: @escaping @Sendable (Event) -> Void) async {
        var pause = Self.firstPause
        while !Task.isCancelled {
            let outcome = await session(id, tell)
            switch outcome.error {
            case .cancelled: return
            case .unknownReader, .badFile, .unreadableFile, .noReader:
                return tell(.failed(outcome.error))
            // The recording is over.
            case .reader(.outOfScript, _), .reading(.reader(.outOfScript)): return
            case let error:
                let isGone = error.isReaderGone
                tell(.reader(id, isGone ? .gone : .error(error)))
                // It is found again when it is plugged in.
                if isGone, !isNamed { return }
            }
            if outcome.wasReady { pause = Self.firstPause }
            guard (try? await sleep(pause)) != nil else { return }
            pause = min(pause * 2, Self.longestPause)
        }
    }

    /// Runs one reader from opening it to its failure.
    private func session(
        _ id: String, _ tell: @escaping @Sendable (Event) -> Void
    ) async -> (error: KazasuError, wasReady: Bool) {
        let reader: AsyncCardReader
        do throws(KazasuError) {
            reader = try await AsyncCardReader.open { cancellation throws(KazasuError) in try open(id, cancellation) }
        } catch {
            return (error, false)
        }
        tell(.reader(id, .ready))
        let (query, reading, beat) = (query, reading, beat)
        let error = await reader.run { reader -> KazasuError in
            var watch = CardWatch(reader, query, reading) { beat(id) }
            do throws(KazasuError) {
                while true {
                    for tap in try watch.next() { tell(.tap(tap, reader: id)) }
                }
            } catch {
                if let card = watch.present, error != .cancelled {
                    tell(.tap(Tap(.lost, card, reader: reader.information.id, time: .now), reader: id))
                }
                return error
            }
        }
        await reader.close()
        return (error, true)
    }

    /// The readers being watched: a listing may name one of them again.
    private final class Running: Sendable {
        private let ids = Mutex(Set<String>())

        func begin(_ id: String) -> Bool { ids.withLock { $0.insert(id).inserted } }
        func end(_ id: String) { _ = ids.withLock { $0.remove(id) } }
    }
}

extension DeviceChange<ReaderListing> {
    /// The ID of a reader that has become usable.
    fileprivate var arrived: String? {
        switch self {
        case .arrived(let reader), .changed(let reader): reader.state == .ready ? reader.id : nil
        case .left: nil
        }
    }
}

extension KazasuError {
    /// Whether the reader is not connected.
    fileprivate var isReaderGone: Bool {
        switch self {
        case .reader(.readerUnavailable(.absent, _), _), .reading(.reader(.readerUnavailable(.absent, _))): true
        default: false
        }
    }
}
