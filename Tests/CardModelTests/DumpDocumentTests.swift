// SPDX-License-Identifier: Apache-2.0

import CardModel
import Testing

/// Every member of `kazasu.dump/1`: kept, checked, and named when it is wrong.
struct DumpDocumentTests {
    @Test func everyMemberIsReadAndWritten() throws {
        let dump = try CardDump(parsing: Array(DumpDocument.text.utf8))
        #expect(dump.json.prettyText == DumpDocument.text)
        let block = try #require(Block([0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15] as [UInt8]))
        let services = try #require(dump.system(.transit)?.services)
        #expect(
            services.map(\.state) == [.keyRequired, .lost, .refused(status: 0x01A6), .refused(status: nil), .skipped])
        #expect(services[1].blocks[0x00FF] == block)
        #expect(services[1].keyVersion == nil)
        #expect(
            dump.missing == [
                MissingPart(
                    system: .transit, service: ServiceCode(rawValue: 0x090F), fromBlock: 10, reason: .cardLost),
                MissingPart(reason: .radioError),
            ])
        #expect(dump.tool == "kazasu 0.1.0")
        #expect(dump.readAt == "2026-11-20T12:34:56+09:00")
        #expect(dump.reader == "pn532_uart:/dev/ttyUSB0")
        #expect(!dump.isComplete)
        #expect(dump.card.bitRate == 212)
    }

    @Test func theLeastDump() throws {
        let dump = try CardDump(parsing: Array(#"{"schema":"kazasu.dump/1","card":{"technology":"typeB"}}"#.utf8))
        #expect(dump == CardDump(card: CardIdentity(technology: .typeB)))
        #expect(CardIdentity.typeB(pupi: nil).bitRate == 106)
        let system = SystemDump(systemCode: .transit, idm: IDm(rawValue: 1), pmm: PMm(rawValue: 2))
        #expect(!system.isSkipped && system.assumed.isEmpty && system.services.isEmpty)
        #expect(
            dump.json.compactText
                == #"{"schema":"kazasu.dump/1","complete":true,"missing":[],"card":{"technology":"typeB"}}"#)
        let felica = CardDump(card: CardIdentity(technology: .felica)).json.compactText
        #expect(felica.hasSuffix(#""card":{"technology":"felica"},"felica":{"systems":[]}}"#))
    }

    static let optional = [
        "tool", "readAt", "reader", "complete", "missing", "card.idm", "card.pmm", "card.bitRate", "felica",
        "missing[0].system", "missing[0].service", "missing[0].fromBlock", "felica.systems[0].areas",
        "felica.systems[0].areas[0].keyVersion", "felica.systems[0].services",
        "felica.systems[0].services[0].keyVersion",
        "felica.systems[0].services[2].status", "felica.systems[0].services[0].blocks",
    ]

    @Test(arguments: optional, [nil, JSONValue.null]) func mayBeAbsent(_ path: String, _ value: JSONValue?) throws {
        let dump = try CardDump(json: DumpDocument.changed(DumpDocument.steps(path), to: value))
        #expect(try CardDump(json: dump.json) == dump)
    }

    static let required = [
        "schema", "card", "card.technology", "missing[1].reason", "felica.systems", "felica.systems[0].systemCode",
        "felica.systems[0].idm", "felica.systems[0].pmm", "felica.systems[0].areas[0].start",
        "felica.systems[0].areas[1].end", "felica.systems[0].services[4].code", "felica.systems[0].services[0].state",
    ]

    @Test(arguments: required, [nil, JSONValue.null]) func mustBeThere(_ path: String, _ value: JSONValue?) throws {
        let json = try DumpDocument.changed(DumpDocument.steps(path), to: value)
        #expect(throws: DocumentError.missing(key: path)) { try CardDump(json: json) }
    }

    struct Wrong: CustomTestStringConvertible, Sendable {
        let path: String
        let values: [JSONValue]
        let expected: DocumentError.Expectation
        var testDescription: String { path }

        init(_ path: String, _ values: [JSONValue], _ expected: DocumentError.Expectation) {
            (self.path, self.values, self.expected) = (path, values, expected)
        }
    }

    static let notAText: [JSONValue] = [1, true, [], [:], .number(0.5)]
    static let notAnObject: [JSONValue] = [1, true, [], "x"]
    static let notAnArray: [JSONValue] = [1, true, [:], "x"]
    static let notACode: [JSONValue] = ["", "x", "00003", "0x", "00 03", "-003", "00G3"]
    static let notAnID: [JSONValue] =
        notAText + ["", "01", "010103123456789", "01010312345678900", "01010312345678901", "zz01031234567890"]

    static let wrong = [
        Wrong("schema", notAText, .init(.string)), Wrong("tool", notAText, .init(.string)),
        Wrong("readAt", notAText, .init(.string)),
        Wrong("reader", notAText, .init(.string)), Wrong("complete", [1, 0, "true", [], [:]], .init(.bool)),
        Wrong("missing", notAnArray, .init(.array)), Wrong("missing[1]", notAnObject, .init(.object)),
        Wrong("missing[0].reason", notAText, .init(.string)),
        Wrong("card", notAnObject, .init(.object)), Wrong("card.technology", notAText, .init(.string)),
        Wrong("card.technology", ["", "FeliCa", "typeC"], .init(.oneOf, "felica", "typeA", "typeB")),
        Wrong("card.idm", notAnID, .init(.hexDigits, "16")), Wrong("card.pmm", notAnID, .init(.hexDigits, "16")),
        Wrong(
            "card.bitRate", ["212", -1, 10_001, .integer(.max), .number(0.5), .number(1e300), true],
            .init(.number, "0–10000")),
        Wrong("felica", notAnObject, .init(.object)), Wrong("felica.systems", notAnArray, .init(.array)),
        Wrong("felica.systems[0]", notAnObject, .init(.object)),
        Wrong("felica.systems[0].idm", notAnID, .init(.hexDigits, "16")),
        Wrong("felica.systems[0].pmm", notAnID, .init(.hexDigits, "16")),
        Wrong("felica.systems[0].areas", notAnArray, .init(.array)),
        Wrong("felica.systems[0].areas[1]", notAnObject, .init(.object)),
        Wrong("felica.systems[0].services", notAnArray, .init(.array)),
        Wrong("felica.systems[0].services[3]", notAnObject, .init(.object)),
        Wrong("felica.systems[0].services[1].state", notAText, .init(.string)),
        Wrong(
            "felica.systems[0].services[1].state", ["", "Read", "unread"],
            .init(.oneOf, "read", "keyRequired", "refused", "lost", "skipped")
        ),
        Wrong("felica.systems[0].services[1].blocks", notAnObject, .init(.object)),
        Wrong(
            "felica.systems[0].services[1].blocks.0000",
            notAText + [nil, "", "00", "00112233445566778899aabbccddeef", "00112233445566778899aabbccddeeff00"],
            .init(.hexDigits, "32")),
        Wrong(
            "felica.systems[0].services[1].blocks.10000", ["00112233445566778899aabbccddeeff"],
            .init(.hexName, "4")),
        Wrong(
            "felica.systems[0].services[1].blocks.00ff", ["00112233445566778899aabbccddeeff"],
            .init(.uniqueBlock)),
    ]

    static let codes = [
        "missing[0].system", "missing[0].service", "missing[0].fromBlock", "felica.systems[0].systemCode",
        "felica.systems[0].areas[0].start", "felica.systems[0].areas[0].end", "felica.systems[0].areas[1].keyVersion",
        "felica.systems[0].services[1].code", "felica.systems[0].services[1].keyVersion",
        "felica.systems[0].services[2].status",
    ].flatMap { [Wrong($0, notAText, .init(.string)), Wrong($0, notACode, .init(.hexDigits, "4"))] }

    @Test(arguments: wrong + codes) func wrongValuesAreNamed(_ test: Wrong) throws {
        for value in test.values {
            let json = try DumpDocument.changed(DumpDocument.steps(test.path), to: value)
            #expect(throws: DocumentError.malformed(key: test.path, expected: test.expected)) {
                try CardDump(json: json)
            }
        }
    }

    @Test func otherDocuments() {
        for value in [nil, 1, "x", []] as [JSONValue] {
            #expect(throws: DocumentError.malformed(key: "", expected: .init(.object))) {
                try CardDump(json: value)
            }
        }
        #expect(throws: DocumentError.missing(key: "schema")) { try CardDump(json: [:]) }
        for found in ["kazasu.dump/2", "kazasu.dump/0", "kazasu.dump/1 ", "KAZASU.DUMP/1", "kazasu.card/1", ""] {
            #expect(throws: DocumentError.unknownSchema(found: found, supported: "kazasu.dump/1")) {
                try CardDump(json: ["schema": .string(found), "card": 1])
            }
        }
    }

    static let levels = [
        "", "card", "felica", "missing[0]", "felica.systems[0]", "felica.systems[0].areas[1]",
        "felica.systems[0].services[2]",
    ]

    static let strangers: [JSONValue] = [nil, "kept", ["deep": [1, ["er": .number(0.25)]]], [], .integer(.min)]

    /// Members of later versions are kept at every level.
    @Test(arguments: levels, strangers) func unknownMembersAreKept(_ level: String, _ value: JSONValue) throws {
        let steps = DumpDocument.steps(level)
        let json = try DumpDocument.changed(steps + [.key("x-new")], to: value)
        let dump = try CardDump(json: json)
        let again = try CardDump(parsing: Array(dump.json.prettyText.utf8))
        #expect(again == dump)
        #expect(again != (try CardDump(parsing: Array(DumpDocument.text.utf8))))
        var found: JSONValue? = dump.json
        for step in steps + [.key("x-new")] {
            switch (step, found) {
            case (.key(let key), .object(let object)?): found = object[key]
            case (.index(let index), .array(let array)?): found = array[index]
            default: found = nil
            }
        }
        #expect(found == value)
    }

    /// What the layers behind the dump use has a place of its own; in another form than theirs it goes through unharmed.
    @Test(arguments: [
        ("felica.systems[0]", #""assumed":["idm","systemCode"],"skipped":true"#, 0),
        ("felica.systems[0]", #""assumed":["idm","weather"],"skipped":false"#, 2),
        ("felica.systems[0]", #""assumed":[],"skipped":"yes""#, 2),
        ("felica.systems[0].services[2]", #""sameAs":"090F","assumed":["code","blocks"],"masked":true"#, 0),
        ("felica.systems[0].services[2]", #""sameAs":"none","assumed":"blocks","masked":1"#, 3),
        ("type2", #""product":"NTAG213","closedFrom":"10","notAsked":["GET_VERSION"]"#, 0),
        ("type2", #""product":213,"closedFrom":"last","notAsked":[3]"#, 3),
        ("iso7816.applications[0].files[0]", #""triesLeft":2,"verified":false,"refusal":"wrongPIN""#, 0),
        ("iso7816.applications[0].files[0]", #""triesLeft":null,"verified":true"#, 0),
        ("iso7816.applications[0].files[0]", #""triesLeft":0,"verified":false,"refusal":"wrongPIN""#, 0),
        ("iso7816.applications[0].files[0]", #""triesLeft":15,"verified":false"#, 0),
        ("iso7816.applications[0].files[0]", #""triesLeft":2,"verified":false,"refusal":"mood""#, 1),
        ("iso7816.applications[0].files[0]", #""triesLeft":2"#, 1),
    ]) func typedMembersAreKept(_ level: String, _ members: String, _ unknown: Int) throws {
        let systems =
            #"{"systemCode":"0003","idm":"0101031234567890","pmm":"0120220427674eff","areas":[],"services":[]}"#
        let service = #"{"code":"090D","keyVersion":null,"state":"skipped","blocks":{}}"#
        var (felica, type2) = (systems, #"{"pages":{"00":"04a1b29f"}}"#)
        var file = #"{"id":"0001","state":"keyRequired","data":""}"#
        switch level {
        case "type2": type2 = type2.dropLast() + "," + members + "}"
        case "felica.systems[0]": felica = felica.dropLast() + "," + members + "}"
        case "iso7816.applications[0].files[0]": file = file.dropLast() + "," + members + "}"
        default: felica = felica.dropLast(2) + service.dropLast() + "," + members + "}]}"
        }
        let text =
            #"{"schema":"kazasu.dump/1","complete":true,"missing":[],"card":{"technology":"felica"},"#
            + #""felica":{"systems":[\#(felica)]},"iso7816":{"applications":[{"aid":null,"files":[\#(file)]}]},"#
            + #""type2":\#(type2)}"#
        let dump = try CardDump(parsing: Array(text.utf8))
        #expect(dump.json.compactText == text)
        let extras =
            dump.systems.map(\.extra) + dump.systems.flatMap(\.services).map(\.extra)
            + dump.applications.flatMap(\.files).map(\.extra) + [dump.type2?.extra ?? JSONObject()]
        #expect(extras.map(\.members.count).reduce(0, +) == unknown)
    }

    @Test func otherTechnologiesAreKept() throws {
        let text =
            #"{"schema":"kazasu.dump/1","complete":true,"missing":[],"card":{"technology":"typeA","uid":"04a1"},"#
            + #""type2":{"pages":{"00":"04a1b29f"}}}"#
        #expect(try CardDump(parsing: Array(text.utf8)).json.compactText == text)
        // A status belongs to `refused`; elsewhere it is a member like any other that is not known.
        let path = "felica.systems[0].services[0].status"
        let dump = try CardDump(json: DumpDocument.changed(DumpDocument.steps(path), to: "0100"))
        #expect(dump.systems[0].services[0].extra["status"] == "0100")
        #expect(dump.json.compactText.contains(#""state":"keyRequired","blocks":{},"status":"0100""#))
    }
}
