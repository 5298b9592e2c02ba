// SPDX-License-Identifier: Apache-2.0

import CardModel
import TestSupport
import Testing

/// `model` of a phone in `scan` and `poll`.
@Suite("The model of a phone", .waits)
struct PhoneModelTests {
    /// A phone that answers its model, eleven bytes, or nothing.
    private static func phone(_ model: String?, ic: String = "18", in folder: TemporaryFolder) throws -> String {
        let issue = model.map { #""containerIssue": "0001000068\#($0)""# } ?? ""
        return try folder.card(
            """
            {"schema":"kazasu.card/1","idm":"\(Card.idm)","pmm":"01\(ic)8b868fbecbff",
             "systems":[{"code":"0003","blocks":{"008B":["00000000000000002000000a000001e3"]}}],"virtual":{\(issue)}}
            """)
    }

    private static let pixel = "3030373031370000000000"

    static let models: [(model: String?, name: String?, code: String?, text: String?)] = [
        (pixel, "Google Pixel 7a", nil, "Google Pixel 7a"),
        ("534F30354B000000000000", nil, "SO05K", "SO05K (model code)"),
        ("1B5B324A00000000000000", nil, "1B5B324A00000000000000", "1B5B324A00000000000000 (model code)"),
        ("0000000000000000000000", nil, nil, nil), (nil, nil, nil, nil),
    ]

    @Test("A name, else what it answered, else null", arguments: models, ["scan", "poll"])
    func shown(_ row: (model: String?, name: String?, code: String?, text: String?), _ command: String) throws {
        let folder = try TemporaryFolder()
        let reader = try Self.phone(row.model, in: folder)
        let document = try Kazasu.run(command, "--json", "--reader", reader)
        #expect(document.hasEnded(0), "\(document.errors)")
        let card = try JSONCursor(JSONValue(parsing: Array(document.output.utf8))).required("card")
        #expect(try card.optional("model")?.text() == row.name)
        #expect(document.output.contains("\"model\": null") == (row.name == nil))
        #expect(try card.optional("modelCode")?.text() == row.code)
        let text = try Kazasu.run(command, "--reader", reader).output
        #expect(text.contains("Phone") == (row.text != nil))
        if let shown = row.text { #expect(text.contains(shown)) }
        let japanese = try Kazasu.run(command, "--lang", "ja", "--reader", reader).output
        #expect(japanese.contains("機種") == (row.text != nil))
    }

    @Test("Cards have no model", arguments: ["scan", "poll"]) func cards(_ command: String) throws {
        let folder = try TemporaryFolder()
        for ic in ["20", "36"] {
            let result = try Kazasu.run(command, "--json", "--reader", Self.phone(Self.pixel, ic: ic, in: folder))
            #expect(result.hasEnded(0) && !result.output.contains("model"))
        }
    }

    @Test("--redact hides it, in answers and in traces", arguments: [pixel, "534F30354B000000000000"])
    func redacted(_ model: String) throws {
        let folder = try TemporaryFolder()
        let reader = try Self.phone(model, in: folder)
        for command in [["scan"], ["scan", "--json"], ["poll"], ["poll", "--json"], ["poll", "--system", "0003"]] {
            let trace = "\(folder.path)/trace.jsonl"
            let result = try Kazasu.run(command + ["--redact", "--trace", trace, "--reader", reader])
            #expect(result.hasEnded(0))
            let written = result.output + (try folder.text("trace.jsonl"))
            let secrets = ["Pixel", "007017", "SO05K", String(model.prefix(10)), String(model.lowercased().prefix(10))]
            for secret in secrets {
                #expect(!written.contains(secret), "\(command)")
            }
            #expect(result.output.contains("********"))
            let again = try Kazasu.run(command + ["--redact", "--reader", "replay:\(trace)"])
            #expect(again.hasEnded(0), "\(again.errors)")
        }
    }

    @Test("A report hides it down to the reader's frames") func report() throws {
        let folder = try TemporaryFolder()
        let reader = try Self.phone(Self.pixel, in: folder)
        let path = "\(folder.path)/report.jsonl"
        let result = try Kazasu.run("doctor", "--report", path, "--yes", "--reader", reader)
        let report = try folder.text("report.jsonl")
        #expect(report.contains("\"scan\""), "\(result.errors)")
        for secret in ["Pixel", "007017", "303037303137", "30 30 37"] { #expect(!report.contains(secret)) }
    }

    @Test("A phone that is several cards is asked as well") func severalKinds() throws {
        let phone = "virtual:\(TestFiles.root)/Fixtures/virtual/phone.json"
        let result = try Kazasu.run("poll", "--json", "--reader", phone)
        #expect(result.output.contains("\"model\": \"Google Pixel 7a\""))
        let applications = try Kazasu.run("poll", "--json", "--applications", "--reader", phone)
        #expect(applications.output.contains("\"model\": \"Google Pixel 7a\""))
    }
}
