// SPDX-License-Identifier: Apache-2.0

import ByteCodec
import CardModel
import ReaderCore
import Testing
import VirtualReader

/// Cards from dumps and from hand-written files, and files that are wrong.
struct CardFileTests {
    static let suica = """
        {"schema": "kazasu.dump/1", "card": {"technology": "felica", "idm": "0101031234567890"},
         "virtual": {"statusStyle": "bitmap"},
         "felica": {"systems": [
          {"systemCode": "0003", "idm": "0101031234567890", "pmm": "0120220427674EFF",
           "areas": [{"start": "0000", "end": "FFFE", "keyVersion": "0001"}, {"start": "0040", "end": "07FF"},
                     {"start": "0800", "end": "0FC1"}],
           "services": [
            {"code": "0048", "keyVersion": "0007", "state": "keyRequired"},
            {"code": "008B", "state": "read", "blocks": {"0000": "00000000000000002000000A000001E3"}},
            {"code": "0810", "state": "keyRequired"},
            {"code": "090C", "state": "keyRequired"},
            {"code": "090F", "state": "read", "blocks": {
              "0000": "16010002166CE33BE6210A000001E300", "0001": "16010002166BE336E338AA000001E100",
              "0003": "16010002166AE537E33DEA010001DD00"}},
            {"code": "094B", "state": "refused", "status": "01A4"},
            {"code": "098B", "state": "refused"},
            {"code": "0A09", "state": "read", "blocks": {"0000": "000102030405060708090A0B0C0D0E0F"}},
            {"code": "0A0B", "state": "skipped"},
            {"code": "0A4B", "state": "lost"}]},
          {"systemCode": "FE00", "idm": "1101031234567890", "pmm": "0120220427674EFF"}]}}
        """

    static let suicaCommands: [Vector] = [
        Vector("0C0A<I>0000", "0E0B<I>0000FEFF"), Vector("0C0A<I>0100", "0E0B<I>4000FF07"),
        Vector("0C0A<I>0200", "0C0B<I>4800"), Vector("0C0A<I>0300", "0C0B<I>8B00"),
        Vector("0C0A<I>0400", "0E0B<I>0008C10F"), Vector("0C0A<I>0500", "0C0B<I>1008"),
        Vector("0C0A<I>0C00", "0C0B<I>4B0A"), Vector("0C0A<I>0D00", "0C0B<I>FFFF"),
        Vector("1102<I>03FFFF48008B00", "1103<I>03010007000000"),
        Vector("1006<I>018B00018000", "1D07<I>00000100000000000000002000000A000001E3"),
        Vector("1006<I>014800018000", "0C07<I>01A5"),
        Vector("1006<I>010F09018001", "1D07<I>00000116010002166BE336E338AA000001E100"),
        Vector("1006<I>010F09018002", "0C07<I>01A8"),
        Vector("1006<I>010F09018004", "0C07<I>01A8"),
        Vector("1006<I>014B09018000", "0C07<I>01A4"),
        Vector("1006<I>018B09018000", nil),
        Vector("1006<I>010B0A018000", "1D07<I>000001000102030405060708090A0B0C0D0E0F"),
        Vector("1006<I>014B0A018000", "0C07<I>01A8"),
        Vector("0A0C<I>", "0F0D<I>020003FE00"),
        Vector("0600FE000000", "120111010312345678900120220427674EFF"),
    ]

    @Test(arguments: suicaCommands) func dump(_ vector: Vector) throws {
        try vector.check(.from(Self.suica), idm: "0101031234567890")
    }

    @Test func appliesTheVirtualMemberOfADump() throws {
        let card = try VirtualFeliCaCard.from(Self.suica)
        #expect(card.profile.statusStyle == .bitmap)
        #expect(card.profile.blocksPerRead == 12)
        let dump = try CardDump(parsing: Array(Self.suica.utf8))
        #expect(try VirtualCardFile.card(of: dump).profile.statusStyle == .ordinal)
    }

    /// The complete lists of real cards that metrodroid tests with: what goes in comes out by Search Service Code.
    @Test(arguments: [
        """
        0048 004A 0088 008B 00C8 00CA 00CC 00CE 00D0 00D2 00D4 00D6 0810 0812 0816 0850 0852 0856 0890 0892 0896 08C8 \
        08CA 090A 090C 090F 1008 100A 1048 104A 108C 108F 10C8 10CB 1108 110A 1148 114A 1808 180A 1848 184B 18C8 18CA \
        1908 190A 1948 194B 1988 198B 2308 230A 2348 234B 2388 238B 23C8 23CB
        """,
        """
        0048 004A 0088 008B 0810 0812 0816 0850 0852 0856 0890 0892 0896 08C8 08CA 090A 090C 090F 1008 100A 1048 104A \
        108C 108F 10C8 10CB 1108 110A 1148 114A 1848 184B 1908 190A 1948 194B 1988 198B 1CC8 1CCA 1D08 1D0A 2308 230A \
        2348 234B 2388 238B 23C8 23CB
        """,
    ])
    func serviceLists(_ list: String) throws {
        let codes = list.split(whereSeparator: { $0 == " " || $0 == "\n" }).map(String.init)
        let nodes = codes.map { "\"\($0)\"" }.joined(separator: ",")
        let card = try VirtualFeliCaCard.from(
            """
            {"schema": "kazasu.card/1", "idm": "0102030405060708", "pmm": "0120220427674EFF",
             "systems": [{"code": "0003", "nodes": [\(nodes)]}]}
            """)
        var found: [String] = []
        for index in 1...codes.count + 1 {
            let answer = try #require(
                try card.ask("0A<I>" + Hex.encode(index & 0xFF, digits: 2) + Hex.encode(index >> 8, digits: 2)))
            found.append(answer.suffix(2).uppercased() + answer.dropLast(2).suffix(2).uppercased())
        }
        #expect(found == codes + ["FFFF"])
    }

    @Test func injectsTheFaultsOfAFile() throws {
        let text = Self.suica.replacing(
            "\"statusStyle\": \"bitmap\"",
            with: """
                "faults": [{"fault": "silence", "at": 1}, {"fault": "damaged", "status": "05", "from": 2, "to": 3},
                  {"fault": "truncated", "length": 4, "every": 4}, {"fault": "absent", "from": 5}]
                """)
        let field = try VirtualField(cardFile: Array(text.utf8))
        let polling: [UInt8] = [0x06, 0x00, 0xFF, 0xFF, 0x00, 0x00]
        let outcomes = (1...6).map { _ in field.exchange(polling, at: .kbps212) }
        #expect(outcomes[0] == .silence)
        #expect(outcomes[1...2].allSatisfy { $0 == .damaged(status: 0x05) })
        guard case .answer(let short) = outcomes[3] else {
            Issue.record("exchange 4 was to be truncated, but was \(outcomes[3])")
            return
        }
        #expect(short.frame == [0x12, 0x01, 0x01, 0x01])
        #expect(outcomes[4...5].allSatisfy { $0 == .silence })
    }

    // MARK: wrong files

    struct Wrong: CustomTestStringConvertible, Sendable {
        let text: String
        let key: String
        var testDescription: String { key }
        init(_ key: String, _ text: String) {
            self.key = key
            self.text = text
        }

        /// A card of which one system and one option can be chosen.
        static func card(_ key: String, system: String = "\"code\": \"0003\"", virtual: String = "") -> Wrong {
            Wrong(
                key,
                """
                {"schema": "kazasu.card/1", "idm": "0102030405060708", "pmm": "0120220427674EFF",
                 "systems": [{\(system)}], "virtual": {\(virtual)}}
                """)
        }
    }

    static let head = "\"schema\": \"kazasu.card/1\", \"idm\": \"0102030405060708\", \"pmm\": \"0120220427674EFF\""

    static let wrong: [Wrong] = [
        Wrong("schema", "{}"),
        Wrong("schema", "{\"schema\": 1}"),
        Wrong("idm", "{\"schema\": \"kazasu.card/1\"}"),
        Wrong("idm", "{\"schema\": \"kazasu.card/1\", \"idm\": \"01\"}"),
        Wrong("pmm", "{\"schema\": \"kazasu.card/1\", \"idm\": \"0102030405060708\", \"pmm\": \"zz\"}"),
        Wrong("systems", "{\(head)}"),
        Wrong("systems", "{\(head), \"systems\": []}"),
        Wrong(
            "systems",
            "{\(head), \"systems\": [\(Array(repeating: "{\"code\":\"0003\"}", count: 17).joined(separator: ","))]}"),
        Wrong("color", "{\(head), \"color\": 1}"),
        Wrong("lite.kind", "{\(head), \"lite\": {\"kind\": \"plug\"}}"),
        Wrong("lite.blocks.00", "{\(head), \"lite\": {\"blocks\": {\"00\": \"00\"}}}"),
        .card("systems[0].code", system: ""),
        .card("systems[0].code", system: "\"code\": \"00033\""),
        .card("systems[0].nods", system: "\"code\": \"0003\", \"nods\": []"),
        .card("systems[0].nodes", system: "\"code\": \"0003\", \"nodes\": 1"),
        .card("systems[0].nodes[1]", system: "\"code\": \"0003\", \"nodes\": [\"0048\", \"0040\"]"),
        .card("systems[0].nodes[0]", system: "\"code\": \"0003\", \"nodes\": [\"1000-0FFF\"]"),
        .card("systems[0].nodes[0]", system: "\"code\": \"0003\", \"nodes\": [\"1000-17FF-18FF\"]"),
        .card("systems[0].nodes[0]", system: "\"code\": \"0003\", \"nodes\": [\"-\"]"),
        .card("systems[0].blocks.0040", system: "\"code\": \"0003\", \"blocks\": {\"0040\": 1}"),
        .card("systems[0].blocks.100B", system: "\"code\": \"0003\", \"blocks\": {\"1009\": 1, \"100B\": 1}"),
        .card("systems[0].blocks.1009", system: "\"code\": \"0003\", \"blocks\": {\"1009\": 65537}"),
        .card("systems[0].blocks.1009", system: "\"code\": \"0003\", \"blocks\": {\"1009\": -1}"),
        .card("systems[0].blocks.1009", system: "\"code\": \"0003\", \"blocks\": {\"1009\": \"\"}"),
        .card("systems[0].blocks.1009[0]", system: "\"code\": \"0003\", \"blocks\": {\"1009\": [\"0102\"]}"),
        .card("systems[0].blocks.1009.size", system: "\"code\": \"0003\", \"blocks\": {\"1009\": {\"size\": 2}}"),
        .card("systems[0].keyVersions.1009", system: "\"code\": \"0003\", \"keyVersions\": {\"1009\": \"0001\"}"),
        .card("systems[0].properties.1009", system: "\"code\": \"0003\", \"properties\": {\"1009\": {}}"),
        .card("virtual.command", virtual: "\"command\": []"),
        .card("virtual.commands[0]", virtual: "\"commands\": [\"10\"]"),
        .card("virtual.silent[1]", virtual: "\"silent\": [\"0A\", 12]"),
        .card("virtual.blocksPerRead", virtual: "\"blocksPerRead\": 16"),
        .card("virtual.blocksPerWrite", virtual: "\"blocksPerWrite\": 0"),
        .card("virtual.statusStyle", virtual: "\"statusStyle\": \"Ordinal\""),
        .card("virtual.overLimit", virtual: "\"overLimit\": \"A3\""),
        .card("virtual.refusal", virtual: "\"refusal\": 165"),
        .card("virtual.bitRates[0]", virtual: "\"bitRates\": [106]"),
        .card("virtual.trailingBytes", virtual: "\"trailingBytes\": \"ok\""),
        .card("virtual.answerTime", virtual: "\"answerTime\": 1001"),
        .card("virtual.echoLimit", virtual: "\"echoLimit\": 253"),
        .card("virtual.knownAttributes", virtual: "\"knownAttributes\": \"none\""),
        .card("virtual.requestCodes[0]", virtual: "\"requestCodes\": [3]"),
        .card("virtual.encryption", virtual: "\"encryption\": \"00\""),
        .card("virtual.unlistedSystems[0]", virtual: "\"unlistedSystems\": [\"12FC\"]"),
        .card("virtual.containerIssue", virtual: "\"containerIssue\": \"00\""),
        .card("virtual.containerProperties.x", virtual: "\"containerProperties\": {\"x\": \"00\"}"),
        .card("virtual.faults[0].fault", virtual: "\"faults\": [{\"at\": 1}]"),
        .card("virtual.faults[0].fault", virtual: "\"faults\": [{\"at\": 1, \"fault\": \"fire\"}]"),
        .card("virtual.faults[0]", virtual: "\"faults\": [{\"fault\": \"silence\"}]"),
        .card("virtual.faults[0].at", virtual: "\"faults\": [{\"fault\": \"silence\", \"at\": 0}]"),
        .card("virtual.faults[0].to", virtual: "\"faults\": [{\"fault\": \"silence\", \"from\": 3, \"to\": 2}]"),
        .card("virtual.faults[0].when", virtual: "\"faults\": [{\"fault\": \"silence\", \"when\": 2}]"),
        .card("virtual.faults[0].offset", virtual: "\"faults\": [{\"fault\": \"flipped\", \"every\": 2}]"),
        Wrong("card.uid", "{\"schema\": \"kazasu.dump/1\", \"card\": {\"technology\": \"typeA\"}}"),
        Wrong("felica.systems", "{\"schema\": \"kazasu.dump/1\", \"card\": {\"technology\": \"felica\"}}"),
        Wrong("card", "{\"schema\": \"kazasu.dump/1\"}"),
    ]

    @Test(arguments: wrong) func namesTheKey(_ wrong: Wrong) throws {
        let error = try #require(throws: DocumentError.self) {
            try VirtualCardFile.load(Array(wrong.text.utf8))
        }
        switch error {
        case .missing(let key), .malformed(let key, _): #expect(key == wrong.key)
        default: Issue.record("expected an error at \(wrong.key), but got \(error)")
        }
    }

    @Test func rejectsOtherSchemasAndFiles() {
        #expect(throws: DocumentError.unknownSchema(found: "x/1", supported: "kazasu.dump/1 or kazasu.card/1")) {
            try VirtualCardFile.load(Array("{\"schema\": \"x/1\"}".utf8))
        }
        #expect(throws: DocumentError.self) { try VirtualCardFile.load(Array("no JSON".utf8)) }
        #expect(throws: DocumentError.self) { try VirtualCardFile.load([]) }
        #expect(throws: DocumentError.self) { try VirtualCardFile.load([0xFF, 0x00]) }
        let long = [UInt8](repeating: 0x20, count: CardDump.longestDocument + 1)
        #expect(throws: DocumentError.tooLong(bytes: long.count, limit: CardDump.longestDocument)) {
            try VirtualCardFile.load(long)
        }
    }
}
