// SPDX-License-Identifier: Apache-2.0

internal import ISODEP
internal import ReaderCore

/// The transport of an RC-S320's commands.
typealias RCS320Transport = PaSoRiTransport<RCS320Framing>

/// The chip of an RC-S320 or RC-S310: FeliCa at 212 kbit/s alone.
final class RCS320Chipset {
    private let transport: RCS320Transport
    private let start: [[UInt8]]
    private let pause: (Duration) -> Void
    /// The number of the transport's recoveries when the chip was started; `nil` when it is not.
    private var startedAt: Int?

    /// - Parameter isRCS310: whether it is an RC-S310, which libpafe starts by a reset alone.
    init(
        _ transport: RCS320Transport, isRCS310: Bool, pause: @escaping (Duration) -> Void = ThreadPause.sleep
    ) throws(TransportError) {
        self.transport = transport
        self.pause = pause
        start = isRCS310 ? [RCS320Command.reset] : RCS320Command.start
        try begin()
    }

    /// Reads the firmware's version: minor, then major; `nil` when the reader has none to tell.
    func firmwareVersion() throws(TransportError) -> [UInt8]? {
        do throws(TransportError) {
            return try transport.run(RCS320Command.version)
        } catch .readerFailed {
            return nil
        }
    }

    /// Sets the registers and switches the field on.
    private func begin() throws(TransportError) {
        startedAt = nil
        for command in start { _ = try transport.run(command) }
        startedAt = transport.resets
    }
}

extension RCS320Chipset: PaSoRiChipset {
    /// A packet follows the code 5C in a frame of 248 bytes.
    var longestRawFrame: Int { RCS320Frame.longestData - 1 }

    /// The reader has a time-out of its own for the card, which is not known: it answers without a packet then, or not at
    /// all.
    func exchange(
        felica frame: [UInt8], at bitRate: FeliCaBitRate, within time: Duration
    ) throws(TransportError) -> [UInt8] {
        if startedAt != transport.resets { try begin() }
        let answer: [UInt8]
        do throws(TransportError) {
            answer = try transport.run(RCS320Command.exchange(frame), within: time)
        } catch .readerTimeout {
            // The reader came back at once, so it was waiting for a card.
            if let lost = transport.lost { throw lost }
            throw .noAnswer
        }
        guard let length = answer.first else { throw .noAnswer }
        // Whether a byte follows the packet is told differently.
        guard length >= 2, answer.count >= Int(length) else { throw .corrupted(status: 0) }
        return Array(answer.prefix(Int(length)))
    }

    func exchange(_ frame: RawFrame, timeout: Duration) throws(TransportError) -> RawAnswer {
        throw .unsupported(detail: .init(.thisKindOfCard))
    }

    /// The reset is taken to switch the field off: closing ends with it.
    func resetField() throws(TransportError) {
        startedAt = nil
        _ = try transport.run(RCS320Command.reset)
        pause(.milliseconds(50))
        try begin()
    }

    func wait(_ time: Duration) { pause(time) }

    func close() { transport.close() }
}
