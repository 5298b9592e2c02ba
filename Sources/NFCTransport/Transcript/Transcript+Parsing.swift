// SPDX-License-Identifier: Apache-2.0

public import CardModel

extension Transcript {
    /// The longest transcript that is read, in bytes.
    public static let longestDocument = 32 << 20
    /// The longest line that is read, in bytes.
    ///
    /// The answer of a command stands in a report on one line.
    public static let longestLine = 1 << 20

    /// Reads the document `kazasu.trace/1`. Empty lines are passed over.
    ///
    /// - Throws: `DocumentError`; what is wrong in a line names the line.
    public init(parsing bytes: [UInt8]) throws(DocumentError) {
        guard bytes.count <= Transcript.longestDocument else {
            throw .tooLong(bytes: bytes.count, limit: Transcript.longestDocument)
        }
        var reader: ReaderInformation?
        var lines: [Line] = []
        var remarks: [Remark] = []
        var rest = bytes[...]
        var number = 0
        // Line by line, since a list of all lines of a file of newlines would fill the memory.
        while !rest.isEmpty {
            let line = rest.prefix { $0 != UInt8(ascii: "\n") }
            rest = rest[line.endIndex...].dropFirst()
            number += 1
            guard line.contains(where: { $0 > 0x20 }) else { continue }
            guard line.count <= Transcript.longestLine else {
                throw .malformedLine(line: number, expected: "at most \(Transcript.longestLine) bytes")
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
        guard found == schema else { throw .unknownSchema(found: found, supported: schema) }
        let reader = try json.required("reader")
        var information = ReaderInformation(
            id: try reader.required("id").text(), name: try reader.required("name").text())
        if let length = try reader.optional("longestFeliCaAnswer") {
            information.longestFeliCaAnswer = try length.integer(in: 1...255)
        }
        if let rates = try reader.optional("feliCaBitRates") {
            information.feliCaBitRates = try rates.list { rate throws(DocumentError) in try rate.bitRate() }
        }
        if let kinds = try reader.optional("technologies") {
            information.technologies = try kinds.list { kind throws(DocumentError) in
                guard let technology = Technology(rawValue: try kind.text()) else {
                    throw kind.malformed(Technology.allCases.map(\.rawValue).joined(separator: ", "))
                }
                return technology
            }
        }
        if let length = try reader.optional("longestCommandAPDU") {
            information.longestCommandAPDU = try length.integer(in: 5...65_544)
        }
        if let length = try reader.optional("longestResponseAPDU") {
            information.longestResponseAPDU = try length.integer(in: 2...65_538)
        }
        return information
    }

    /// The first line, without a newline.
    static func header(_ reader: ReaderInformation) -> String {
        let information: JSONObject = JSONObject([
            ("id", .string(reader.id)), ("name", .string(reader.name)),
            ("longestFeliCaAnswer", .int(reader.longestFeliCaAnswer)),
            ("feliCaBitRates", .array(reader.feliCaBitRates.map { .int($0.rawValue) })),
            ("technologies", .array(reader.technologies.map { .string($0.rawValue) })),
            ("longestCommandAPDU", .int(reader.longestCommandAPDU)),
            ("longestResponseAPDU", .int(reader.longestResponseAPDU)),
        ])
        return JSONValue.object(JSONObject([("schema", .string(schema)), ("reader", .object(information))]))
            .compactText
    }
}

extension Transcript.Remark.Content {
    /// - Returns: `nil` for a line that is an exchange.
    fileprivate init?(json: JSONCursor) throws(DocumentError) {
        switch try json.required("op").text() {
        case "link": self = .link(try LinkEvent(json: json))
        case "section": self = .section(command: try json.required("command").text())
        case "outcome": self = .outcome(json.value)
        case "report": self = .report(json.value)
        default: return nil
        }
    }
}

extension DocumentError {
    /// The same error as one of a line; a document of another schema stays that.
    fileprivate func inLine(_ line: Int) -> DocumentError {
        switch self {
        case .missing(let key): .malformedLine(line: line, expected: "the member \(key)")
        case .malformed(let key, let expected): .malformedLine(line: line, expected: "\(key): \(expected)")
        case .notJSON(let reason): .malformedLine(line: line, expected: "one JSON object (\(reason))")
        default: self
        }
    }
}
