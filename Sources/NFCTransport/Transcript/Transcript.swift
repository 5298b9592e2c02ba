// SPDX-License-Identifier: Apache-2.0

package import CardModel

/// All that a reader was asked in one run: the document `kazasu.trace/1`, one JSON object a line.
///
/// The first line is `{"schema":"kazasu.trace/1","reader":{…}}`; each further line is one ``TranscriptEntry``.
///
/// A report of `kazasu doctor --report` has more lines, which are not played: the frames between computer and reader
/// (``LinkEvent``), and for each command that was recorded a `section` before it and its `outcome` after it.
public struct Transcript: Hashable, Sendable {
    /// The value of the first line's `schema` member.
    public static let schema = "kazasu.trace/1"

    /// The reader that was used.
    public var reader: ReaderInformation
    /// What it was asked, in order.
    public var lines: [Line]
    /// The lines of a report that are no exchanges, in order.
    package var remarks: [Remark] = []

    /// A line of a report that is no exchange.
    package struct Remark: Hashable, Sendable {
        /// What it says.
        package enum Content: Hashable, Sendable {
            /// Something passed between computer and reader.
            case link(LinkEvent)
            /// From here on, what this command did.
            case section(command: String)
            /// How that command ended: `status`, and `answer` or `error` as it printed them.
            case outcome(JSONValue)
            /// What was found of the machine.
            case report(JSONValue)

            /// As a line of the file, without a newline.
            package var line: String {
                switch self {
                case .link(let event): event.line
                case .section(let command):
                    Content.line("section", ["command": .string(command)])
                case .outcome(let value): Content.line("outcome", value)
                case .report(let value): Content.line("report", value)
                }
            }

            private static func line(_ operation: String, _ value: JSONValue) -> String {
                var object = JSONObject([("op", .string(operation))])
                if case .object(let members) = value { object.merge(members) }
                return JSONValue.object(object).compactText
            }
        }

        /// The number of the line in the file, from 1.
        package var number: Int
        /// What it says.
        package var content: Content
    }

    /// The commands that a report has recorded, in order, with their outcomes; empty for a plain trace.
    package var sections: [(command: String, outcome: JSONValue?)] {
        var sections: [(command: String, outcome: JSONValue?)] = []
        for remark in remarks {
            switch remark.content {
            case .section(let command): sections.append((command, nil))
            case .outcome(let value) where !sections.isEmpty: sections[sections.count - 1].outcome = value
            default: break
            }
        }
        return sections
    }

    /// What a command is to be played: its section of a report, else the first one; a plain trace as it is.
    package func playing(_ command: String?) -> Transcript {
        let starts = remarks.compactMap { remark -> (number: Int, command: String)? in
            if case .section(let command) = remark.content { (remark.number, command) } else { nil }
        }
        guard let index = starts.firstIndex(where: { $0.command == command }) ?? starts.indices.first else {
            return self
        }
        let end = index + 1 < starts.count ? starts[index + 1].number : Int.max
        var transcript = self
        transcript.lines = lines.filter { $0.number > starts[index].number && $0.number < end }
        return transcript
    }

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
