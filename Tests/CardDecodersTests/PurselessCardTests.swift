// SPDX-License-Identifier: Apache-2.0

@testable import CardDecoders
import CardModel
import TestSupport
import Testing

@Suite("Cards without money")
struct PurselessCardTests {
    private func field(_ key: String, _ report: CardReport) -> String? { report.fields.first { $0.key == key }?.value }

    private func lite(_ blocks: BlockTable) -> CardDump {
        Dumps.card(.lite, [ServiceDump(code: ServiceCode(rawValue: 0x000B), state: .read, blocks: blocks)])
    }

    @Test("None gives a balance; the failure says whether the card is there")
    func noBalance() throws {
        let decoders = DecoderRegistry.standard.decoders.filter { !$0.hasBalance }
        #expect(decoders.count > 30)
        for decoder in decoders {
            let read = decoder.balanceRead
            let blocks: BlockTable = [read.blocks.lowerBound: Block.zero.with(0, 1)]
            let service = ServiceDump(code: read.service, state: .read, blocks: blocks)
            // A card of which no service is known is its system.
            let isSystem = (decoder as? NamedCardDecoder)?.services.isEmpty ?? false
            for (dump, reason) in [
                (Dumps.card(read.system, [service]), CardDecodingError.Reason.noBalance),
                (Dumps.card(read.system, []), isSystem ? .noBalance : .noSuchService),
            ] {
                let failure = #expect(throws: CardDecodingError.self) { try decoder.balance(dump) }
                #expect(failure?.reason == reason && failure?.kind == decoder.kind)
            }
            #expect(!DecoderRegistry.standard.purses.contains { $0.kind == decoder.kind })
        }
    }

    static let named = (try? TestFiles.table("Sources/Cards/CardDecoders/Data/named-cards.tsv")) ?? []

    @Test("Each card of the table is recognized by any of its services, named, and not decoded", arguments: named)
    func namedCard(_ row: [String: String]) throws {
        let kind = CardKind(rawValue: try #require(row["id"]))
        let decoder = try #require(DecoderRegistry.standard.decoder(of: kind))
        let system = SystemCode(rawValue: try #require(row["system"].flatMap { UInt16($0, radix: 16) }))
        let services = (row["services"] ?? "").split(separator: " ").compactMap { UInt16($0, radix: 16) }
        func check(_ dump: CardDump, _ service: String) throws {
            let report = try decoder.decode(dump)
            #expect(report.name.english == row["english"] && report.name.japanese == row["japanese"], "\(service)")
            #expect(report.warnings == [.layoutNotPublished])
            #expect(report.balances.isEmpty && report.history == nil && report.fields.isEmpty)
        }
        for service in services.map(ServiceCode.init(rawValue:)) {
            #expect(service.kind != nil)
            let state: ReadState = service.requiresAuthentication ? .keyRequired : .read
            let listed = ServiceDump(
                code: service, state: state, blocks: service.requiresAuthentication ? [:] : [0: .zero])
            try check(Dumps.card(system, [listed]), service.description)
            let refused = Dumps.card(system, [ServiceDump(code: service, state: .refused(status: 0x01A6))])
            #expect(!decoder.recognizes(refused))
        }
        if services.isEmpty {
            try check(Dumps.card(system, []), "none")
            #expect(!decoder.recognizes(Dumps.card(.transit, [])))
        } else {
            #expect(!decoder.recognizes(Dumps.card(system, [])))
        }
    }

    @Test(
        "Cards that share a system are told apart by the first block",
        arguments: [
            (0x80E0, 0x000B, "0FF0", "desuca"), (0x80E0, 0x000B, "05D3", "iyotetsu"), (0x8DB6, 0x004B, "0102", "asaca"),
            (0x8DB6, 0x004B, "0103", "docard"), (0x80E0, 0x000B, "0102", nil), (0x8DB6, 0x004B, "0000", nil),
        ] as [(UInt16, UInt16, String, String?)])
    func sharedSystem(_ system: UInt16, _ service: UInt16, _ prefix: String, _ brand: String?) throws {
        let block = try Dumps.block(prefix + String(repeating: "00", count: 14))
        let dump = Dumps.card(
            SystemCode(rawValue: system), [Dumps.service(ServiceCode(rawValue: service), [block])])
        let decoder = try #require(DecoderRegistry.standard.recognizing(dump).first)
        #expect(decoder.brand(dump)?.id == brand && decoder.brands.count == 2)
        #expect(decoder.brandReads == [decoder.balanceRead])
        let name = try decoder.decode(dump).name
        #expect(name == decoder.brand(dump)?.name ?? decoder.name)
    }

    @Test("No card is taken for another: each system and service names one, but for systems that cards share")
    func unambiguous() throws {
        for row in Self.named where row["system"] != "FE00" {
            let system = SystemCode(rawValue: UInt16(row["system"] ?? "", radix: 16) ?? 0)
            let decoders = DecoderRegistry.standard.decoders.filter { $0.system == system }
            #expect(decoders.map(\.kind.rawValue) == [row["id"]])
        }
    }

    @Test("The data format code of a FeliCa Lite names its issuer")
    func liteIssuer() throws {
        for (code, issuer) in [(UInt8(0x68), "Konami e-amusement"), (0x78, "Aime"), (0x79, "NESiCA"), (0x01, nil)] {
            let report = try FeliCaLiteDecoder().decode(lite([0x82: Block.zero.with(9, code)]))
            #expect(field("issuer", report) == issuer)
            #expect(field("dataFormatCode", report) == "00\(code == 1 ? "01" : String(code, radix: 16))")
        }
    }

    /// The memory configurations of nfcpy's tests.
    @Test("The memory configuration says what may be written")
    func liteConfiguration() throws {
        let protected = try FeliCaLiteDecoder().decode(lite([0x88: Dumps.block("00400001070000000000000000000000")]))
        #expect(field("readOnlyBlocks", protected) == "0 1 2 3 4 5 6 7 8 9 10 11 12 13")
        #expect(field("systemBlocksWritable", protected) == "no")
        #expect(field("ndef", protected) == "yes")
        #expect(field("writeNeedsMAC", protected) == nil, "FeliCa Lite has no such map")
        let liteS = try FeliCaLiteDecoder().decode(
            lite([0x88: Dumps.block("FFFF00010701FF3FFF3FFF3F00000000"), 0x90: Dumps.block("00FEFF" + zeros(13))]))
        #expect(field("readOnlyBlocks", liteS) == "-")
        #expect(field("keyChangeable", liteS) == "yes")
        #expect(field("writeNeedsMAC", liteS) == "0 1 2 3 4 5 6 7 8 9 10 11 12 13")
        #expect(field("writeCount", liteS) == "16776704")
    }

    /// Blocks 0 to 13 and the register 14 have a bit each; the last bit of a map is for no block.
    @Test("Each bit of a map is for one block", arguments: 0..<16)
    func liteMaps(_ bit: Int) throws {
        let bytes = [UInt8(truncatingIfNeeded: 1 << bit), UInt8(truncatingIfNeeded: (1 << bit) >> 8)]
        let (all, here) = (Array(0...14), bit < 15 ? [bit] : [])
        for (place, offset) in [0, 6, 8, 10].enumerated() {
            var block = [UInt8](repeating: 0, count: 16)
            block.replaceSubrange(offset..<offset + 2, with: bytes)
            let map = LiteMemoryConfiguration(try #require(Block(block)), isLiteS: true)
            #expect(map.readOnlyBlocks == (place == 0 ? all.filter { $0 != bit } : all))
            #expect(map.authenticatedReads == (place == 1 ? here : []))
            #expect(map.authenticatedWrites == (place == 2 ? here : []))
            #expect(map.writesWithMAC == (place == 3 ? here : []))
            #expect(!map.isSystemWritable && !map.announcesNDEF && !map.isKeyChangeable)
        }
        for value in [UInt8(1 << (bit % 8)), ~UInt8(1 << (bit % 8)), 0xFF] {
            func configuration(_ offset: Int) throws -> LiteMemoryConfiguration {
                LiteMemoryConfiguration(Block.zero.with(offset, value), isLiteS: false)
            }
            #expect(try configuration(2).isSystemWritable == (value == 0xFF))
            #expect(try configuration(3).announcesNDEF == (value % 2 == 1))
            #expect(try configuration(5).isKeyChangeable == (value % 2 == 1))
            #expect(try configuration(3).authenticatedReads == nil && configuration(3).writesWithMAC == nil)
        }
    }

    private func zeros(_ count: Int) -> String { String(repeating: "00", count: count) }

    @Test("A published attribute block of a Type 3 Tag (P6-2), and what a change to it does")
    func ndef() throws {
        let block = try Dumps.block("100401000D0000000000010000000023")
        func report(_ block: Block, _ service: UInt16 = 0x000B) throws -> CardReport {
            try NDEFDecoder().decode(Dumps.card(.ndef, [Dumps.service(ServiceCode(rawValue: service), [block])]))
        }
        let right = try report(block)
        let keys = ["version", "nbr", "nbw", "nmaxb", "length", "writeFlag", "access"]
        #expect(right.fields.map(\.key) == keys)
        #expect(right.fields.map(\.value) == ["1.0", "4", "1", "13", "0", "complete", "read-write"])
        #expect(right.warnings.isEmpty)
        #expect(try report(block, 0x0009) == right)
        let locked = try report(block.with(10, 0).with(9, 0x0F).with(15, 0x31))
        #expect(locked.warnings.isEmpty && field("access", locked) == "read-only")
        #expect(field("writeFlag", locked) == "interrupted")
        let odd = try report(block.with(10, 0x77))
        #expect(odd.warnings == [.checksumWrong] && field("access", odd) == "77")
    }

    @Test("Two systems of one FeliCa Lite share the attribute block; those of two cards do not")
    func ndefOnLite() throws {
        var dump = try CardFixture(name: "felica-lite-s").dump()
        #expect(NDEFDecoder().recognizes(dump))
        dump.systems[1].idm = IDm(rawValue: 1)
        #expect(!NDEFDecoder().recognizes(dump))
        dump.systems.remove(at: 1)
        #expect(!NDEFDecoder().recognizes(dump))
    }

    @Test("All that a campus card may say is personal")
    func campus() throws {
        for name in ["fcf", "gifu-university"] {
            let dump = try CardFixture(name: name).dump()
            let reports = try DecoderRegistry.standard.recognizing(dump).map { try $0.decode(dump) }
            let fields = reports.flatMap(\.fields)
            #expect(!fields.isEmpty && fields.allSatisfy { $0.isPersonal })
        }
    }

    /// The blocks that the owner of a university card of 2023 published, with an invented number and name.
    @Test("A campus card of four blocks: text in Shift_JIS, and days")
    func campusText() throws {
        func fields(_ blocks: [String]) throws -> [String: String] {
            let service = Dumps.service(ServiceCode(rawValue: 0x1A8B), try blocks.map(Dumps.block))
            let fields = try CampusCardDecoder.fcf.decode(Dumps.card(SystemCode(rawValue: 0xFE00), [service])).fields
            let arePersonal = fields.allSatisfy { $0.isPersonal }
            #expect(arePersonal)
            return Dictionary(uniqueKeysWithValues: fields.map { ($0.key, $0.value) })
        }
        let number = "30313232333039393939393030303030"
        let name = "8384837D835F8140835E838D83452020"
        let (first, last) = ("31353031323339343230323230343031", "32303236303333314148323830333339")
        #expect(
            try fields([number, name, first, last]) == [
                "text0": "0122309999900000", "text1": "ヤマダ　タロウ", "firstDay": "2022-04-01",
                "lastDay": "2026-03-31",
            ])
        // No days, and no text: a control character, half of a character.
        let control = "83840A00" + String(repeating: "00", count: 12)
        let half = String(repeating: "20", count: 15) + "83"
        #expect(try fields([control, half, last, "32303236313333314148323830333339"]) == [:])
        #expect(try fields([number, name]) == ["text0": "0122309999900000", "text1": "ヤマダ　タロウ"])
    }

    @Test("The UID of a Type 2 Tag is personal, its product is not")
    func uid() throws {
        let pages: [UInt16: [UInt8]] = [
            0: [0x04, 0x11, 0x22, 0xBF], 1: [0x33, 0x44, 0x55, 0x66], 2: [0x44, 0, 0, 0], 3: [0xE1, 0x10, 0x12, 0],
        ]
        let dump = CardDump(card: CardIdentity(technology: .typeA), type2: Type2Dump(pages: pages))
        let fields = try NDEFDecoder().decode(dump).fields
        #expect(fields.first { $0.key == "uid" }?.value == "04112233445566")
        #expect(fields.filter(\.isPersonal).map(\.key) == ["uid"])
        #expect(fields.first { $0.key == "signature" }?.value == "no")
        let signed = CardDump(card: dump.card, type2: Type2Dump(pages: pages, signature: [1]))
        #expect(try NDEFDecoder().decode(signed).fields.first { $0.key == "signature" }?.value == "yes")
    }

    @Test("The IC of a FeliCa Lite", arguments: [(0xF0, false), (0xF1, true), (0xF2, true), (0xF3, true)])
    func lite(ic: UInt8, isLiteS: Bool) throws {
        var card = CardIdentity(technology: .felica)
        card.pmm = PMm(rawValue: UInt64(ic) << 48)
        // Without a known IC, block 90 shows the Lite-S.
        let blocks = BlockTable([(0, Block.zero), (0x90, Block.zero)] as [(UInt16, Block)])
        let service = ServiceDump(code: ServiceCode(rawValue: 0x0009), state: .read, blocks: blocks)
        let system = SystemDump(
            systemCode: .lite, idm: IDm(rawValue: 1), pmm: PMm(rawValue: UInt64(ic) << 48), services: [service])
        #expect(LiteReport(CardDump(card: card, systems: [system]))?.isLiteS == isLiteS)
    }
}
