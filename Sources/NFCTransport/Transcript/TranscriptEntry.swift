// SPDX-License-Identifier: Apache-2.0

/// One thing that a reader was asked, and what came of it.
public struct TranscriptEntry: Hashable, Sendable {
    /// What a reader was asked.
    public enum Event: Hashable, Sendable {
        /// A card was looked for; `nil` says that none answered.
        case activate(ActivationRequest, Result<PICC?, TransportError>)
        /// A frame was sent to the card.
        case transceive([UInt8], timeout: Duration, Result<[UInt8], TransportError>)
    }

    /// When it was asked, since the transcript began; written in milliseconds with microseconds after the point.
    public var time: Duration
    /// What was asked and what came.
    public var event: Event
    /// The bytes of the frame that were replaced by 00 because nobody may read them: a PIN. Nothing is compared there
    /// when the transcript is replayed.
    public private(set) var masked: Range<Int>?

    /// One thing that a reader was asked.
    public init(time: Duration, event: Event) {
        self.time = time
        self.event = event
    }

    /// The same with these bytes of the frame replaced by 00; bytes that are not there are left out.
    public func masking(_ bytes: Range<Int>) -> TranscriptEntry {
        guard case .transceive(var frame, let timeout, let result) = event else { return self }
        let places = bytes.clamped(to: 0..<frame.count)
        for place in places { frame[place] = 0 }
        var entry = TranscriptEntry(time: time, event: .transceive(frame, timeout: timeout, result))
        entry.masked = places.isEmpty ? nil : places
        return entry
    }
}
