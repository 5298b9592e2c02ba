// SPDX-License-Identifier: Apache-2.0

/// A reader that passes everything on to another one and writes down what was asked and what came.
///
/// What carries a PIN or a password is masked in the lines (``SecretMask``). Whoever adds a command with another secret
/// adds it there.
public final class RecordingReader: Reader {
    private let reader: any Reader
    private let write: (String) -> Void
    private let redact: (TranscriptEntry) -> TranscriptEntry
    private let now: () -> Duration
    private var mask = SecretMask()

    /// Starts a transcript: the first line is written at once.
    ///
    /// - Parameters:
    ///   - reader: the reader that does the work.
    ///   - redact: what is to be written in place of an entry; by default the entry itself.
    ///   - now: the time since any fixed moment, for `t`; by default a clock that starts now.
    ///   - write: takes each line, without its newline.
    public init(
        _ reader: any Reader, redact: @escaping (TranscriptEntry) -> TranscriptEntry = { $0 },
        now: (() -> Duration)? = nil, write: @escaping (String) -> Void
    ) {
        self.reader = reader
        self.redact = redact
        self.write = write
        let start = ContinuousClock.now
        self.now = now ?? { ContinuousClock.now - start }
        write(Transcript.header(reader.information))
    }

    /// What is known of the reader that does the work.
    public var information: ReaderInformation { reader.information }

    /// Looks for a card and writes it down.
    public func activate(_ request: ActivationRequest) throws(TransportError) -> PICC? {
        let time = now()
        let result = Result { () throws(TransportError) in try reader.activate(request) }
        if case .success(let picc) = result { mask.activated(picc) }
        record(time, .activate(request, result))
        return try result.get()
    }

    /// Sends a frame and writes it down.
    public func transceive(_ frame: [UInt8], timeout: Duration) throws(TransportError) -> [UInt8] {
        let time = now()
        let secret = mask.secret(in: frame)
        let result = Result { () throws(TransportError) in try reader.transceive(frame, timeout: timeout) }
        record(time, .transceive(frame, timeout: timeout, result), masking: secret)
        return try result.get()
    }

    /// Waits for the reader's event; nothing is written.
    public func waitForEvent(within time: Duration) throws(TransportError) -> Bool {
        try reader.waitForEvent(within: time)
    }

    /// Closes the reader that does the work; nothing is written.
    public func close() {
        reader.close()
    }

    private func record(_ time: Duration, _ event: TranscriptEntry.Event, masking secret: Range<Int>? = nil) {
        let entry = TranscriptEntry(time: time, event: event)
        write(redact(secret.map(entry.masking) ?? entry).line)
    }
}
