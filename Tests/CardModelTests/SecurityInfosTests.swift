// SPDX-License-Identifier: Apache-2.0

import ByteCodec
import CardModel
import TestSupport
import Testing

@Suite("EF.CardAccess and DG14")
struct SecurityInfosTests {
    private static func infos(_ text: String) throws -> SecurityInfos { SecurityInfos(try Hex.decode(text)) }

    /// id-PACE with mapping, cipher and parameters, in a SEQUENCE.
    private static func pace(_ mapping: UInt8, _ cipher: UInt8, _ parameters: [UInt8], version: UInt8 = 2) -> [UInt8] {
        let name: [UInt8] = [0x04, 0x00, 0x7F, 0x00, 0x07, 0x02, 0x02, 0x04, mapping, cipher]
        return BERTLV(
            0x30, [BERTLV(0x06, name), BERTLV(0x02, [version])] + parameters.map { BERTLV(0x02, [$0]) }
        ).encoded
    }

    private static func set(_ entries: [[UInt8]]) -> SecurityInfos {
        SecurityInfos(BERTLV(0x31, entries.flatMap(\.self)).encoded)
    }

    @Test("The example of ICAO Doc 9303-11")
    func example() throws {
        let infos = try Self.infos("31143012060A04007F0007020204020202010202010D")
        #expect(infos.pace == [PACEInfo(.genericCurve, .aes128, parameters: 13)] && infos.listsPACE)
        #expect(infos.pace.first?.name == "ECDH-GM-AES-128")
        #expect(infos.chipAuthentication == nil && !infos.listsChipAuthentication)
    }

    @Test("Unknown, malformed and doubled entries are skipped, and the best of the others is first")
    func entries() {
        let unknown = BERTLV(0x30, [BERTLV(0x06, [0x2A, 3]), BERTLV(0x02, [1]), BERTLV(0x30, [UInt8]())]).encoded
        let infos = Self.set([
            unknown, Self.pace(1, 1, [2]), Self.pace(2, 2, [13]), Self.pace(2, 2, [13]), Self.pace(2, 4, [12]),
            Self.pace(6, 2, [13]), Self.pace(4, 4, [18]), Self.pace(5, 2, [13]), Self.pace(2, 5, [13]),
            Self.pace(6, 1, [13]), Self.pace(2, 2, []), Self.pace(2, 2, [13], version: 1), [0x30, 0x00],
            [0x30, 0x02, 0x06, 0x00], [0x04, 0x01, 0x00],
        ])
        let names = infos.pace.sorted { $0.isBetter(than: $1) }.map(\.name)
        #expect(names == ["ECDH-CAM-AES-128", "ECDH-GM-AES-256", "ECDH-GM-AES-128", "ECDH-IM-AES-256", "DH-GM-3DES"])
        let other = Self.set([Self.pace(9, 9, [1])])
        #expect(other.listsPACE && other.pace.isEmpty)
        #expect(!Self.set([unknown]).listsPACE)
    }

    @Test("Chip authentication: the strongest with its key; a key alone means Triple DES")
    func chips() throws {
        let file = try TestFiles.read("Fixtures/ids/passports/ca-dg14.bin")
        let found = try #require(SecurityInfos(dataGroup: file).chipAuthentication)
        #expect(found.way.name == "ECDH-AES-128" && found.way.keyID == nil && found.key.isCurve)
        let second = SecurityInfos(dataGroup: try TestFiles.read("Fixtures/ids/passports/ca-3des-dg14.bin"))
        #expect(second.chipAuthentication?.way.cipher == .tripleDES && second.chipAuthentication?.way.keyID == [2])
        let key = BERTLV(0x30, [BERTLV(0x30, [UInt8]()), BERTLV(0x03, [0])])
        func entry(_ kind: UInt8, _ rest: [UInt8], _ data: [BERTLV]) -> [UInt8] {
            BERTLV(0x30, [BERTLV(0x06, [0x04, 0x00, 0x7F, 0x00, 0x07, 0x02, 0x02, kind] + rest)] + data).encoded
        }
        let alone = Self.set([entry(1, [2], [key])])
        #expect(alone.chipAuthentication?.way.identifier == nil)
        let keys = [entry(1, [2], [key, BERTLV(0x02, [1])]), entry(1, [2], [key, BERTLV(0x02, [2])])]
        let several = Self.set(
            keys + [
                entry(3, [2, 2], [BERTLV(0x02, [1]), BERTLV(0x02, [1])]),
                entry(3, [2, 4], [BERTLV(0x02, [2]), BERTLV(0x02, [2])]),
            ])
        #expect(several.chipAuthentication?.way.cipher == .aes256 && several.chipAuthentication?.key.id == [2])
        // A protocol whose key is not there, and one that is unknown.
        #expect(Self.set([entry(3, [2, 2], [BERTLV(0x02, [1])])]).chipAuthentication == nil)
        let unknown = Self.set([entry(1, [2], [key]), entry(3, [2, 9], [BERTLV(0x02, [1])])])
        #expect(unknown.chipAuthentication == nil && unknown.listsChipAuthentication)
    }

    @Test("No bytes trap, and none of them take long: cut, changed, nested and endless")
    func bytes() throws {
        let file = try TestFiles.read("Fixtures/ids/passports/ca-dg14.bin")
        for count in 0...file.count { _ = SecurityInfos(dataGroup: Array(file.prefix(count))) }
        var random = SeededGenerator(seed: 14)
        for _ in TestEffort.rounds(2000) {
            var changed = file
            for _ in 0..<3 {
                changed[Int.random(in: changed.indices, using: &random)] = .random(in: 0...255, using: &random)
            }
            _ = SecurityInfos(dataGroup: changed).chipAuthentication
        }
        let many = Self.set((0..<5000).map { _ in Self.pace(2, 2, [13]) })
        #expect(many.pace.count == 1)
        for text in ["", "31", "3180", "3184FFFFFFFF", "3100", "30", "31023080", "6E"] {
            #expect(try Self.infos(text).pace.isEmpty)
        }
        var nested: [UInt8] = []
        for _ in 0..<200 { nested = BERTLV(0x31, nested).encoded }
        #expect(SecurityInfos(nested).pace.isEmpty)
    }
}
