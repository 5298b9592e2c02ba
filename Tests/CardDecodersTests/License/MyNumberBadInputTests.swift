// SPDX-License-Identifier: Apache-2.0

import ByteCodec
import CardDecoders
import CardModel
import TestSupport
import Testing

@Suite("My Number cards with anything in their files")
struct MyNumberBadInputTests {
    private func dump(_ files: [MyNumberFile: FileDump]) -> CardDump {
        var dump = CardDump(card: .typeB(pupi: nil))
        for application in MyNumberApplication.allCases {
            var found = ApplicationDump(aid: application.aid)
            for file in MyNumberFile.allCases where file.application == application {
                guard var dump = files[file] else { continue }
                dump.id = file.id
                found.files.append(dump)
            }
            dump.applications.append(found)
        }
        return dump
    }

    private func read(_ files: [MyNumberFile: [UInt8]]) throws -> MyNumberReport {
        let none = FileIdentifier(rawValue: 0)
        return try #require(
            MyNumberDecoder.decode(dump(files.mapValues { FileDump(id: none, state: .read, data: $0) })))
    }

    static let attributes = BERTLV(
        0xFF20,
        [
            BERTLV(0xDF21, [0, 8]), BERTLV(0xDF22, Array("名".utf8)), BERTLV(0xDF23, Array("所".utf8)),
            BERTLV(0xDF24, Array("19751130".utf8)), BERTLV(0xDF25, Array("1".utf8)),
        ]
    ).encoded

    @Test("Year, month and day of birth are read each from its own digits")
    func birthDate() throws {
        #expect(try read([.attributes: Self.attributes]).attributes?.birthDate?.description == "1975-11-30")
    }

    /// Bytes of the file with the four items, and what is told to be wrong.
    static let cases: [(hex: String, flaws: [MyNumberWarning.Reason])] = [
        ("", [.notWhatItShouldBe]), ("30020101", [.notWhatItShouldBe]),
        ("FF2000", [.item(.name), .item(.address), .item(.birthDate), .item(.sex)]),
        ("FF2005DF2202C328", [.item(.name), .item(.address), .item(.birthDate), .item(.sex)]),
        ("FF2006DF227F414243", [.item(.template), .item(.name), .item(.address), .item(.birthDate), .item(.sex)]),
        ("FF20840FFFFFFF", [.notWhatItShouldBe]),
    ]

    @Test("The four items, missing or broken", arguments: cases)
    func attributes(hex: String, flaws: [MyNumberWarning.Reason]) throws {
        let report = try read([.attributes: try Hex.decode(hex)])
        #expect(report.warnings.map(\.reason) == flaws)
        #expect(report.warnings.allSatisfy { $0.file == .attributes })
    }

    @Test(
        "Birth dates that are none",
        arguments: ["19750631", "1975061", "197506011", "1975O601", "19O50601", "00000000", "19７50601"])
    func birthDates(text: String) throws {
        let bytes = BERTLV(
            0xFF20,
            [
                BERTLV(0xDF22, [0x41]), BERTLV(0xDF23, [0x41]), BERTLV(0xDF24, Array(text.utf8)),
                BERTLV(0xDF25, [0x31]),
            ]
        ).encoded
        let report = try read([.attributes: bytes])
        #expect(report.attributes?.birthDate == nil)
        #expect(report.warnings.map(\.reason) == [.item(.birthDate)])
        #expect(report.json(.english)["birthDate"] == .null)
    }

    @Test(
        "Certificates that are none",
        arguments: ["", "30", "3080", "308205", "3003020101FF", "30820004020101", "020101", "3000", "3084FFFFFFFF01"])
    func certificates(hex: String) throws {
        let report = try read([.authenticationCertificate: try Hex.decode(hex)])
        let isRight = hex == "3003020101FF"
        #expect(report.certificates[.authenticationCertificate] == (isRight ? [0x30, 3, 2, 1, 1] : nil))
        #expect(report.warnings.map(\.reason) == (isRight ? [] : [.notWhatItShouldBe]))
    }

    @Test(
        "Tokens",
        arguments: [
            ("JPKIAPICCTOKEN2", MyNumberToken.myNumberCard), ("JPKIAPICCTOKEN", .residentCard),
            ("JPKIAPGPSETOKEN", .smartphone), ("SOMETHINGELSE", nil),
        ])
    func tokens(text: String, kind: MyNumberToken?) throws {
        let bytes = Array(text.utf8) + [UInt8](repeating: 0x20, count: 32 - text.utf8.count)
        let report = try read([.token: bytes])
        #expect(report.token == text)
        #expect(report.kind == kind)
    }

    @Test("Any bytes in any file", arguments: 1...100 as ClosedRange<UInt64>)
    func anyBytes(seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        var files: [MyNumberFile: [UInt8]] = [:]
        for file in MyNumberFile.allCases {
            var bytes = file == .attributes ? Self.attributes : [0x30, 0x81, 0x10]
            for _ in 0..<Int.random(in: 0...100, using: &generator) {
                let byte = UInt8.random(in: 0...255, using: &generator)
                if !bytes.isEmpty, Bool.random(using: &generator) {
                    bytes[Int.random(in: bytes.indices, using: &generator)] = byte
                } else {
                    bytes.append(byte)
                }
            }
            files[file] = bytes
        }
        let report = try read(files)
        let text = JSONValue.object(report.json(.japanese)).compactText
        #expect(try JSONValue(parsing: Array(text.utf8)) == .object(report.json(.japanese)))
    }

    /// A face with other values, its table of offsets right.
    private static func face(_ values: [BERTag: [UInt8]] = [:], order: [BERTag] = faceTags) -> [UInt8] {
        let usual: [BERTag: [UInt8]] = [
            0xDF22: Array("19751130".utf8), 0xDF23: [0x31], 0xDF24: [1], 0xDF25: [2], 0xDF26: [3], 0xDF27: [4],
            0xDF28: [5], 0xDF29: Array("20310601".utf8), 0xDF2A: [0],
        ]
        var objects: [BERTLV] = order.map { BERTLV($0, values[$0] ?? usual[$0] ?? []) }
        var offset = 3 + 3 + 2 * objects.count
        var table: [UInt8] = []
        for object in objects {
            table += [0, UInt8(truncatingIfNeeded: offset)]
            offset += object.encoded.count
        }
        objects.insert(BERTLV(0xDF21, table), at: 0)
        return BERTLV(0xFF20, objects).encoded
    }

    private static let faceTags: [BERTag] = [
        0xDF22, 0xDF23, 0xDF24, 0xDF25, 0xDF26, 0xDF27, 0xDF28, 0xDF29, 0xDF2A,
    ]

    @Test("The face: values that are none leave the others; another layout gives nothing")
    func face() throws {
        let right = try read([.face: Self.face()])
        #expect(right.face?.birthDate?.description == "1975-11-30" && right.face?.sex == "1")
        #expect(right.face?.expiryDate?.description == "2031-06-01" && right.warnings.isEmpty)
        #expect(right.face?.pictures == [.name: [2], .address: [3], .photo: [4]])
        let values: [(BERTag, String)] = [
            (0xDF22, "19751131"), (0xDF22, ""), (0xDF23, "12"), (0xDF23, "m"), (0xDF29, "2031060"), (0xDF27, ""),
        ]
        for (tag, text) in values {
            let report = try read([.face: Self.face([tag: Array(text.utf8)])])
            #expect(report.face != nil && report.warnings.map(\.reason) == [.notWhatItShouldBe], "\(tag) \(text)")
        }
        var exchanged = Self.faceTags
        exchanged.swapAt(0, 7)
        let bytes = Self.face()
        var table = bytes
        table[6] ^= 1
        let layouts = [
            Self.face(order: exchanged), Self.face(order: Self.faceTags.dropLast()),
            Self.face(order: Self.faceTags + [0xDF2B]), Array(bytes.dropLast()), bytes + [0x01], table, [],
            [0xFF, 0x20, 0],
        ]
        for layout in layouts {
            let report = try read([.face: layout])
            #expect(report.face == nil && report.warnings.map(\.reason) == [.notWhatItShouldBe], "\(layout)")
        }
        #expect(try read([.face: bytes + [0xFF, 0xFF]]).face == right.face)
        #expect(right.json(.english)["expiryDate"] == "2031-06-01")
    }

    @Test("Files that were not read")
    func states() throws {
        let none = FileIdentifier(rawValue: 0)
        let report = try #require(
            MyNumberDecoder.decode(
                dump([
                    .token: FileDump(id: none, state: .refused(status: 0x6A82)),
                    .signatureCA: FileDump(id: none, state: .refused(status: nil)),
                    .authenticationCA: FileDump(id: none, state: .lost),
                    .attributes: FileDump(id: none, state: .keyRequired),
                    .cardInputInformation: FileDump(id: none, state: .skipped),
                    // The state of the signature says it.
                    .faceCertificate: FileDump(id: none, state: .refused(status: 0x6A82)),
                ])))
        #expect(report.warnings.map(\.reason) == [.refused(0x6A82), .lost, .refused(nil)])
        #expect(report.withheld == [.attributes])
        #expect(report.json(.english)["withheld"] == ["name", "address", "birthDate", "sex"])
    }
}
