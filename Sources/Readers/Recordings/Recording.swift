// SPDX-License-Identifier: Apache-2.0

internal import ByteCodec
internal import CardCrypto
internal import CardModel
package import ReaderCore

/// What a reader and a card said to each other: the document `kazasu.recording/1`, one JSON object a line, as
/// `kazasu contribute` and `--trace` write it.
///
/// The first line describes reader and system, the last one says whether the course is complete. Except in a trace, every
/// value passed the ``RecordingMask``.
package enum Recording {
    package static let schema = Transcript.recordingSchema
    /// The longest file, in bytes. A longer one is not read any further.
    package static let longestFile = 4 << 20
    package static let mostLines = 100_000

    /// What was recorded.
    package enum Course: String, Hashable, Sendable, CaseIterable {
        /// The fixed course of ``ReaderCourse``.
        case reader
        /// The last command that failed.
        case problem
        /// Whatever a command did with `--trace`, masked with `--redact` only.
        case trace
    }

    /// The first line.
    package struct Header: Hashable, Sendable {
        package var course: Course
        /// The program and its version, as `kazasu 0.3.0`.
        package var tool: String
        /// `YYYY-MM-DD`, UTC.
        package var day: String
        package var reader: ReaderInformation
        /// Whether reader or card is simulated.
        package var isSimulated: Bool
        /// Versions of what is below Kazasu, by ``RecordingWords/systemNames``.
        package var system: [String: String]

        package init(
            course: Course, tool: String, day: String, reader: ReaderInformation, isSimulated: Bool,
            system: [String: String]
        ) {
            (self.course, self.tool, self.day, self.reader) = (course, tool, day, reader)
            (self.isSimulated, self.system) = (isSimulated, system)
        }

        /// The line, without a newline.
        package var line: String {
            var information = reader.json
            if !reader.hearsFailures { information["hearsFailures"] = false }
            if isSimulated { information["simulated"] = true }
            let system = RecordingWords.systemNames.map { ($0, JSONValue.text(self.system[$0])) }
            return JSONValue.object(
                JSONObject([
                    ("schema", .string(Recording.schema)), ("course", .string(course.rawValue)),
                    ("tool", .string(tool)), ("day", .string(day)), ("reader", .object(information)),
                    ("system", .object(JSONObject(system))),
                ])
            ).compactText
        }

        init(json: JSONCursor) throws(DocumentError) {
            let schema = try json.required("schema").text()
            guard schema == Recording.schema else {
                throw .unknownSchema(found: schema, supported: Recording.schema)
            }
            let word = try json.required("course")
            guard let course = Course(rawValue: try word.text()) else {
                throw word.malformed(.oneOf, values: Course.allCases.map(\.rawValue))
            }
            self.course = course
            tool = try json.required("tool").text()
            day = try json.required("day").text()
            let reader = try json.required("reader")
            self.reader = try ReaderInformation(json: reader)
            isSimulated = try reader.optional("simulated")?.bool() ?? false
            let system = try json.required("system")
            self.system = [:]
            for name in RecordingWords.systemNames {
                if let version = try system.optional(name) { self.system[name] = try version.text() }
            }
        }
    }

    /// Any other line.
    package enum Item: Hashable, Sendable {
        /// A part of the course begins. What the part leaves out although the card has it is known before for a trace only,
        /// by ``RecordingWords/omissions``; else its outcome says so.
        case section(String, left: [String] = [])
        /// Traffic between the computer and the reader.
        case link(LinkEvent)
        /// A request to the reader and its result.
        case exchange(TranscriptEntry)
        /// How the part ended.
        case outcome(Outcome)
        /// The last line.
        case end(isComplete: Bool, sections: [String])

        /// The line, without a newline.
        package var line: String {
            switch self {
            case .section(let name, let left):
                Self.section(name, left)
            case .link(let event): event.line
            case .exchange(let entry): entry.line
            case .outcome(let outcome): outcome.line
            case .end(let isComplete, let sections):
                JSONValue.object(
                    JSONObject([
                        ("op", "end"), ("complete", .bool(isComplete)),
                        ("sections", .array(sections.map { .string($0) })),
                    ])
                ).compactText
            }
        }

        private static func section(_ name: String, _ left: [String]) -> String {
            var object = JSONObject([("op", "section"), ("command", .string(name))])
            object["left"] = .list(left)
            return JSONValue.object(object).compactText
        }

        init(json: JSONCursor) throws(DocumentError) {
            let operation = try json.required("op")
            switch try operation.text() {
            case "section":
                self = .section(
                    try json.required("command").text(),
                    left: try json.optional("left")?.list { word throws(DocumentError) in try word.text() } ?? [])
            case "link": self = .link(try LinkEvent(json: json))
            case "outcome": self = .outcome(try Outcome(json: json))
            case "end":
                self = .end(
                    isComplete: try json.required("complete").bool(),
                    sections: try json.required("sections").list { name throws(DocumentError) in try name.text() })
            default: self = .exchange(try TranscriptEntry(json: json))
            }
        }

        /// The time since the recording began; `nil` for lines without one.
        var time: Duration? {
            switch self {
            case .link(let event): event.time
            case .exchange(let entry): entry.time
            case .section, .outcome, .end: nil
            }
        }
    }

    /// An exchange and the traffic during it, in the order of their times.
    static func lines(_ entry: TranscriptEntry, _ traffic: [LinkEvent]) -> [Item] {
        let split = traffic.firstIndex { $0.time >= entry.time } ?? traffic.endIndex
        return traffic[..<split].map { .link($0) } + [.exchange(entry)] + traffic[split...].map { .link($0) }
    }

    /// How a part of the course ended.
    package struct Outcome: Hashable, Sendable {
        /// The exit status that a command with this end would have.
        package var status: Int
        /// A word of ``RecordingWords/reasons``; `nil` if the part is complete.
        package var reason: String?
        /// The codes of `kazasu doctor`, each with the model of its reader, if it has one.
        package var findings: [Finding] = []
        /// What the part leaves out although the card has it, by ``RecordingWords/omissions``.
        package var left: [String] = []

        /// What the USB says about the connected readers.
        package var devices: [Device] = []

        /// The numbers of a USB reader.
        package struct Device: Hashable, Sendable {
            package var vendor: UInt16
            package var product: UInt16
            /// bcdDevice, where many readers have the version of their firmware.
            package var release: UInt16?

            package init(vendor: UInt16, product: UInt16, release: UInt16?) {
                (self.vendor, self.product, self.release) = (vendor, product, release)
            }
        }

        /// A code of `kazasu doctor`.
        package struct Finding: Hashable, Sendable {
            package var code: String
            package var model: String?

            package init(code: String, model: String?) {
                (self.code, self.model) = (code, model)
            }
        }

        package init(status: Int, reason: String? = nil) {
            (self.status, self.reason) = (status, reason)
        }

        fileprivate var line: String {
            var object = JSONObject([("op", "outcome"), ("status", .int(status))])
            if let reason { object["reason"] = .string(reason) }
            if !findings.isEmpty {
                object["findings"] = .array(
                    findings.map { .object(JSONObject([("code", .string($0.code)), ("model", .text($0.model))])) })
            }
            if !devices.isEmpty {
                object["devices"] = .array(
                    devices.map { device in
                        .object(
                            JSONObject([
                                ("vendorId", .string(Self.digits(device.vendor))),
                                ("productId", .string(Self.digits(device.product))),
                                ("release", .text(device.release.map(Self.digits))),
                            ]))
                    })
            }
            object["left"] = .list(left)
            return JSONValue.object(object).compactText
        }

        private static func digits(_ number: UInt16) -> String { Hex.encode(number, digits: 4, uppercase: false) }

        private static func number(_ json: JSONCursor) throws(DocumentError) -> UInt16 {
            try json.bytes(count: 2).reduce(0) { $0 << 8 | UInt16($1) }
        }

        fileprivate init(json: JSONCursor) throws(DocumentError) {
            status = try json.required("status").integer(in: 0...255)
            reason = try json.optional("reason")?.text()
            findings =
                try json.optional("findings")?.list { finding throws(DocumentError) in
                    Finding(code: try finding.required("code").text(), model: try finding.optional("model")?.text())
                } ?? []
            devices =
                try json.optional("devices")?.list { device throws(DocumentError) in
                    Device(
                        vendor: try Self.number(device.required("vendorId")),
                        product: try Self.number(device.required("productId")),
                        release: try device.optional("release").map { release throws(DocumentError) in
                            try Self.number(release)
                        })
                } ?? []
            left = try json.optional("left")?.list { word throws(DocumentError) in try word.text() } ?? []
        }
    }

    /// The name of a file with these contents: the reader's model, and the first 16 digits of the digest.
    ///
    /// - Throws: `CryptoError` if there is no library for digests.
    package static func fileName(model: String, of bytes: [UInt8]) throws -> String {
        "\(model)-\(Hex.encode(try Digest.sha256.hash(bytes).prefix(8))).jsonl"
    }
}
