// SPDX-License-Identifier: Apache-2.0

package import CardModel

/// All requests to a reader in one run: the document `kazasu.trace/1`, one JSON object per line.
///
/// The first line is `{"schema":"kazasu.trace/1","reader":{…}}`; each further line is one ``TranscriptEntry``.
///
/// A recording (`kazasu.recording/1`) has more lines, which are not replayed: the frames between computer and reader
/// (``LinkEvent``), a `section` before each part with its `outcome` after it, and an `end`.
package struct Transcript: Hashable, Sendable {
    /// The value of the first line's `schema` member.
    package static let schema = "kazasu.trace/1"
    /// The schema of what `kazasu contribute` and `--trace` write.
    package static let recordingSchema = "kazasu.recording/1"
    /// The command that replays every section of such a file.
    package static let recordingCommand = "contribute"

    /// The reader that was used.
    package var reader: ReaderInformation
    /// The requests and results, in order.
    package var lines: [Line]
    /// The lines of a recording that are not exchanges, in order.
    package var remarks: [Remark] = []

    /// A line of a recording that is not an exchange.
    package struct Remark: Hashable, Sendable {
        /// The kinds of remark.
        package enum Content: Hashable, Sendable {
            /// Traffic between computer and reader.
            case link(LinkEvent)
            /// The start of what this command did.
            case section(command: String)
            /// The outcome of that command: `status`, and `answer` or `error` as it printed them.
            case outcome(JSONValue)
            /// The last line, or what older versions wrote about the machine.
            case other(JSONValue)

            /// The line of the file, without a newline.
            package var line: String {
                switch self {
                case .link(let event): event.line
                case .section(let command):
                    Content.line("section", ["command": .string(command)])
                case .outcome(let value): Content.line("outcome", value)
                case .other(let value): value.compactText
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
        package var content: Content
    }

    /// Returns the part to replay: the command's section of a recording, else the first one with an exchange; a plain trace
    /// unchanged, and all sections for the command that recorded them.
    package func playing(_ command: String?) -> Transcript {
        if command == Transcript.recordingCommand { return self }
        let starts = remarks.compactMap { remark -> (number: Int, command: String)? in
            if case .section(let command) = remark.content { (remark.number, command) } else { nil }
        }
        func part(_ index: Int) -> [Line] {
            let end = index + 1 < starts.count ? starts[index + 1].number : Int.max
            return lines.filter { $0.number > starts[index].number && $0.number < end }
        }
        guard
            let index = starts.firstIndex(where: { $0.command == command })
                ?? starts.indices.first(where: { !part($0).isEmpty }) ?? starts.indices.first
        else {
            return self
        }
        var transcript = self
        transcript.lines = part(index)
        return transcript
    }

    /// One exchange and its position.
    package struct Line: Hashable, Sendable {
        /// The number of the line in the file, from 1.
        package var number: Int
        /// The request and the result.
        package var entry: TranscriptEntry

        package init(number: Int, entry: TranscriptEntry) {
            self.number = number
            self.entry = entry
        }
    }

    /// Makes a transcript of these exchanges, on the lines after the first.
    package init(reader: ReaderInformation, entries: [TranscriptEntry] = []) {
        self.reader = reader
        lines = entries.enumerated().map { Line(number: $0 + 2, entry: $1) }
    }
}

extension Transcript {
    /// The longest transcript that is accepted, in bytes.
    package static let longestDocument = 32 << 20
    /// The longest line that is accepted, in bytes.
    ///
    /// In older recordings, the answer of a command is on one line.
    package static let longestLine = 1 << 20

    /// Reads the document `kazasu.trace/1`. Empty lines are skipped.
    ///
    /// - Throws: `DocumentError`; faults in a line give its number.
    package init(parsing bytes: [UInt8]) throws(DocumentError) {
        guard bytes.count <= Transcript.longestDocument else {
            throw .tooLong(bytes: bytes.count, limit: Transcript.longestDocument)
        }
        var reader: ReaderInformation?
        var lines: [Line] = []
        var remarks: [Remark] = []
        var rest = bytes[...]
        var number = 0
        // Read line by line, since an array of all lines of a file of newlines would fill the memory.
        while !rest.isEmpty {
            let line = rest.prefix { $0 != UInt8(ascii: "\n") }
            rest = rest[line.endIndex...].dropFirst()
            number += 1
            guard line.contains(where: { $0 > 0x20 }) else { continue }
            guard line.count <= Transcript.longestLine else {
                throw .malformedLine(line: number, expected: .init(.atMostBytes, "\(Transcript.longestLine)"))
            }
            do throws(DocumentError) {
                let json = JSONCursor(try JSONValue(parsing: Array(line)))
                if reader == nil {
                    reader = try Transcript.reader(json)
                } else if let content = try Remark.Content(json: json) {
                    remarks.append(Remark(number: number, content: content))
                } else {
                    lines.append(Line(number: number, entry: try TranscriptEntry(json: json)))
                }
            } catch {
                throw error.inLine(number)
            }
        }
        guard let reader else { throw .missing(key: "schema") }
        self.reader = reader
        self.lines = lines
        self.remarks = remarks
    }

    private static func reader(_ json: JSONCursor) throws(DocumentError) -> ReaderInformation {
        let found = try json.required("schema").text()
        guard [schema, recordingSchema].contains(found) else {
            throw .unknownSchema(
                found: found, supported: found.hasPrefix("kazasu.recording/") ? recordingSchema : schema)
        }
        return try ReaderInformation(json: json.required("reader"))
    }

    /// The first line, without a newline.
    package static func header(_ reader: ReaderInformation) -> String {
        JSONValue.object(JSONObject([("schema", .string(schema)), ("reader", .object(reader.json))])).compactText
    }
}

extension ReaderInformation {
    /// The member `reader` of a first line.
    package var json: JSONObject {
        JSONObject([
            ("id", .string(id)), ("name", .string(name)),
            ("longestFeliCaAnswer", .int(longestFeliCaAnswer)),
            ("feliCaBitRates", .array(feliCaBitRates.map { .int($0.rawValue) })),
            ("technologies", .array(technologies.map { .string($0.rawValue) })),
            ("longestCommandAPDU", .int(longestCommandAPDU)),
            ("longestResponseAPDU", .int(longestResponseAPDU)),
        ])
    }

    /// Reads the member `reader` of a first line.
    package init(json: JSONCursor) throws(DocumentError) {
        self.init(id: try json.required("id").text(), name: try json.required("name").text())
        if let length = try json.optional("longestFeliCaAnswer") {
            longestFeliCaAnswer = try length.integer(in: 1...255)
        }
        if let rates = try json.optional("feliCaBitRates") {
            feliCaBitRates = try rates.list { rate throws(DocumentError) in try rate.bitRate() }
        }
        if let kinds = try json.optional("technologies") {
            technologies = try kinds.list { kind throws(DocumentError) in
                guard let technology = Technology(rawValue: try kind.text()) else {
                    throw kind.malformed(.oneOf, values: Technology.allCases.map(\.rawValue))
                }
                return technology
            }
        }
        if let length = try json.optional("longestCommandAPDU") {
            longestCommandAPDU = try length.integer(in: 5...65_544)
        }
        if let length = try json.optional("longestResponseAPDU") {
            longestResponseAPDU = try length.integer(in: 2...65_538)
        }
        if let hears = try json.optional("hearsFailures") { hearsFailures = try hears.bool() }
    }
}

extension Transcript.Remark.Content {
    /// - Returns: `nil` for a line that is an exchange.
    fileprivate init?(json: JSONCursor) throws(DocumentError) {
        switch try json.required("op").text() {
        case "link": self = .link(try LinkEvent(json: json))
        case "section": self = .section(command: try json.required("command").text())
        case "outcome": self = .outcome(json.value)
        case "end", "report": self = .other(json.value)
        default: return nil
        }
    }
}

extension DocumentError {
    /// Returns the same error for a line; the error for a document of another schema is unchanged.
    fileprivate func inLine(_ line: Int) -> DocumentError {
        switch self {
        case .missing(let key): .malformedLine(line: line, expected: .init(.member, "\(key)"))
        case .malformed(let key, let expected):
            .malformedLine(line: line, expected: .init(expected.code, values: expected.values, key: key))
        case .notJSON(_, _, let byte): .malformedLine(line: line, expected: .init(.jsonObject, "\(byte)"))
        default: self
        }
    }
}
