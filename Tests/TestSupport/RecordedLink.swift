// SPDX-License-Identifier: Apache-2.0

package import ReaderCore

/// The frames of a recording in the order in which they passed, for a test that stands in for the reader.
///
/// The recording is played as far as every frame is whole: up to the exchange with a card whose frames were masked, or
/// that a command in `ends` belongs to.
package struct RecordedLink: Sendable {
    /// What passed, notes left out.
    package let events: [Event]
    /// The exchanges with the card that these frames are of.
    package let entries: [TranscriptEntry]
    /// What the driver noted.
    package let notes: [String]
    /// Whether all of the recording is played.
    package let isWhole: Bool

    /// A frame, or a transfer that failed.
    package enum Event: Hashable, Sendable {
        /// To the reader.
        case sent([UInt8])
        /// From the reader.
        case received([UInt8])
        /// The driver's word for what went wrong.
        case failed(String)
    }

    /// Reads a file of `Fixtures/recordings`.
    ///
    /// - Parameter ends: says which frames to the reader cannot be played.
    package init(_ transcript: Transcript, ends: ([UInt8]) -> Bool = { _ in false }) {
        var events: [Event] = []
        var entries: [TranscriptEntry] = []
        var notes: [String] = []
        var pending: [Event] = []
        var remarks = transcript.remarks[...]
        var isWhole = true
        func take(before number: Int) {
            while let remark = remarks.first, remark.number < number {
                remarks = remarks.dropFirst()
                guard case .link(let event) = remark.content else { continue }
                if event.isMasked { isWhole = false }
                switch event.content {
                case .sent(let bytes):
                    if ends(bytes) { isWhole = false }
                    pending.append(.sent(bytes))
                case .received(let bytes): pending.append(.received(bytes))
                case .failed(let word): pending.append(.failed(word))
                case .note(let text): notes.append(text)
                }
            }
        }
        for line in transcript.lines {
            take(before: line.number)
            guard isWhole else { break }
            events += pending
            pending = []
            entries.append(line.entry)
        }
        if isWhole {
            take(before: .max)
            events += pending
        }
        (self.events, self.entries, self.notes, self.isWhole) = (events, entries, notes, isWhole)
    }

    /// The recordings of readers whose ID begins in one of these ways, by their file names. Those of `kazasu contribute`
    /// are not among them: their frames are masked from the first card on, and RecordingsTests play their exchanges.
    package static func files(of readers: String...) -> [String] {
        TestFiles.names(in: "Fixtures/recordings").filter { name in
            guard let bytes = try? TestFiles.read("Fixtures/recordings/\(name)"),
                !bytes.starts(with: #"{"schema":"kazasu.recording/"#.utf8),
                let transcript = try? Transcript(parsing: bytes)
            else { return false }
            return readers.contains { transcript.reader.id.hasPrefix($0) }
        }
    }

    /// A file of `Fixtures/recordings`.
    package static func transcript(_ name: String) throws -> Transcript {
        try Transcript(parsing: TestFiles.read("Fixtures/recordings/\(name)"))
    }

    /// Asks a reader what the recorded one was asked.
    ///
    /// - Returns: the exchanges that ended otherwise.
    package func differences(on reader: any Reader) -> [String] {
        entries.enumerated().compactMap { number, entry in
            switch entry.event {
            case .activate(let request, let expected):
                let result = Result { () throws(TransportError) in try reader.activate(request) }
                return result == expected ? nil : "\(number): \(request) gave \(result), not \(expected)"
            case .transceive(let frame, let timeout, let expected):
                let result = Result { () throws(TransportError) in try reader.transceive(frame, timeout: timeout) }
                return result == expected ? nil : "\(number): \(frame) gave \(result), not \(expected)"
            }
        }
    }
}

extension Transcript {
    /// The exchanges in order.
    package var entries: [TranscriptEntry] { lines.map(\.entry) }

    /// The whole document without remarks, with a newline after each line.
    package var text: String {
        ([Transcript.header(reader)] + entries.map(\.line)).map { $0 + "\n" }.joined()
    }
}
