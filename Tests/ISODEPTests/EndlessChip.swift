// SPDX-License-Identifier: Apache-2.0

import ISODEP
import ReaderCore

/// A chip whose card never comes to an end.
final class EndlessChip: RawFrameChannel {
    let longestRawFrame = 256
    private(set) var exchanges = 0
    private let card: (Int) -> [UInt8]?

    /// - Parameter card: the answer to the frame after as many frames; `nil` for silence. When it gives none at first and
    ///   then, its chained blocks go on with the number that is asked for.
    init(_ card: @escaping (Int) -> [UInt8]?) {
        self.card = card
    }

    func exchange(_ frame: RawFrame, timeout: Duration) throws(TransportError) -> RawAnswer {
        defer { exchanges += 1 }
        if let answer = card(exchanges) { return RawAnswer(answer) }
        guard let first = frame.bytes.first, first & 0xF6 == 0xA2 else { throw .noAnswer }
        return RawAnswer([0x12 | first & 1] + [UInt8](repeating: 0xAA, count: 253))
    }

    func resetField() throws(TransportError) {}

    func wait(_ time: Duration) throws(TransportError) {}
}
