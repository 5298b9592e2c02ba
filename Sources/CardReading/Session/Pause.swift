// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import NFCTransport

/// Between two rounds of looking for a card.
enum Pause {
    /// Waits for the reader's event. Where it has none, leaves the bus and the processor to others when the round took
    /// less than 40 ms.
    ///
    /// - Throws: ``ReadingError`` when the reader failed or work was cancelled.
    static func afterRound(
        from start: ContinuousClock.Instant, on reader: any Reader, until deadline: ContinuousClock.Instant?
    ) throws(ReadingError) {
        let now = ContinuousClock().now
        do throws(TransportError) {
            if try reader.waitForEvent(within: deadline.map { $0 - now } ?? .seconds(60)) { return }
        } catch {
            throw CardSession.readingError(error)
        }
        let left = start + .milliseconds(40) - now
        guard left > .zero else { return }
        var pause = timespec(tv_sec: 0, tv_nsec: Int(left.components.attoseconds / 1_000_000_000))
        unsafe nanosleep(&pause, nil)
    }
}
