// SPDX-License-Identifier: Apache-2.0

/// All that a reader was asked in one run: the document `kazasu.trace/1`, one JSON object a line.
///
/// The first line is `{"schema":"kazasu.trace/1","reader":{…}}`; each further line is one ``TranscriptEntry``.
public struct Transcript: Hashable, Sendable {
    /// The value of the first line's `schema` member.
    public static let schema = "kazasu.trace/1"

    /// The reader that was used.
    public var reader: ReaderInformation
    /// What it was asked, in order.
    public var lines: [Line]

    /// One exchange and where it stands.
    public struct Line: Hashable, Sendable {
        /// The number of the line in the file, from 1.
        public var number: Int
        /// What was asked and what came.
        public var entry: TranscriptEntry

        /// One exchange and where it stands.
        public init(number: Int, entry: TranscriptEntry) {
            self.number = number
            self.entry = entry
        }
    }

    /// A transcript of these exchanges, on the lines after the first.
    public init(reader: ReaderInformation, entries: [TranscriptEntry] = []) {
        self.reader = reader
        lines = entries.enumerated().map { Line(number: $0 + 2, entry: $1) }
    }

    /// The exchanges in order.
    public var entries: [TranscriptEntry] { lines.map(\.entry) }

    /// The whole document, with a newline after each line.
    public var text: String {
        ([Transcript.header(reader)] + entries.map(\.line)).map { $0 + "\n" }.joined()
    }
}
