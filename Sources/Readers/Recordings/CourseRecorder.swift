// SPDX-License-Identifier: Apache-2.0

internal import CardModel
internal import CardReading
package import ReaderCore

/// A reader that records all requests and results, and the traffic below them, and passes on harmless frames only.
///
/// Nothing is masked before ``lines(isComplete:)``.
package final class CourseRecorder: Reader {
    package let information: ReaderInformation
    private let reader: any Reader
    private let link: LinkRecorder?
    private let now: () -> Duration
    /// The card that was found last.
    private var selected: PICC?
    private var isPaused = false
    private(set) var items: [Recording.Item] = []
    private var sections: [String] = []
    /// The size of the lines so far, about.
    private var bytes = 0
    /// When the course has to be over.
    private var deadline: Duration?

    /// - Parameters:
    ///   - reader: the reader that does the work.
    ///   - link: collects the traffic below it, if its driver can report that.
    ///   - now: the time since the link recorder was made, or since any moment without one.
    package init(_ reader: any Reader, link: LinkRecorder? = nil, now: @escaping () -> Duration) {
        (self.reader, self.link, self.now) = (reader, link, now)
        information = reader.information
        takeTraffic()
    }

    /// Whether the time is over, or the file full.
    package var isOver: Bool {
        bytes > Recording.longestFile * 3 / 4 || items.count > Recording.mostLines / 2
            || deadline.map { now() >= $0 } == true
    }

    /// Ends the course after this time; `nil` for no limit.
    func limit(_ time: Duration?) { deadline = time.map { now() + $0 } }

    /// Does something of which nothing is recorded.
    func withoutRecording<Value>(_ body: () throws(ReadingError) -> Value) throws(ReadingError) -> Value {
        takeTraffic()
        isPaused = true
        defer {
            _ = link?.take()
            isPaused = false
        }
        return try body()
    }

    // MARK: Lines

    func begin(_ section: String) {
        takeTraffic()
        sections.append(section)
        add(.section(section))
    }

    func end(_ outcome: Recording.Outcome) {
        takeTraffic()
        add(.outcome(outcome))
    }

    /// Adds a part that needs no reader.
    package func add(section: String, _ outcome: Recording.Outcome) {
        begin(section)
        end(outcome)
    }

    /// The masked lines after the first.
    package func lines(isComplete: Bool) -> [Recording.Item] {
        takeTraffic()
        return RecordingMask.apply(items + [.end(isComplete: isComplete, sections: sections)]).map(\.item)
    }

    private func add(_ item: Recording.Item) {
        guard !isPaused else { return }
        items.append(item)
        bytes += item.line.utf8.count
    }

    private func takeTraffic() {
        for event in traffic() { add(.link(event)) }
    }

    private func traffic() -> [LinkEvent] { link?.takeFrames() ?? [] }

    /// The exchange, then the traffic during it, so that times go forward.
    private func record(_ start: Duration, _ event: TranscriptEntry.Event, took: Duration, _ traffic: [LinkEvent]) {
        var entry = TranscriptEntry(time: start, event: event)
        entry.took = took
        for item in Recording.lines(entry, traffic) { add(item) }
    }

    // MARK: Reader

    package func activate(_ request: ActivationRequest) throws(TransportError) -> PICC? {
        guard !isOver else { throw .cancelled }
        let start = now()
        let result = Result { () throws(TransportError) in try reader.activate(request) }
        // To a card that has left since, the same may be sent.
        if let found = try? result.get() { selected = found }
        record(start, .activate(request, result), took: now() - start, traffic())
        return try result.get()
    }

    package func transceive(_ frame: [UInt8], timeout: Duration) throws(TransportError) -> [UInt8] {
        guard !isOver else { throw .cancelled }
        guard RecordingMask.isHarmless(frame, to: selected) else {
            throw .unsupported(detail: .init(.emptyFrame))
        }
        let start = now()
        let result = Result { () throws(TransportError) in try reader.transceive(frame, timeout: timeout) }
        record(start, .transceive(frame, timeout: timeout, result), took: now() - start, traffic())
        return try result.get()
    }

    package func waitForEvent(within time: Duration) throws(TransportError) -> Bool {
        try reader.waitForEvent(within: time)
    }

    package func cyclePower() throws(TransportError) -> Bool { try reader.cyclePower() }

    package func show(_ signal: ReaderSignal) throws(TransportError) -> Bool { try reader.show(signal) }

    package func silence() throws(TransportError) -> Bool { try reader.silence() }

    package func close() { reader.close() }
}
