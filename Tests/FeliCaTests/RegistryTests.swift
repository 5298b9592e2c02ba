// SPDX-License-Identifier: Apache-2.0

import ByteCodec
import CardModel
import FeliCa
import Testing

/// Tables are compared with the lists of their sources, and held to what every table must be.
@Suite struct RegistryTests {
    static func pmm(ic: UInt8, rom: UInt8) -> PMm {
        PMm(rawValue: UInt64(rom) << 56 | UInt64(ic) << 48)
    }

    // MARK: Status Flags

    static let flags2 = "00 01 02 03 70 71 A1 A2 A3 A4 A5 A6 A7 A8 A9 AA AB AC AD AE AF B1 B2 C0 C1 C2 C3 E0 E2 E7"

    @Test func onlyDocumentedFlagsHaveAMeaning() throws {
        let known = try packet(Self.flags2)
        #expect(StatusMeaning.all.map(\.flag2.rawValue) == known)
        for byte in UInt8.min...UInt8.max {
            #expect((StatusFlag2(rawValue: byte).meaning != nil) == known.contains(byte))
        }
        #expect(StatusFlag2.noSuchBlock.meaning?.english == "no such block")
        #expect(StatusFlag2.rewriteCountExceeded.meaning?.japanese.contains("書き換え回数") == true)
    }

    @Test func flagNamesMatchTheirMeanings() {
        let names: [(StatusFlag2, UInt8)] = [
            (.rewriteCountExceeded, 0x71), (.wrongServiceCount, 0xA1), (.wrongBlockCount, 0xA2),
            (.noSuchNode, 0xA6), (.noSuchBlock, 0xA8), (.readNeedsAuthentication, 0xB1),
        ]
        for (flag, byte) in names { #expect(flag.rawValue == byte) }
    }

    @Test func flag1GivesThePosition() {
        #expect(StatusFlags(0x00, 0x00).flag1Meaning.english == "no error")
        #expect(StatusFlags(0xFF, 0xA1).flag1Meaning.english == "error not tied to one entry")
        #expect(StatusFlags(0x0A, 0xA8).flag1Meaning.english.contains("0A"))
    }

    @Test func everyTextExistsInBothLanguages() {
        var texts = StatusMeaning.all.map(\.text) + KnownSystem.all.map(\.name) + LiteBlock.all.map(\.meaning)
        texts += KnownServiceRow.all.compactMap(\.service.name)
        #expect(texts.count > 200)
        for text in texts { #expect(!text.english.isEmpty && !text.japanese.isEmpty) }
    }

    // MARK: Products

    @Test(arguments: [
        (0x01 as UInt8, 0x20 as UInt8, "RC-S962"), (0x0F, 0x0D, "RC-S960"), (0x03, 0x35, "RC-SA01/2"),
        (0x01, 0x18, "Mobile FeliCa 4.1"), (0x00, 0xF1, "RC-S966 FeliCa Lite-S"), (0x02, 0x00, "RC-S914"),
        (0x03, 0x00, "RC-S914 (export)"), (0x04, 0x01, "RC-S915"), (0x06, 0x31, "RC-SA (SD1, Extended Overlap)"),
        (0x05, 0x31, "RC-SA (SD1)"), (0x01, 0x16, "Mobile FeliCa 4.0"), (0x99, 0x14, "Mobile FeliCa 3.0"),
        (0x99, 0x13, "Mobile FeliCa 2.0"), (0x99, 0x1F, "Mobile FeliCa 4.1"),
    ])
    func productOfAnIC(_ rom: UInt8, _ ic: UInt8, _ name: String) {
        #expect(ICProduct.of(Self.pmm(ic: ic, rom: rom))?.name == name)
    }

    @Test(arguments: [(0x04 as UInt8, 0x00 as UInt8), (0x04, 0x31), (0x00, 0x03), (0x00, 0x99)])
    func inventsNoProduct(_ rom: UInt8, _ ic: UInt8) {
        #expect(ICProduct.of(Self.pmm(ic: ic, rom: rom)) == nil)
    }

    @Test func tableListsEveryICOfItsSources() throws {
        let expected = try packet(
            """
            00 01 02 06 07 08 09 0B 0C 0D 10 11 12 13 14 15 16 17 18 19 1A 1B 1C 1D 1E 1F 20 24 31 32 33 34 35 36 38 \
            3B 3E 43 44 45 46 47 48 4B 50 51 52 A2 E0 E1 F0 F1 F2 FF
            """)
        let listed = ICProduct.all.flatMap { Array($0.icTypes) }
        #expect(Set(listed) == Set(expected))
        for ic in expected { #expect((ICProduct.all.filter { $0.icTypes.contains(ic) }.count == 1) || ic < 0x32) }
    }

    // MARK: Profiles

    /// The table of felica-tool's README, measured on real cards, and below its line what nfcpy states: the IC and ROM
    /// type, the blocks of a read and a write, which groups of commands are answered (`y`), not answered (`-`) or
    /// unknown (`.`), and the bytes of an Echo.
    ///
    ///     P Request Service, Request Response   S Search Service Code   C Request System Code
    ///     M what only Mobile FeliCa 4.1 knows   I Get Container Issue Information   N node properties, MAC   A AES
    static let profiles = """
        IC/ROM read write P S C M I N A echo
        00/02    12     8 y y y - - - -    -
        00/03     8     8 y - - - - - -    -
        01/03    12     8 y y y - - - -  252
        0B/10    12    10 y y y - - - -  238
        20/01    12    10 y y y - - - -  252
        24/02    12     . y - y - - - -    -
        31/05    15    13 y y y - - - y  252
        32/01    15    13 y y y - - - y  252
        36/01    15    13 y y y - - - y  252
        38/02    15    13 y y y - - - y  252
        3B/04    15    13 y y y - - y y  252
        44/01    15    13 y y y - - y y  252
        46/01    15    13 y y y - - y y  252
        16/01    15    13 y y y - y - y  252
        18/01    15    13 y y y y y - y  252
        F1/00     4     1 - - - - - - -   75
        08/01    12     8 . . . . . . .    .
        09/01    12     8 . . . . . . .    .
        0C/01    12     8 . . . . . . .    .
        0D/0F    12    10 . . . . . . .    .
        F0/00     4     1 - - - . . . .    .
        """

    static let groups: [[UInt16]] = [
        [0x02, 0x04], [0x0A], [0x0C], [0x0E, 0x1E, 0x1A, 0x20, 0x24, 0x2E, 0x70], [0x22], [0x28, 0x34],
        [0x32, 0x38, 0x3A, 0x3C, 0x3E, 0x40],
    ]

    @Test(arguments: profiles.split(separator: "\n").dropFirst().map(String.init))
    func profileOfAnIC(_ row: String) throws {
        let cells = row.split(separator: " ").map(String.init)
        let (ic, rom) = (try Hex.decode(cells[0].prefix(2)), try Hex.decode(cells[0].suffix(2)))
        let profile = try #require(ICProfile.of(Self.pmm(ic: ic[0], rom: rom[0])))
        #expect(profile.blocksPerRead == Int(cells[1]))
        #expect(profile.blocksPerWrite == Int(cells[2]))
        let marks: [String: CommandSupport] = ["y": .answered, "-": .silent, ".": .unknown]
        for (group, mark) in zip(Self.groups, cells[3...]) {
            for code in group { #expect(profile.support(of: CommandCode(rawValue: code)) == marks[mark], "\(code)") }
        }
        #expect(profile.support(of: .echo) == marks[cells[10]] ?? .answered)
        #expect(profile.support(of: .readWithoutEncryption) == .answered)
        #expect(profile.support(of: .writeWithoutEncryption) == .unknown)
        // Each command of a group once, and no more.
        let known = Self.groups.flatMap(\.self).map(CommandCode.init(rawValue:)) + [.echo]
        let listed = profile.answered + profile.silent
        #expect(Set(listed).count == listed.count && Set(listed).isSubset(of: known))
    }

    @Test func onlyListedICsHaveAProfile() {
        let known = Self.profiles.split(separator: "\n").dropFirst().map { String($0.prefix(5)) }
        for ic in UInt8.min...UInt8.max {
            for rom in UInt8.min...0x20 where ICProfile.of(Self.pmm(ic: ic, rom: rom)) != nil {
                let text = Hex.encode([ic], uppercase: true)
                #expect(known.contains { $0.hasPrefix(text) && (ic != 0 || $0.hasSuffix("0\(rom)")) }, "\(ic), \(rom)")
            }
        }
    }

    @Test func profilesDoNotContradictThemselves() {
        for profile in ICProfile.all {
            #expect(Set(profile.answered).isDisjoint(with: profile.silent))
            #expect(ReadWithoutEncryption.allowedBlocks.contains(profile.blocksPerRead ?? 1))
            #expect(WriteWithoutEncryption.allowedBlocks.contains(profile.blocksPerWrite ?? 1))
        }
    }

    // MARK: Systems

    static let systems = """
        0003 0102 040F 0447 04A6 04C0 04C1 04C7 12FC 4000 8003 8005 8008 800D 8016 801E 8029 802B 804C 8074 809E 80BB \
        80CD 80DE 80E0 80EF 8102 811D 8157 8182 8194 81A1 81CA 81D0 825E 8287 832C 83CC 83EE 84A1 852B 854C 8592 8620 \
        862C 865E 869B 86A7 8760 88B4 8A0F 8B43 8B5D 8B61 8B98 8BDC 8C0B 8CC1 8D3F 8DB6 8E35 8E4B 8E58 8F18 8FC1 9027 \
        9099 90AB 90B7 90E3 9105 927A 9373 93EC 9450 9506 957A FE00 FE0F FEE1 FFFF
        """

    @Test func tableListsEverySystemOnce() {
        #expect(KnownSystem.all.map(\.code.description) == Self.systems.split(separator: " ").map(String.init))
    }

    @Test func systemsByCode() {
        #expect(KnownSystem.of(.octopus)?.name.english == "Octopus")
        #expect(KnownSystem.of(SystemCode(rawValue: 0x8FC1))?.name.japanese.contains("OKICA") == true)
        #expect(KnownSystem.of(SystemCode(rawValue: 0x1234)) == nil)
    }

    // MARK: Services

    struct Count: Sendable {
        let system: SystemCode
        let service: UInt16
        let blocks: Int
    }

    static let east = SystemCode(rawValue: 0x86A7)

    static let counts: [Count] = [
        Count(system: .transit, service: 0x008B, blocks: 1), Count(system: .transit, service: 0x090F, blocks: 20),
        Count(system: .transit, service: 0x108F, blocks: 3), Count(system: .transit, service: 0x10CB, blocks: 2),
        Count(system: .transit, service: 0x184B, blocks: 36), Count(system: .transit, service: 0x194B, blocks: 16),
        Count(system: .transit, service: 0x198B, blocks: 3), Count(system: .transit, service: 0x234B, blocks: 4),
        Count(system: .transit, service: 0x238B, blocks: 16), Count(system: .transit, service: 0x23CB, blocks: 4),
        Count(system: .commonArea, service: 0x394B, blocks: 1),
        Count(system: .commonArea, service: 0x398B, blocks: 16),
        Count(system: .commonArea, service: 0x39C9, blocks: 6), Count(system: east, service: 0x004B, blocks: 5),
        Count(system: east, service: 0x028B, blocks: 5), Count(system: .commonArea, service: 0x110B, blocks: 2),
        Count(system: .commonArea, service: 0x1317, blocks: 1), Count(system: .commonArea, service: 0x170F, blocks: 6),
        Count(system: .commonArea, service: 0x564F, blocks: 5), Count(system: .commonArea, service: 0x680B, blocks: 9),
        Count(system: SystemCode(rawValue: 0x865E), service: 0x090F, blocks: 20),
        Count(system: SystemCode(rawValue: 0x8B5D), service: 0x898F, blocks: 20),
        Count(system: SystemCode(rawValue: 0x8FC1), service: 0x028F, blocks: 20),
    ]

    @Test(arguments: counts) func usualBlocks(_ row: Count) {
        let service = KnownService.of(ServiceCode(rawValue: row.service), in: row.system)
        #expect(service?.usualBlocks == row.blocks)
    }

    @Test func servicesByCode() throws {
        let history = try #require(KnownService.of(ServiceCode(rawValue: 0x090F), in: .transit))
        #expect(history.name?.japanese == "利用履歴")
        #expect(KnownService.of(ServiceCode(rawValue: 0x0048), in: .transit)?.name?.english == "issue data")
        #expect(KnownService.of(ServiceCode(rawValue: 0x090F), in: .commonArea) == nil)
        #expect(KnownService.of(ServiceCode(rawValue: 0x0117), in: .octopus)?.name?.english == "balance")
        #expect(KnownService.of(ServiceCode(rawValue: 0x884B), in: SystemCode(rawValue: 0x83EE))?.usualBlocks == nil)
    }

    @Test func rowsListCodesThatAreServices() {
        for row in KnownServiceRow.all {
            #expect(!row.systems.isEmpty)
            // 0118 of Shenzhen Tong is stated by one source and has no attribute that a manual names.
            #expect(row.service.code.kind != nil || row.service.code.rawValue == 0x0118)
            #expect((row.service.usualBlocks ?? 1) > 0)
            for system in row.systems { #expect(KnownSystem.of(system) != nil) }
        }
    }

    /// The whole lists of three real cards (metrodroid's `SuicaTest`): what is openly readable there is known here.
    @Test(arguments: [
        "0048 004A 0088 008B 0810 0812 0816 0850 0852 0856 0890 0892 0896 08C8 08CA 090C 090F 1008 100A 1048 104A 108C "
            + "108F 10C8 10CB 1108 110A 1148 114A 00C8 00CA 00CC 00CE 00D0 00D2 00D4 00D6 090A 1808 180A 1848 184B 18C8 "
            + "18CA 1908 190A 1948 194B 1988 198B 2308 230A 2348 234B 2388 238B 23C8 23CB",
        "090A 1848 184B 1908 190A 1948 194B 1988 198B 1CC8 1CCA 1D08 1D0A 2308 230A 2348 234B 2388 238B 23C8 23CB",
        "1A48 1A4A 1A88 1A8A 9608 960A",
    ])
    func servicesOfRealCardsAreCandidates(_ list: String) throws {
        let candidates = Set(KnownService.candidateNodes(in: .transit))
        for text in list.split(separator: " ") {
            #expect(candidates.contains(try #require(NodeCode(text))), "\(text)")
        }
    }

    @Test func requestsCandidatesOnceWithoutPINVariants() {
        for system in KnownSystem.all.map(\.code) + [SystemCode(rawValue: 0x1234)] {
            let nodes = KnownService.candidateNodes(in: system)
            #expect(nodes.first == AreaCode.root.node)
            #expect(Set(nodes).count == nodes.count)
            #expect(nodes.count > 1 && nodes.count <= 32 * 10)
            #expect(nodes.allSatisfy { !ServiceCode(rawValue: $0.rawValue).requiresPIN })
        }
        let unknown = KnownService.candidateNodes(in: SystemCode(rawValue: 0x1234)).dropFirst()
        #expect(unknown.contains(NodeCode(rawValue: 0x000B)))
        #expect(unknown.allSatisfy { !ServiceCode(rawValue: $0.rawValue).requiresAuthentication })
    }

    // MARK: FeliCa Lite

    @Test func blocksOfFeliCaLite() {
        let names = LiteBlock.all.map { row in
            let first = Hex.encode(UInt64(row.numbers.lowerBound), digits: 2)
            let last = Hex.encode(UInt64(row.numbers.upperBound), digits: 2)
            return first + (first == last ? " " : "-\(last) ") + row.name
        }
        #expect(
            names.joined(separator: ", ")
                == "00-0D S_PAD, 0E REG, 80 RC, 81 MAC, 82 ID, 83 D_ID, 84 SER_C, 85 SYS_C, 86 CKV, 87 CK, 88 MC, "
                + "90 WCNT, 91 MAC_A, 92 STATE, A0 CRC_CHECK")
        let named: [UInt16] = Array(0x00...0x0E) + Array(0x80...0x88) + [0x90, 0x91, 0x92, 0xA0]
        #expect((0...0x100).filter { LiteBlock.of($0) != nil } == named)
        #expect(LiteBlock.all.filter(\.isWriteOnly).map(\.name) == ["CK"])
        #expect(LiteBlock.all.filter(\.isLiteSOnly).map(\.name) == ["WCNT", "MAC_A", "STATE", "CRC_CHECK"])
        let lite = LiteBlock.readableNumbers(liteS: false)
        #expect(lite == Array(0x00...0x0E) + Array(0x80...0x86) + [0x88])
        #expect(LiteBlock.readableNumbers(liteS: true) == lite + [0x90, 0x91, 0x92, 0xA0])
    }
}
