// SPDX-License-Identifier: Apache-2.0

import ByteCodec
import CardModel
import ReaderCore
import TestSupport
import Testing
import VirtualReader

@Suite("Files of cards of type A and B")
struct ISOCardFileTests {
    struct Wrong: Sendable, CustomTestStringConvertible {
        let key: String
        let members: String
        var testDescription: String { members }
    }

    static let wrong: [Wrong] = [
        Wrong(key: "typeA.uid", members: "\"typeA\": {}"),
        Wrong(key: "typeA.uid", members: "\"typeA\": {\"uid\": \"0102\"}"),
        Wrong(key: "typeA.atqa", members: "\"typeA\": {\"uid\": \"01020304\", \"atqa\": \"x\"}"),
        Wrong(key: "typeA", members: "\"typeA\": {\"uid\": \"01020304\", \"ats\": \"0678\"}"),
        Wrong(key: "typeA.pupi", members: "\"typeA\": {\"uid\": \"01020304\", \"pupi\": \"01020304\"}"),
        Wrong(key: "typeA", members: "\"typeA\": {\"uid\": \"01020304\"}, \"typeB\": {}"),
        Wrong(key: "typeB", members: "\"typeB\": {\"protocolInfo\": \"00\"}"),
        Wrong(key: "typeB.pupi", members: "\"typeB\": {\"pupi\": \"0102\"}"),
        Wrong(key: "files", members: "\"typeB\": {}, \"files\": {}"),
        Wrong(
            key: "masterFile.files.1.siz", members: "\"typeB\": {}, \"masterFile\": {\"files\": {\"1\": {\"siz\": 1}}}"),
        Wrong(key: "masterFile.files.2F012", members: "\"typeB\": {}, \"masterFile\": {\"files\": {\"2F012\": \"\"}}"),
        Wrong(
            key: "masterFile.files.2F01.size",
            members: "\"typeB\": {}, \"masterFile\": {\"files\": {\"2F01\": {\"data\": \"0102\", \"size\": 1}}}"),
        Wrong(
            key: "masterFile.files.2F01.shortID",
            members: "\"typeB\": {}, \"masterFile\": {\"files\": {\"2F01\": {\"shortID\": 31}}}"),
        Wrong(
            key: "masterFile.files.2F01.read",
            members: "\"typeB\": {}, \"masterFile\": {\"files\": {\"2F01\": {\"read\": \"sometimes\"}}}"),
        Wrong(
            key: "",
            members: "\"typeB\": {}, \"masterFile\": {\"files\": {\"2F01\": {\"read\": [\"pin\"]}}}"),
        Wrong(key: "masterFile.pins.a.value", members: "\"typeB\": {}, \"masterFile\": {\"pins\": {\"a\": {}}}"),
        Wrong(
            key: "masterFile.pins.a.tries",
            members: "\"typeB\": {}, \"masterFile\": {\"pins\": {\"a\": {\"text\": \"1\", \"tries\": 16}}}"),
        Wrong(
            key: "",
            members: """
                "typeB": {}, "masterFile": {"pins": {"a": {"text": "1"}}},
                "applications": [{"aid": "a0", "pins": {"a": {"text": "1"}}}]
                """),
        Wrong(key: "applications[0].aid", members: "\"typeB\": {}, \"applications\": [{\"aid\": \"\"}]"),
        Wrong(key: "virtual.answers.xy", members: "\"typeB\": {}, \"virtual\": {\"answers\": {\"xy\": \"\"}}"),
        Wrong(key: "virtual.endOfFile", members: "\"typeB\": {}, \"virtual\": {\"endOfFile\": \"x\"}"),
        Wrong(key: "virtual.blocksPerRead", members: "\"typeB\": {}, \"virtual\": {\"blocksPerRead\": 3}"),
        Wrong(
            key: "virtual.faults[0].of",
            members: "\"typeB\": {}, \"virtual\": {\"faults\": [{\"fault\": \"silence\", \"at\": 1, \"of\": \"x\"}]}"),
        Wrong(key: "type2.model", members: "\"type2\": {\"model\": \"ntag999\", \"uid\": \"01020304050607\"}"),
        Wrong(key: "type2.uid", members: "\"type2\": {\"model\": \"ntag213\", \"uid\": \"01020304\"}"),
        Wrong(
            key: "type2.pages.2D",
            members:
                "\"type2\": {\"model\": \"ntag213\", \"uid\": \"01020304050607\", \"pages\": {\"2D\": \"00000000\"}}"),
        Wrong(
            key: "type2.password",
            members: "\"type2\": {\"model\": \"ultralight\", \"uid\": \"01020304050607\", \"password\": \"00000000\"}"),
        Wrong(key: "virtual.answers", members: "\"type2\": {}, \"virtual\": {\"answers\": {}}"),
        Wrong(key: "cards", members: "\"cards\": []"),
        Wrong(key: "cards[0].typeA.uid", members: "\"cards\": [{\"typeA\": {}}]"),
        Wrong(key: "cards[0].virtual.faults", members: "\"cards\": [{\"typeB\": {}, \"virtual\": {\"faults\": []}}]"),
        Wrong(key: "typeB", members: "\"typeB\": {}, \"cards\": [{\"typeB\": {}}]"),
    ]

    @Test(arguments: wrong) func namesTheKey(_ wrong: Wrong) throws {
        let error = try #require(throws: DocumentError.self) {
            try VirtualField(cardFile: Array("{\"schema\": \"kazasu.card/1\", \(wrong.members)}".utf8))
        }
        switch error {
        case .missing(let key), .malformed(let key, _): #expect(key == wrong.key)
        default: Issue.record("expected an error at \(wrong.key), but got \(error)")
        }
    }

    @Test(arguments: TestFiles.names(in: "Fixtures/virtual")) func everyFixtureIsACard(_ name: String) throws {
        let field = try VirtualField(cardFile: TestFiles.read("Fixtures/virtual/\(name)"))
        let reader = InProcessReader(field)
        let found = [try reader.activate(.typeA()), try reader.activate(.typeB())].compactMap { $0 }
        #expect(!found.isEmpty)
        #expect(throws: DocumentError.self) {
            try VirtualCardFile.load(TestFiles.read("Fixtures/virtual/\(name)"))
        }
    }

    @Test func phoneIsThreeCards() throws {
        let reader = InProcessReader(try VirtualField(cardFile: TestFiles.read("Fixtures/virtual/phone.json")))
        #expect(try reader.activate(.typeA()) != nil)
        #expect(try reader.apdu("00a404000e325041592e5359532e444446303100").hasSuffix("9000"))
        #expect(try reader.activate(.typeB()) != nil)
        #expect(try reader.apdu("00a4040c10a0000002310600000000000000000000") == "9000")
        #expect(try reader.activate(.felica(.any)) != nil)
        #expect(try reader.activate(.typeA()) != nil)
    }

    /// What a dump says is on the card that is made of it.
    @Test func aDumpOfFiles() throws {
        let dump = """
            {"schema": "kazasu.dump/1", "complete": false, "missing": [],
             "card": {"technology": "typeB", "pupi": "e8253eec", "applicationData": "00000011", "protocolInfo": "008185"},
             "iso7816": {"applications": [
               {"aid": null, "files": [{"id": "2F01", "state": "read", "data": "450b"}]},
               {"aid": "a000000231", "selectAnswer": "6f00",
                "files": [{"id": "0001", "state": "keyRequired", "data": ""},
                          {"id": "0002", "state": "refused", "status": "6A81", "data": ""}]}]}}
            """
        let reader = InProcessReader(try VirtualField(cardFile: Array(dump.utf8)))
        let target = TypeBTarget(
            pupi: [0xE8, 0x25, 0x3E, 0xEC], applicationData: [0, 0, 0, 0x11], protocolInfo: [0x00, 0x81, 0x85])
        #expect(try reader.activate(.typeB()) == .typeB(target))
        #expect(try reader.apdu("00a4020c022f01") == "9000")
        #expect(try reader.apdu("00b0000000") == "450b9000")
        #expect(try reader.apdu("00a4040005a00000023100") == "6f009000")
        #expect(try reader.apdu("00a4020c020001") == "9000")
        #expect(try reader.apdu("00b0000000") == "6982")
        #expect(try reader.apdu("00a4020c020002") == "9000")
        #expect(try reader.apdu("00b0000000") == "6a81")
    }

    @Test func aDumpOfATag() throws {
        let dump = """
            {"schema": "kazasu.dump/1", "complete": true, "missing": [],
             "card": {"technology": "typeA", "uid": "04a8d862bc2b80", "atqa": "0044", "sak": "00"},
             "type2": {"version": "0004040201000f03", "counters": {"2": 7},
                       "pages": {"00": "04a8d8fc", "01": "62bc2b80", "02": "75480000", "03": "e1101200", "04": "0300fe00",
                                 "2A": "10000000"}}}
            """
        let reader = InProcessReader(try VirtualField(cardFile: Array(dump.utf8)))
        #expect(
            try reader.activate(.typeA())
                == .typeA(
                    TypeATarget(
                        uid: [0x04, 0xA8, 0xD8, 0x62, 0xBC, 0x2B, 0x80], atqa: 0x0044, sak: 0x00, isISODEP: false)))
        #expect(try reader.apdu("3003").hasPrefix("e11012000300fe00"))
        #expect(try reader.apdu("3902") == "080000")
    }

    /// Random changes to good files: an error or a card, never a trap.
    @Test func damagedFiles() throws {
        var random = SeededGenerator(seed: 0xF11E)
        for name in TestFiles.names(in: "Fixtures/virtual") {
            let good = try TestFiles.read("Fixtures/virtual/\(name)")
            for _ in 0..<300 {
                var bad = good
                for _ in 0..<Int.random(in: 1...4, using: &random) {
                    let place = Int.random(in: 0..<bad.count, using: &random)
                    bad[place] = Bool.random(using: &random) ? UInt8.random(in: 0x20...0x7D, using: &random) : 0x30
                }
                guard let field = try? VirtualField(cardFile: bad) else { continue }
                let reader = InProcessReader(field)
                for request in [ActivationRequest.typeA(), .typeB(), .felica(.any)] {
                    guard try reader.activate(request) != nil else { continue }
                    _ = try? reader.apdu("00a40000")
                }
            }
        }
    }
}
