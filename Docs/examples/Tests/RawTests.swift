// SPDX-License-Identifier: Apache-2.0

import KazasuTesting
import Testing

/// Every layer below the facade, by its public declarations.
struct RawTests {
    private static let twoSystems = Array(
        """
        { "schema": "kazasu.card/1", "idm": "0102030405060708", "pmm": "0120220427674eff",
          "systems": [
            { "code": "0003", "keyVersion": "0001",
              "blocks": { "008B": ["00112233445566778899aabbccddeeff"], "090F": 2, "0009": 1 } },
            { "code": "FE00", "blocks": { "170F": 1 } }] }
        """.utf8)

    private let attributes = ServiceCode(rawValue: 0x008B)
    private let history = ServiceCode(rawValue: 0x090F)

    @Test("Systems are polled in the order given, whatever their order on the card")
    func pollingOrder() throws {
        let reader = try virtualReader(cards: Self.twoSystems)
        let common = try #require(try reader.pollFeliCa([.commonArea, .transit], requestCode: 1))
        #expect(common.idm == IDm("1102030405060708"))
        #expect(try #require(try reader.pollFeliCa([.transit, .commonArea])).idm == IDm("0102030405060708"))
        #expect(try reader.pollFeliCa([.octopus]) == nil)
        let target = try #require(try reader.device.activateFeliCa(systems: [.any], requestCode: 1, timeSlots: 3))
        #expect(target.requestData == 0x0003)
    }

    @Test("A system from its IDm and PMm, or from a target, keeps its reader open")
    func systems() throws {
        func fromTarget() throws -> FeliCaSystem {
            let reader = try virtualReader(cards: Self.twoSystems)
            let target = try #require(try reader.device.activateFeliCa(systems: [.transit]))
            return FeliCaSystem(channel: reader.device, target: target, owner: reader)
        }
        func fromNumbers() throws -> FeliCaSystem {
            let reader = try virtualReader(cards: Self.twoSystems)
            _ = try reader.device.activateFeliCa(systems: [.transit])
            let (idm, pmm) = (try #require(IDm("01 02 03 04 05 06 07 08")), try #require(PMm("0120220427674eff")))
            return FeliCaSystem(channel: reader.device, idm: idm, pmm: pmm, owner: reader)
        }
        for system in [try fromTarget(), try fromNumbers()] {
            #expect(try system.requestSystemCode() == [.transit, .commonArea])
            #expect(try system.requestResponse() == .initial)
            #expect(
                try system.requestService([.system, attributes.node, NodeCode(rawValue: 0x7F0B)])
                    == [KeyVersion("0001"), KeyVersion("0001"), nil])
            let root = try system.searchServiceCode(index: 0)
            guard case .area(let area) = root else { throw TransportError.noAnswer }
            #expect(area.start == .root && area.contains(attributes.node))
        }
    }

    @Test("Several services in one read, and a write that is read back")
    func blocks() throws {
        let system = try #require(try virtualReader(cards: Self.twoSystems).pollFeliCa([.transit]))
        let list: BlockList = [
            .init(serviceIndex: 1, number: 1), .init(number: 0), BlockListElement(serviceIndex: 1, number: 0),
        ]
        let blocks = try system.readWithoutEncryption(services: [attributes, history], blocks: list)
        #expect(blocks == [.zero, Block("00112233445566778899aabbccddeeff"), .zero])
        let open = ServiceCode(rawValue: 0x0009)
        let block = try #require(Block(Array(0..<16)))
        let flags = try system.writeWithoutEncryption(services: [open], blocks: BlockList(numbers: [0]), data: [block])
        #expect(flags.isSuccess)
        #expect(try system.readWithoutEncryption(open, blocks: [0]) == [block])
        let refused = #expect(throws: FeliCaError.self) { try system.readWithoutEncryption(open, blocks: [1]) }
        #expect(refused?.statusFlags?.flag2 == .noSuchBlock)
        #expect(throws: FeliCaError.invalidArgument(.serviceIndex(2, element: 0))) {
            try system.readWithoutEncryption(services: [open], blocks: [.init(serviceIndex: 2, number: 0)])
        }
        #expect(throws: FeliCaError.invalidArgument(.count(.blockData, 0, allowed: 1...1))) {
            try system.writeWithoutEncryption(services: [open], blocks: [.init(number: 0)], data: [])
        }
    }

    /// Request System Code, written by hand; its parser leaves `unread` bytes.
    private struct Systems: FeliCaCommand {
        static let code = CommandCode(rawValue: 0x0C)
        var unread = 0

        func parse(_ answer: inout AnswerReader) throws(FeliCaError) -> [UInt8] {
            Array(try answer.bytes(answer.remaining - unread))
        }

        func maximumTime(_ times: ResponseTime) -> Duration { times.maximum(.fixed) }
    }

    @Test("A command of one's own: every byte of its answer must be read")
    func ownCommand() throws {
        let system = try #require(try virtualReader(cards: Self.twoSystems).pollFeliCa([.transit]))
        #expect(try system.send(Systems()) == [2, 0x00, 0x03, 0xFE, 0x00])
        #expect(throws: FeliCaError.malformed(Systems.code, .trailingBytes(extra: 1))) {
            try system.send(Systems(unread: 1))
        }
        #expect(throws: FeliCaError.malformed(Systems.code, .tooShort(missing: 3))) {
            try system.send(Systems(unread: -3))
        }
        #expect(try Systems().packet(for: system.idm).count == 10)
    }

    private static let files = Array(
        """
        { "schema": "kazasu.card/1", "typeA": { "uid": "04112233445566" },
          "applications": [{ "aid": "f001020300", "files": { "0001": { "data": "000102030405060708090a0b0c0d0e0f" } } }] }
        """.utf8)

    @Test("A session for APDUs from a reader of one's own")
    func apdus() throws {
        let reader = try virtualReader(cards: Self.files)
        let request = ActivationRequest.typeA()
        let card = try #require(try reader.device.activate(request))
        let session = ISO7816Session(reader: reader.device, picc: card, request: request, owner: reader)
        try session.select(.application(try #require(AID("F001020300"))))
        try session.select(.childEF(FileIdentifier(rawValue: 1)))
        let file = session.readFile()
        #expect(file.data == Array(0..<16) && file.end == .file)
        #expect(try session.readBinary(offset: 14, count: 2).data == [14, 15])
        #expect(throws: ISO7816Error.invalidCommand(.offset(0))) { try session.readRecord(0) }
        #expect(try !session.readRecord(1, shortFileIdentifier: 3).status.isSuccess)
        #expect(try CommandAPDU.readRecord(2, shortFileIdentifier: 3).encoded() == [0x00, 0xB2, 0x02, 0x1C, 0x00])
        #expect(try CommandAPDU.readBinary(offset: 0x102, count: 4).encoded() == [0x00, 0xB0, 0x01, 0x02, 0x04])
        #expect(StatusWord("6A82")?.meaning != nil && StatusWord("1234")?.meaning == nil)
    }

    @Test("Dumps of what a program has in memory")
    func dumps() throws {
        let (idm, pmm) = (try #require(IDm("0102030405060708")), try #require(PMm("0120220427674eff")))
        let block = try #require(Block("0000000000000000200000102700 01e3".filter { $0 != " " }))
        let felica = CardDump(idm: idm, pmm: pmm, systems: [.commonArea: [:], .transit: [attributes: [block]]])
        #expect(felica.systems.map(\.systemCode) == [.transit, .commonArea] && !felica.isComplete)
        #expect(try felica.balance().balances.map(\.amount) == [10000])
        #expect(try CardDump(parsing: Array(felica.encoded(as: .json))) == felica)

        let aid = try #require(AID("F001020300"))
        let files = CardDump(card: .typeB(pupi: nil), files: [aid: [FileIdentifier(rawValue: 2): [1, 2, 3]]])
        #expect(files.application(aid)?.file(FileIdentifier(rawValue: 2))?.data == [1, 2, 3])

        let tag = CardDump(card: .typeA(uid: [4, 1, 2, 3, 4, 5, 6]), memory: Array(0..<18))
        #expect(tag.type2?.pages == [0: [0, 1, 2, 3], 1: [4, 5, 6, 7], 2: [8, 9, 10, 11], 3: [12, 13, 14, 15]])
    }
}
