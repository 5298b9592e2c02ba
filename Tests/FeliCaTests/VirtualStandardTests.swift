// SPDX-License-Identifier: Apache-2.0

import ByteCodec
import CardModel
import FeliCa
import ReaderCore
import Testing
import VirtualReader

/// Virtual cards with keys: against the vectors of other programs, and against this module's sessions, with which they
/// share only the ciphers.
struct VirtualStandardTests {
    /// The areas of the vectors, whose ends no vector states.
    private static let ends: [UInt16: UInt16] = [0: 0xFFFE, 0x1000: 0x1FFE, 0x1040: 0x17FE, 0x2001: 0x2FFF]

    /// A card with the keys of a vector, and with the blocks that its first reads show.
    private static func card(_ vector: StandardVector) throws -> VirtualFeliCaCard {
        var keys = VirtualKeys()
        var nodes: [VirtualNode] = []
        for code in StandardVector.codes(vector.areas + " " + vector.nodes) + [.system] {
            let key = try vector.key(of: code)?.withBytes { $0 }
            if vector.scheme == .des { keys.des[code.rawValue] = key } else { keys.aes[code.rawValue] = key }
            guard code != .system else { continue }
            if let end = ends[code.rawValue] {
                nodes.append(VirtualNode(area: AreaCode(rawValue: code.rawValue), end: AreaCode(rawValue: end)))
            } else {
                nodes.append(VirtualNode(service: ServiceCode(rawValue: code.rawValue)))
            }
        }
        if !vector.individual.isEmpty { keys.individual = try Hex.decode(vector.individual) }
        let exchanges = try vector.exchanges()
        let issue = try #require(try vector.messaging().open(exchanges[1].answer, code: exchanges[1].answer[1])).payload
        (keys.issueID, keys.issueParameter) = (Array(issue[..<8]), Array(issue[8...]))
        var system = VirtualSystem(
            code: SystemCode(rawValue: 0x0003), idm: try #require(IDm(vector.idm)),
            pmm: try #require(PMm("0144220427674EFF")), nodes: nodes, memory: try memory(vector))
        system.keys = keys
        // D7 issues the card; that many blocks are left at first.
        if vector.id == "D7" { (system.code, system.freeBlocks) = (.any, 245) }
        return VirtualFeliCaCard(systems: [system])
    }

    private static func memory(_ vector: StandardVector) throws -> [UInt16: BlockStore] {
        var tables: [UInt16: BlockTable] = [:]
        let nodes = StandardVector.codes(vector.nodes)
        let first = try reads(vector).count
        for (index, (list, answer)) in try reads(vector, all: true).enumerated() {
            // What is written lies below 20; what is read beyond it later was there before.
            for (place, element) in list.elements.enumerated()
            where answer.first == 0 && (index < first || element.number >= 20) {
                let service = ServiceCode(rawValue: nodes[element.serviceIndex].rawValue)
                tables[service.overlapGroup, default: [:]][element.number] = Block(
                    answer[(3 + 16 * place)...].prefix(16))
            }
        }
        // What is written and read later needs a place.
        for (group, table) in tables {
            let kind = ServiceCode(rawValue: group & 0xFFFC).kind
            for number in 0..<UInt16(kind == .random ? 20 : kind == .cyclic ? 3 : 1) where table[number] == nil {
                tables[group]?[number] = .zero
            }
        }
        return tables.mapValues { BlockStore($0) }
    }

    /// The reads before the first write, as lists of blocks and payloads of answers.
    private static func reads(_ vector: StandardVector, all: Bool = false) throws -> [(BlockList, [UInt8])] {
        let messaging = try vector.messaging()
        func isRead(_ exchange: (command: [UInt8], answer: [UInt8])) -> Bool {
            exchange.command[1] == 0x14 || exchange.command[1] == 0x44
        }
        let exchanges = try vector.exchanges().dropFirst(2)
        return try (all ? exchanges.filter(isRead) : Array(exchanges.prefix(while: isRead))).map {
            let list = try #require(try messaging.open($0.command, code: $0.command[1])).payload
            let answer = try #require(try messaging.open($0.answer, code: $0.answer[1])).payload
            return (try StandardSessionTests.blocks(list), answer)
        }
    }

    /// The card answers byte for byte as the independent card did.
    @Test(arguments: StandardVector.all)
    func answersAsTheVectors(_ vector: StandardVector) throws {
        let card = try Self.card(vector)
        let exchanges = try vector.exchanges()
        let own = try Hex.decode(vector.scheme == .des ? vector.session : vector.own)
        let first = try #require(try vector.messaging().open(exchanges[1].answer, code: exchanges[1].answer[1]))
        card.prepare(random: own, firstNumber: first.number)
        for (place, (command, answer)) in exchanges.enumerated() {
            #expect(card.answer(command, at: .kbps212)?.frame == answer, "\(place)")
        }
    }

    /// A reader on a card with two systems, DES and AES.
    private static func reader() throws -> InProcessReader {
        let card = """
            {"schema": "kazasu.card/1", "idm": "010A4B0012345678", "pmm": "0144220427674EFF", "systems": [
              {"code": "0003", "keyVersion": "0001", "keyVersions": {"1408": "0007", "FFFF": "0002"},
               "nodes": ["1000-1FFE", "1008", "100B", "1408", "200B"],
               "blocks": {"1008": ["000102030405060708090A0B0C0D0E0F"], "1408": 20, "200B": 1},
               "keys": {"FFFF": "64B34B0A2BC199B1", "0000": "6612317B4FD74F39", "1000": "EFAA8C23162FBB60",
                        "1008": "4D0134D6E8B5C6FD", "1408": "A989255BF6DACD10"},
               "issueId": "1112131415161718", "issueParameter": "2122232425262728"},
              {"code": "FE00", "nodes": ["0048"], "blocks": {"0048": 3},
               "aesKeys": {"0048": "0F0E0D0C0B0A09080706050403020100"}, "aesKeyVersions": {"0048": "0009"}}]}
            """
        return InProcessReader(try VirtualCardFile.load(Array(card.utf8)))
    }

    private static func access(_ services: String...) throws -> StandardAccess {
        let keys = [
            "FFFF": "64B34B0A2BC199B1", "0000": "6612317B4FD74F39", "1000": "EFAA8C23162FBB60",
            "1008": "4D0134D6E8B5C6FD", "1408": "A989255BF6DACD10", "wrong": "0123456789ABCDEF",
        ]
        func key(_ name: String) throws -> StandardKey? { try keys[name].map { try StandardVector.key($0) } }
        func layer(_ name: String) throws -> StandardLayer {
            StandardLayer(try #require(NodeCode(name == "wrong" ? "1408" : name)), try key(name))
        }
        let system = try #require(try key("FFFF"))
        let areas = [try layer("0000"), try layer("1000")]
        let layers = try services.map { try layer($0) }
        return try #require(StandardAccess.des(system: system, areas: areas, services: layers))
    }

    @Test func readsOverASession() throws {
        let reader = try Self.reader()
        let system = try VirtualCardTests.system(reader, .transit)
        var session = try StandardSession(Self.access("1008", "1408", "100B"), on: system)
        #expect(session.issue.id.map { $0 } == (0x11...0x18).map { UInt8($0) })
        #expect(session.issue.parameter == (0x21...0x28).map { UInt8($0) })
        let blocks = try session.read([
            .init(number: 0), .init(serviceIndex: 1, number: 19), .init(serviceIndex: 2, number: 0),
        ])
        #expect(try blocks == [counting(), .zero, counting()])
        #expect(try session.read(BlockList(serviceIndex: 1, numbers: 0..<14)).count == 14)
        #expect(throws: StandardError.command(.status(StatusFlags(0x02, 0xA8)))) {
            try session.read([.init(number: 0), .init(serviceIndex: 1, number: 20)])
        }
        // The session goes on after a refusal.
        #expect(try session.read([.init(number: 0)]) == [counting()])
        #expect(try system.requestResponse() == .authenticated)
    }

    @Test func wrongKeyIsKnownAfterOneFrame() throws {
        let reader = try Self.reader()
        let system = try VirtualCardTests.system(reader, .transit)
        #expect(throws: StandardError.wrongKey) { try StandardSession(Self.access("1008", "wrong"), on: system) }
        // The right keys open it at once.
        #expect(throws: Never.self) { try StandardSession(Self.access("1008", "1408"), on: system) }
    }

    /// An area too few, a service elsewhere or unknown: the card does not answer.
    @Test func listsThatAreSilent() throws {
        let system = try VirtualCardTests.system(Self.reader(), .transit)
        let right = try Self.access("1008")
        for (areas, nodes) in [
            ("0000", "1008"), ("1000", "1008"), ("0000 1000", "200B"), ("0000 1000", "1048"), ("0000 1008", "1008"),
        ] {
            let access = try #require(
                StandardAccess(areas: StandardVector.codes(areas), nodes: StandardVector.codes(nodes), key: right.key))
            #expect(throws: StandardError.silence(.authentication1)) { try StandardSession(access, on: system) }
        }
    }

    /// In a session the card is deaf to plain reads and to a Polling of its system; another system ends the session.
    @Test func modes() throws {
        let reader = try Self.reader()
        let system = try VirtualCardTests.system(reader, .transit)
        let open = ServiceCode(rawValue: 0x200B)
        #expect(try system.readWithoutEncryption(open, blocks: [0]) == [.zero])
        var session = try StandardSession(Self.access("1008"), on: system)
        #expect(throws: FeliCaError.transport(.noAnswer)) { try system.readWithoutEncryption(open, blocks: [0]) }
        #expect(throws: TransportError.noAnswer) {
            try reader.transceive([0x06, 0x00, 0x00, 0x03, 0x00, 0x00], timeout: .milliseconds(10))
        }
        #expect(try session.read([.init(number: 0)]) == [counting()])
        let other = try VirtualCardTests.system(reader, .commonArea)
        let key = try StandardVector.key("0F0E0D0C0B0A09080706050403020100")
        let access = try #require(try StandardAccess.aes([StandardLayer(NodeCode(rawValue: 0x0048), key)]))
        var second = try StandardSession(access, on: other)
        #expect(try second.read(BlockList(numbers: 0..<3)) == [.zero, .zero, .zero])
        #expect(throws: StandardError.silence(.read)) { try session.read([.init(number: 0)]) }
        _ = try VirtualCardTests.system(reader, .transit)
        #expect(try system.readWithoutEncryption(open, blocks: [0]) == [.zero])
    }

    @Test func keyVersions() throws {
        let reader = try Self.reader()
        let system = try VirtualCardTests.system(reader, .transit)
        let nodes = StandardVector.codes("FFFF 1408 1008 100B 1048")
        let des = try system.requestServiceV2(nodes)
        #expect(des.encryption == .des56)
        #expect(des.des?.map { $0?.rawValue } == [2, 7, 1, 1, nil])
        #expect(des.aes == nil)
        #expect(try system.requestService(nodes).map { $0?.rawValue } == [2, 7, 1, 1, nil])
        let aes = try VirtualCardTests.system(reader, .commonArea)
            .requestServiceV2(StandardVector.codes("0048 0000 0049"))
        #expect(aes.encryption == .aes)
        #expect(aes.aes?.map { $0?.rawValue } == [9, nil, nil])
        #expect(aes.des == nil)
    }

    @Test func repeatedFramesAreNotAnswered() throws {
        let vector = StandardVector.d1
        let card = try Self.card(vector)
        card.prepare(random: try Hex.decode(vector.session))
        let exchanges = try vector.exchanges()
        for (command, answer) in exchanges { #expect(card.answer(command, at: .kbps212)?.frame == answer) }
        let last = try #require(exchanges.last).command
        #expect(card.answer(last, at: .kbps212) == nil)
        for bit in 0..<last.count * 8 {
            var changed = last
            changed[bit / 8] ^= 1 << UInt8(bit % 8)
            #expect(card.answer(changed, at: .kbps212) == nil)
        }
    }

    /// From a real card (PMm F1): whatever the key, a Lite-S answers with zeros.
    @Test func liteAnswersWithZeros() throws {
        let card = #"{"schema": "kazasu.card/1", "idm": "012E34E829CE1A77", "pmm": "00F1000000014300", "lite": {}}"#
        let reader = InProcessReader(try VirtualCardFile.load(Array(card.utf8)))
        let system = try VirtualCardTests.system(reader, .lite)
        #expect(throws: StandardError.noAuthentication) { try StandardSession(StandardVector.d1.access(), on: system) }
    }

    @Test(arguments: [
        #""keys": {"1408": "0011223344556677"}"#, #""keys": {"FFFF": "00112233445566"}"#,
        #""aesKeys": {"0000": "0011223344556677"}"#, #""keys": {"FFFF": "0011223344556677"}, "issueId": "00""#,
        #""aesKeyVersions": {"0001": "0001"}"#, #""individualKey": "00""#,
    ])
    func badKeysOfACardFile(_ members: String) {
        let card =
            #"{"schema": "kazasu.card/1", "idm": "010A4B0012345678", "pmm": "0144220427674EFF", "systems": [{"code": "0003", \#(members)}]}"#
        #expect(throws: DocumentError.self) { try VirtualCardFile.load(Array(card.utf8)) }
    }
}
