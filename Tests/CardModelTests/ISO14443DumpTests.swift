// SPDX-License-Identifier: Apache-2.0

import CardModel
import TestSupport
import Testing

@Suite("Dumps of ISO 7816 cards and Type 2 Tags")
struct ISO14443DumpTests {
    private static let license = AID([0xA0, 0x00, 0x00, 0x02, 0x31, 0x01] + [UInt8](repeating: 0, count: 10))

    @Test func applicationsComeBackAsTheyWere() throws {
        let text = """
            {"schema":"kazasu.dump/1","complete":false,"missing":[{"application":"a000000231","file":"0007",\
            "reason":"cardLost"}],"card":{"technology":"typeB","pupi":"01020304","applicationData":"00000000",\
            "protocolInfo":"b381a1","bitRate":106},"iso7816":{"applications":[{"aid":null,"files":[{"id":"2F01",\
            "state":"read","data":"450b"},{"id":"000A","state":"refused","status":"6A82","data":""}]},{"aid":\
            "a0000002310100000000000000000000","selectAnswer":"6f00","files":[{"id":"0001","state":"keyRequired",\
            "data":"","size":880}]}],"chip":"x"}}
            """
        let dump = try CardDump(parsing: Array(text.utf8))
        #expect(dump.json.compactText == text.replacing("\n", with: ""))
        #expect(dump.application(nil)?.file(FileIdentifier(rawValue: 0x2F01))?.data == [0x45, 0x0B])
        let license = dump.application(Self.license)
        #expect(license?.selectAnswer == [0x6F, 0x00])
        #expect(license?.file(FileIdentifier(rawValue: 0x0001))?.state == .keyRequired)
        #expect(dump.missing.first?.file == FileIdentifier(rawValue: 0x0007))
    }

    @Test func pagesComeBackAsTheyWere() throws {
        let text = """
            {"schema":"kazasu.dump/1","complete":true,"missing":[{"fromPage":"29","reason":"cardLost"}],"card":{\
            "technology":"typeA","uid":"04517ce1ed2580","atqa":"0044","sak":"00","bitRate":106},"type2":{"pages":{\
            "00":"04517ca1","FF":"00000000","0100":"01020304"},"version":"0004040201000f03","counters":{"2":65536}}}
            """
        let dump = try CardDump(parsing: Array(text.utf8))
        #expect(dump.json.compactText == text.replacing("\n", with: ""))
        #expect(dump.type2?.pages[0x100] == [1, 2, 3, 4])
        #expect(dump.card.sak == 0x00)
    }

    @Test(arguments: [
        #""type2":{"pages":{"00":"00000000","FFFF":"00000000"},"counters":{"0":0,"255":16777215}}"#,
        #""iso7816":{"applications":[{"aid":"01","files":[]},{"aid":"0102030405060708090a0b0c0d0e0f10","files":[]}]}"#,
    ])
    func theEdgesAreAllowed(_ member: String) throws {
        for bitRate in [0, 10_000] {
            let text = #"{"schema":"kazasu.dump/1","card":{"technology":"typeA","bitRate":\#(bitRate)},"# + member + "}"
            let dump = try CardDump(parsing: Array(text.utf8))
            #expect(dump.card.bitRate == bitRate)
            #expect(dump.json.compactText.contains(member))
        }
    }

    @Test(arguments: [-1, 10_001]) func noCardIsThatFast(_ bitRate: Int) throws {
        let text = #"{"schema":"kazasu.dump/1","card":{"technology":"typeA","bitRate":\#(bitRate)}}"#
        let error = try #require(throws: DocumentError.self) { try CardDump(parsing: Array(text.utf8)) }
        guard case .malformed("card.bitRate", _) = error else {
            Issue.record("\(error)")
            return
        }
    }

    static let wrong = [
        (#""type2":{"pages":{"00000":"00000000"}}"#, "type2.pages.00000"),
        (#""type2":{"pages":{"00":"0000000000"}}"#, "type2.pages.00"),
        (#""type2":{"pages":{},"counters":{"0":-1}}"#, "type2.counters.0"),
        (#""type2":{}"#, "type2.pages"),
        (#""type2":{"pages":{"0":"00000000"}}"#, "type2.pages.0"),
        (#""type2":{"pages":{"00":"000000"}}"#, "type2.pages.00"),
        (#""type2":{"pages":{"0a":"00000000","0A":"00000000"}}"#, "type2.pages.0A"),
        (#""type2":{"pages":{},"counters":{"300":1}}"#, "type2.counters.300"),
        (#""type2":{"pages":{},"counters":{"0":16777216}}"#, "type2.counters.0"),
        (#""iso7816":{}"#, "iso7816.applications"),
        (#""iso7816":{"applications":[{"aid":""}]}"#, "iso7816.applications[0].aid"),
        (
            #""iso7816":{"applications":[{"aid":null,"files":[{"id":"x","state":"read"}]}]}"#,
            "iso7816.applications[0].files[0].id"
        ),
        (
            #""iso7816":{"applications":[{"aid":null,"files":[{"id":"0001","state":"open"}]}]}"#,
            "iso7816.applications[0].files[0].state"
        ),
    ]

    @Test(arguments: wrong) func wrongMembersAreNamed(_ member: String, _ key: String) throws {
        let text = #"{"schema":"kazasu.dump/1","card":{"technology":"typeA"},"# + member + "}"
        let error = try #require(throws: DocumentError.self) { try CardDump(parsing: Array(text.utf8)) }
        switch error {
        case .missing(let found), .malformed(let found, _): #expect(found == key)
        default: Issue.record("\(error)")
        }
    }
}
