// SPDX-License-Identifier: Apache-2.0

package import CardModel
package import CardReading
internal import Glibc
package import ReaderCore
internal import Synchronization

/// A card with two purses that comes again and again at random moments: the first code of the list has to win each time.
///
/// The field in which the card comes and goes is that of `Fixtures/felica/two-purses.json`: a read sends the card away.
package struct ArrivalSoak {
    /// How often the card comes: `KAZASU_ARRIVALS`, or a few hundred.
    package static let arrivals = getenv("KAZASU_ARRIVALS").flatMap { unsafe Int(String(cString: $0)) } ?? 300

    /// What `balance` looks for.
    package static let codes: [SystemCode] = [.transit, .commonArea, .any]

    /// The system's clock, on which pauses are over at once.
    package static let hasty: SearchClock = {
        let skipped = Skipped()
        return SearchClock(now: { SearchClock.system.now() + skipped.time }, pause: { skipped.add($0) })
    }()

    /// Looks for the card and reads it, so often.
    ///
    /// - Returns: what went wrong, one sentence each; nothing when the transit system was found each time.
    package static func breaches(_ reader: any Reader, arrivals: Int, clock: SearchClock) -> [String] {
        let finder = CardFinder(reader: reader)
        var breaches: [String] = []
        for arrival in 1...max(arrivals, 1) {
            do throws(ReadingError) {
                // Longer than any card here takes to arrive.
                switch try finder.find(codes, for: CardWait(.seconds(600), clock: clock)) {
                case .found(let found):
                    if found.system != .transit { breaches.append("arrival \(arrival): \(found.request)") }
                    if let target = found.feliCa { leave(reader, target) }
                case let finding: breaches.append("arrival \(arrival): \(finding)")
                }
            } catch {
                breaches.append("arrival \(arrival): \(error)")
                if case .reader = error { return breaches }
            }
        }
        return breaches
    }

    /// Prints a line for the table of `make soak-arrivals` (`Tests/USB/arrivals_table.py`).
    package static func report(_ driver: String, arrivals: Int, _ breaches: [String]) {
        ArrivalFigures.report(driver, "two-purses", arrivals: arrivals, missed: breaches.count, wait: nil)
    }

    /// Read Without Encryption of block 0 of service 008B, after whose answer, a refusal too, the card goes away.
    package static func leave(_ reader: any Reader, _ target: FeliCaTarget) {
        let frame: [UInt8] = [0x10, 0x06] + target.idm.bytes + [0x01, 0x8B, 0x00, 0x01, 0x80, 0x00]
        _ = try? reader.transceive(frame, timeout: .milliseconds(100))
    }

    private final class Skipped: Sendable {
        private let total = Mutex(Duration.zero)

        var time: Duration { total.withLock { $0 } }

        func add(_ time: Duration) { total.withLock { $0 += time } }
    }
}
