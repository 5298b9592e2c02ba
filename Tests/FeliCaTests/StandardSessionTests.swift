// SPDX-License-Identifier: Apache-2.0

import ByteCodec
import CardCiphers
import CardCrypto
import CardModel
import FeliCa
import ReaderCore
import Testing

/// A vector's parts as values.
extension StandardVector {
    var scheme: StandardScheme { nonce.isEmpty ? .des : .aes }

    static func codes(_ text: String) -> [NodeCode] { text.split(separator: " ").compactMap { NodeCode($0) } }

    static func key(_ hex: String) throws -> StandardKey { try #require(StandardKey(Hex.decode(hex))) }

    func key(of node: NodeCode) throws -> StandardKey? {
        let line = keys.split(separator: "\n").first { $0.hasPrefix("\(node)=") }
        return try line.map { try Self.key(String($0.dropFirst(5))) }
    }

    /// The access that the vector's keys give, with another key in place of one of them.
    func access(replacing node: NodeCode? = nil, by other: StandardKey? = nil) throws -> StandardAccess {
        func layers(_ text: String) throws -> [StandardLayer] {
            try Self.codes(text).map { StandardLayer($0, $0 == node ? other : try key(of: $0)) }
        }
        switch scheme {
        case .des:
            let system = try #require(try key(of: .system))
            return try #require(StandardAccess.des(system: system, areas: layers(areas), services: layers(nodes)))
        case .aes:
            let own = individual.isEmpty ? nil : try Self.key(individual)
            return try #require(try StandardAccess.aes(layers(nodes), individual: own))
        }
    }

    func messaging() throws -> any StandardMessaging {
        let bytes = try Hex.decode(session)
        let transaction = try Hex.decode(transaction)
        guard scheme == .aes else {
            return DESMessaging(key: DESKey(UInt64(block: bytes)), transaction: transaction)
        }
        return AESMessaging(
            encryption: try AESKey(SecretBytes(bytes.prefix(16))),
            authentication: try AESKey(SecretBytes(bytes.suffix(16))), transaction: transaction,
            nonce: try Hex.decode(nonce))
    }

    /// Commands and answers, in pairs.
    func exchanges() throws -> [(command: [UInt8], answer: [UInt8])] {
        let frames = try self.frames.split(separator: "\n").map { try Hex.decode(String($0.dropFirst(2))) }
        return stride(from: 0, to: frames.count, by: 2).map { (frames[$0], frames[$0 + 1]) }
    }

    func system(_ channel: any CardChannel) throws -> FeliCaSystem {
        FeliCaSystem(
            channel: channel, idm: try #require(IDm(idm)), pmm: try #require(PMm("0120220427674EFF")))
    }

    /// Opens the session with the vector's random number.
    func open(_ channel: any CardChannel, _ access: StandardAccess? = nil) throws -> StandardSession {
        let random = try Hex.decode(random)
        return try StandardSession(try access ?? self.access(), on: system(channel)) { Array(random.prefix($0)) }
    }
}

/// The error of a session.
private func error(_ work: () throws -> Void) -> StandardError? {
    do {
        try work()
        return nil
    } catch {
        return error as? StandardError
    }
}

/// Mutual authentication and secure reading with vectors of two independent programs.
struct StandardSessionTests {
    @Test(arguments: StandardVector.all)
    func groupKey(_ vector: StandardVector) throws {
        var expected = try Hex.decode(vector.group)
        let own = try vector.individual.isEmpty ? [] : Hex.decode(vector.individual)
        for (index, byte) in own.enumerated() { expected[index] ^= byte }
        #expect(try vector.access().key.withBytes { $0 } == expected)
    }

    /// Every frame of every session: authentication, reads as blocks, everything else as payloads.
    @Test(arguments: StandardVector.all)
    func wholeSession(_ vector: StandardVector) throws {
        let exchanges = try vector.exchanges()
        let channel = RecordingChannel(exchanges.map(\.answer))
        let messaging = try vector.messaging()
        var session = try vector.open(channel)
        for (command, answer) in exchanges.dropFirst(2) {
            let code = command[1]
            let payload = try #require(try messaging.open(command, code: code)).payload
            let expected = try #require(try messaging.open(answer, code: code + 1)).payload
            if code == 0x16 || code == 0x46 {
                let list = try Self.blocks(payload)
                let start = 1 + list.bytes.count
                let data = (0..<list.count).compactMap { Block(payload[(start + 16 * $0)...].prefix(16)) }
                #expect(try session.write(list, data).isSuccess)
                continue
            }
            if code & 0xF0 == 0x80 {
                let (command, key, parent) = try Self.issuing(code, payload)
                let made = try #require(command.payload(key: key, parent: parent))
                // What follows is padding.
                #expect(payload.starts(with: made) && payload.count - made.count < 8)
                let left = try session.issue(command, made)
                #expect(left == (code == 0x80 ? 0xF5 : code == 0x84 ? payload[0] == 0x08 ? 0xEF : 0xEE : nil))
                continue
            }
            guard code == 0x14 || code == 0x44 else {
                let made = try session.exchange(CommandCode(rawValue: UInt16(code)), payload, .seconds(1))
                #expect(made == expected)
                continue
            }
            let list = try Self.blocks(payload)
            if expected.first == 0 {
                let read = try session.read(list)
                #expect(read.flatMap(\.bytes) == Array(expected[3...].prefix(16 * list.count)))
            } else {
                #expect(throws: StandardError.command(.status(StatusFlags(expected[0], expected[1])))) {
                    try session.read(list)
                }
            }
        }
        #expect(channel.sent == exchanges.map(\.command))
    }

    /// The commands of D7 in the words of its comments, with the new key and that of the area above.
    private static func issuing(
        _ code: UInt8, _ payload: [UInt8]
    ) throws -> (StandardIssueCommand, key: StandardKey?, parent: StandardKey) {
        func key(_ text: String) throws -> StandardKey { try #require(StandardKey(Array(text.utf8))) }
        switch (code, payload.first) {
        case (0x80, _):
            let issue = try #require(SystemIssue(id: Array(payload[..<8]), parameter: Array(payload[8..<16])))
            let command = StandardIssueCommand.issueID(
                SystemCode(rawValue: 0xA0B1), issue, version: KeyVersion(rawValue: 1))
            return (command, try key("rootkey!"), try StandardVector.key("8796A5B4C3D2E1F0"))
        case (0x82, _):
            let command = StandardIssueCommand.area(
                AreaCode(rawValue: 0x1000), end: AreaCode(rawValue: 0x1FFF), blocks: 20,
                version: KeyVersion(rawValue: 2))
            return (command, try key("areakey!"), try key("rootkey!"))
        case (0x84, 0x08):
            let command = StandardIssueCommand.service(
                ServiceCode(rawValue: 0x1008), blocks: 4, version: KeyVersion(rawValue: 3))
            return (command, try key("servkey!"), try key("areakey!"))
        case (0x84, _):
            let command = StandardIssueCommand.service(
                ServiceCode(rawValue: 0x100B), blocks: 4, version: KeyVersion(rawValue: 0))
            return (command, nil, try key("areakey!"))
        default: return (.changeSystemBlock, nil, try key("rootkey!"))
        }
    }

    /// A payload of Read as a list of blocks.
    static func blocks(_ payload: [UInt8]) throws -> BlockList {
        var list = BlockList([])
        var rest = payload.dropFirst()
        for _ in 0..<Int(try #require(payload.first)) {
            let head = try #require(rest.first)
            let isShort = head & 0x80 != 0
            let number = rest.dropFirst().prefix(isShort ? 1 : 2).reversed().reduce(0) { $0 << 8 | UInt16($1) }
            let mode = try #require(AccessMode(rawValue: head >> 4 & 7))
            list.elements.append(BlockListElement(serviceIndex: Int(head & 0x0F), number: number, accessMode: mode))
            rest = rest.dropFirst(isShort ? 2 : 3)
        }
        return list
    }

    /// A card's proof that does not fit ends the session before the reader's own proof.
    @Test(arguments: [
        (StandardVector.d1, "5A5A5A5A5A5A5A5A", "1810010A4B001234567801000001081437B31756F0613C9B"),
        (
            StandardVector.a1, "5A5A5A5A5A5A5A5A5A5A5A5A5A5A5A5A",
            "1E40010A4B00123456780001081484E39477873225EF8327F090B573B906"
        ),
    ])
    func wrongKey(_ vector: StandardVector, _ key: String, _ first: String) throws {
        let answers = [
            "1A11010A4B00123456782CAA368764D04AD3169A89AD38019221",
            "2E41010A4B00123456785D4279547FD9DC3BE7E96BC90D3CC5965D62587056A5A3A088A2ED46AC6AEE0100000000",
        ]
        let channel = RecordingChannel([try Hex.decode(answers[vector.scheme == .des ? 0 : 1])])
        let access = try vector.access(replacing: NodeCode("1408"), by: StandardVector.key(key))
        #expect(error { _ = try vector.open(channel, access) } == .wrongKey)
        #expect(channel.sent == [try Hex.decode(first)])
    }

    /// From a real card: a FeliCa Lite-S answers with zeros whatever the key.
    @Test func liteAnswersWithZeros() throws {
        let idm = "012E34E829CE1A77"
        let channel = RecordingChannel([try Hex.decode("1A11\(idm)00000000000000000000000000000000")])
        let system = FeliCaSystem(
            channel: channel, idm: try #require(IDm(idm)), pmm: try #require(PMm("00F1000000014300")))
        let access = try StandardVector.d1.access()
        #expect(error { _ = try StandardSession(access, on: system) } == .noAuthentication)
        #expect(channel.sent.count == 1)
    }

    struct BadAnswer: CustomTestStringConvertible {
        let id: String
        let vector: StandardVector
        let answer: String
        var blocks: String?
        var error: StandardError?
        var testDescription: String { id }
    }

    static let badAnswers: [BadAnswer] = {
        let counting = "000102030405060708090A0B0C0D0E0F"
        let start = "2A150C3325A701C020BB492F537EDDFBBCCB5500F7B2855E7892B8D21C5D3761AC0C"
        let forged = StandardError.forged(.read)
        return [
            BadAnswer(id: "N0", vector: .d1, answer: start + "F69964888B48C9E4", blocks: counting),
            BadAnswer(
                id: "N1", vector: .d1,
                answer: "2A15E415BD4622AC6495E019C678C6B9E2954C5EC424EA92CB3170025BE46868C9054A9759BCB3638784",
                error: forged),
            BadAnswer(id: "N2", vector: .d1, answer: start + "FD560D19312C2C21", error: forged),
            BadAnswer(id: "N3", vector: .d1, answer: start + "DA8F5FC28ADA024D", error: forged),
            BadAnswer(
                id: "N4", vector: .d1,
                answer: "2A15B9A9DA93FB28E8E40D18D794D96D2FD3C625BB16B7755FE3DEC432A00F0E4A2A7152951D79840416",
                error: forged),
            BadAnswer(
                id: "N5", vector: .d1,
                answer: "3A150C3325A701C020BB8069742C93CE10C0EEC2186B01689E46C3296D77A83B502B839253A14B6AF08E8AE9F658A2"
                    + "9F75D00098B0038CB151BE", error: forged),
            BadAnswer(
                id: "N6", vector: .d1, answer: "22150C3325A701C020BB492F537EDDFBBCCB020C9465B15EF2BD71F8078D46A5F497",
                error: forged),
            BadAnswer(
                id: "N7", vector: .d1,
                answer: "27150C3325A701C020BB492F537EDDFBBCCB5500F7B2855E7892B8D21C5D3761AC0CF69964888B", error: forged),
            BadAnswer(
                id: "N8", vector: .d1, answer: "1A150C3325A701C020BBF72EA26599A6C16E882328AF8F5DF093",
                error: .command(.status(StatusFlags(0x01, 0xA8)))),
            BadAnswer(
                id: "N9", vector: .d1, answer: "1A170C3325A701C020BB790117D14B353D662DBE57E943508879",
                error: .command(.malformed(.read, .responseCode(0x17)))),
            BadAnswer(
                id: "N10", vector: .d1,
                answer: "2A150C3325A701C020BB492F537EDDFBBCCB5500F7B2855E78923BE3425ED565864BDDD82AFAFBC84852",
                blocks: "000102030405060708090A0B0C0D0101"),
            BadAnswer(
                id: "NA0", vector: .a1, answer: "1F450200E67198E2BAC7C8BDF214ED61972B9A222A1DE9FE06C37E1EDF692C",
                blocks: counting),
            BadAnswer(
                id: "NA1", vector: .a1, answer: "1F450200E67198E2BAC7C8BDF214ED61972B9A222A1DE9FE06C37E1EDF692D",
                error: .forged(.readV2)),
            BadAnswer(
                id: "NA2", vector: .a1, answer: "1F450200E67198E2BBC7C8BDF214ED61972B9A222A1DE9FE06C37E1EDF692C",
                error: .forged(.readV2)),
            BadAnswer(
                id: "NA3", vector: .a1, answer: "1F45010054D68F03F0AC76B43683B6B99A9A302C8D41925DD7B6DD39C5CA7E",
                error: .forged(.readV2)),
        ]
    }()

    @Test(arguments: badAnswers)
    func answersToARead(_ row: BadAnswer) throws {
        let exchanges = try row.vector.exchanges()
        let channel = RecordingChannel(try exchanges.prefix(2).map(\.answer) + [Hex.decode(row.answer)])
        var session = try row.vector.open(channel)
        var read: [Block]?
        let thrown = error { read = try session.read(BlockList(numbers: [0])) }
        #expect(thrown == row.error)
        #expect(read?.map(\.description).joined() == row.blocks)
        #expect(channel.sent == exchanges.map(\.command))
    }

    /// No bit of an answer can change, and no byte be missing, without an error.
    @Test(arguments: [StandardVector.d1, .a1])
    func changedAnswers(_ vector: StandardVector) throws {
        let exchanges = try vector.exchanges()
        for (place, exchange) in exchanges.enumerated() {
            for bit in 0..<exchange.answer.count * 8 {
                var answers = exchanges.map(\.answer)
                answers[place][bit / 8] ^= 1 << UInt8(bit % 8)
                #expect(throws: StandardError.self) { try Self.read(vector, answers) }
            }
            for count in 0..<exchange.answer.count {
                var answers = exchanges.map(\.answer)
                answers[place] = Array(answers[place].prefix(count))
                #expect(throws: StandardError.self) { try Self.read(vector, answers) }
                if count > 0 { answers[place][0] = UInt8(count) }
                #expect(throws: StandardError.self) { try Self.read(vector, answers) }
            }
        }
    }

    private static func read(_ vector: StandardVector, _ answers: [[UInt8]]) throws {
        var session = try vector.open(RecordingChannel(answers))
        _ = try session.read(BlockList(numbers: [0]))
    }

    @Test(arguments: [StandardVector.d1, .a1])
    func lastTransactionNumber(_ vector: StandardVector) throws {
        var answers = try vector.exchanges().prefix(2).map(\.answer)
        let code: UInt8 = vector.scheme == .des ? 0x13 : 0x43
        let payload = [UInt8](repeating: 7, count: 16)
        answers[1] = try #require(try vector.messaging().seal(payload, code: code, number: 0xFFFD))
        let channel = RecordingChannel(answers)
        var session = try vector.open(channel)
        #expect(session.issue.id == Array(payload.prefix(8)))
        #expect(error { _ = try session.read(BlockList(numbers: [0])) } == .exhausted)
        #expect(channel.sent.count == 2)
    }

    @Test func silence() throws {
        let vector = StandardVector.d1
        let channel = RecordingChannel(failing: .noAnswer)
        #expect(error { _ = try vector.open(channel) } == .silence(.authentication1))
    }
}

/// Group keys, MACs and frames by themselves.
struct StandardPieceTests {
    private static let b = String(repeating: "100C", count: 8)

    /// From real cards, as felica-rs published them.
    @Test(arguments: [
        ([String(repeating: "00", count: 16)], "3925042E238282F085BCEE62593C2385"),
        ([String(repeating: "00", count: 16), b], "586A2E06EE16AA2C6AE5B6CDFF6A5039"),
        ([b], "651049AE89581DDC3F302EA4E4A0F911"),
        ([b, String(repeating: "1012", count: 8)], "5E86F6C0574EBAD952FAD9142E1AA6BB"),
        ([String(repeating: "3111", count: 8)], "94459E3640EDBCE4746D83EECE80C065"),
    ])
    func groupKeysOfAES(_ keys: [String], _ group: String) throws {
        let layers = try keys.map { StandardLayer(NodeCode(rawValue: 0x1008), try StandardVector.key($0)) }
        let access = try #require(try StandardAccess.aes(layers))
        #expect(access.key.withBytes { Hex.encode($0, uppercase: true) } == group)
    }

    @Test func chainOfDES() throws {
        let access = try #require(
            StandardAccess.des(
                system: StandardVector.key("0001020304050607"),
                areas: [StandardLayer(NodeCode(rawValue: 0), StandardVector.key("1011121314151617"))],
                services: [StandardLayer(NodeCode(rawValue: 0x1008), StandardVector.key("2021222324252627"))]))
        #expect(access.key.withBytes { Hex.encode($0, uppercase: true) } == "78103C9289C92681588ED0018472BA14")
    }

    /// Unpublished services need a key of their own; a list without one keyed node opens nothing.
    @Test func listsThatNoCardAccepts() throws {
        let (des, aes) = (try StandardVector.key("0011223344556677"), try StandardVector.key(Self.b))
        let (area, keyed, open) = (NodeCode(rawValue: 0), NodeCode(rawValue: 0x1008), NodeCode(rawValue: 0x100B))
        let root = StandardLayer(area, des)
        let layers: [[StandardLayer]] = [
            [], [StandardLayer(open, nil)], [StandardLayer(keyed, nil)], [StandardLayer(keyed, aes)],
            [StandardLayer(keyed, des), StandardLayer(.system, nil)],
            Array(repeating: StandardLayer(keyed, des), count: 9),
        ]
        for layers in layers { #expect(StandardAccess.des(system: des, areas: [root], services: layers) == nil) }
        #expect(StandardAccess.des(system: des, areas: [], services: [StandardLayer(keyed, des)]) == nil)
        #expect(StandardAccess.des(system: aes, areas: [root], services: [StandardLayer(keyed, des)]) == nil)
        #expect(try StandardAccess.aes([]) == nil)
        #expect(try StandardAccess.aes([StandardLayer(open, nil)]) == nil)
        #expect(try StandardAccess.aes([StandardLayer(keyed, des)]) == nil)
        #expect(try StandardAccess.aes(Array(repeating: StandardLayer(keyed, aes), count: 17)) == nil)
        for count in [0, 7, 9, 15, 17] { #expect(StandardKey([UInt8](repeating: 1, count: count)) == nil) }
    }

    @Test func macOfDES() throws {
        let text = [UInt64(0x1111_1111_1111_1111)]
        #expect(Hex.encode(DESMessaging.mac(text, 0x12, 0x21).block, uppercase: true) == "3F84A221D7174581")
    }

    /// From felica-rs's tests.
    @Test func frameOfAES() throws {
        let zeros = try AESKey(SecretBytes([UInt8](repeating: 0, count: 16)))
        let messaging = AESMessaging(
            encryption: zeros, authentication: zeros, transaction: try Hex.decode("5EC8B5971704"), nonce: [0, 0, 0])
        let data = "0000000100000123456789ABCDEF0123456789ABCDEF0123456789ABCDEF0123456789ABCDEF"
        let frame = try #require(try messaging.seal(Hex.decode(data), code: 0x48, number: 0xCF41))
        #expect(
            Hex.encode(frame.dropFirst(2), uppercase: true)
                == "41CFAE0D2F92B2259287E05646E140E5924EE27F79CB69A2047DA5F9353EED59E35FBC90A5D731D25A0FCDBDD6802174")
    }

    @Test func blocksThatFit() {
        #expect(StandardScheme.des.blocksPerRead(answeredIn: 255) == 14)
        #expect(StandardScheme.aes.blocksPerRead(answeredIn: 255) == 15)
        // 42 and 58 bytes for one and two blocks with DES, 31 and 47 with AES.
        #expect([41, 42, 57, 58].map { StandardScheme.des.blocksPerRead(answeredIn: $0) } == [1, 1, 1, 2])
        #expect([0, 31, 46, 47].map { StandardScheme.aes.blocksPerRead(answeredIn: $0) } == [1, 1, 1, 2])
    }

    /// K10 of the vectors: 12 blocks fit with DES, 13 with AES, and fewer with numbers above 255.
    @Test func lengthsOfWrites() {
        func length(_ scheme: StandardScheme, _ count: Int, from first: UInt16 = 0) -> Int {
            scheme.writeLength(BlockList(numbers: (0..<UInt16(count)).map { first + $0 }))
        }
        #expect(length(.des, 12) == 0xF2 && length(.des, 13) > 255)
        #expect(length(.aes, 13) == 0xF7 && length(.aes, 14) > 255)
        #expect(length(.des, 12, from: 256) == 0xFA && length(.aes, 12, from: 256) == 12 + 1 + 19 * 12)
        #expect(length(.des, 1) == 0x2A && length(.aes, 1) == 13 + 18)
    }

    /// K7 of the vectors, and the new keys in D4: deciphered by hand, they make the same bytes.
    @Test func keyChanges() throws {
        let new = try StandardVector.key("5051525354555657")
        let sealed = try #require(
            new.sealed(
                version: KeyVersion(rawValue: 2), old: StandardVector.key("6061626364656667"),
                parent: StandardVector.key("4041424344454647")))
        #expect(sealed.description == "30A48AEE4F11818D79D9FDF2A3C5A3A2")
        let vector = StandardVector.d4
        for (node, parent, version, sealed) in [
            ("1048", "1040", 0x0004, "67D785B895F6B22CF9444AD542E6E05E"),
            ("1040", "1000", 0x0204, "6B06F2750ABD0619A427FCC37ABBAA58"),
            ("FFFF", "FFFF", 0x0009, "B1770AF3E2D05887F7BD05B74E209D1A"),
        ] {
            let nodes = StandardVector.codes("\(node) \(parent)")
            let old = try #require(try vector.key(of: nodes[0]))
            let outer = try #require(try vector.key(of: nodes[1]))
            func number(_ key: StandardKey) -> UInt64 { key.withBytes { UInt64(block: $0) } }
            let last = UInt64(block: try Hex.decode(String(sealed.suffix(16))))
            let plain = DESKey(number(old)).decrypt(DESKey(number(outer)).decrypt(last))
            let key = try #require(StandardKey(plain.block))
            let made = key.sealed(version: KeyVersion(rawValue: UInt16(version)), old: old, parent: outer)
            #expect(made?.description == sealed, "\(node)")
        }
        let aes = try StandardVector.key(Self.b)
        #expect(aes.sealed(version: KeyVersion(rawValue: 2), old: new, parent: new) == nil)
        #expect(try StandardVector.key("0101010101010100").isWeak && !new.isWeak)
        #expect(try StandardVector.key("E1FFE1FFF0FFF0FF").isWeak && !StandardVector.key("E1FFE1FFF0FFF0F0").isWeak)
    }

    /// K8 of the vectors.
    @Test func packages() throws {
        let command = StandardIssueCommand.service(
            ServiceCode(rawValue: 0x1008), blocks: 4, version: KeyVersion(rawValue: 1))
        let (key, parent) = (try StandardVector.key("4041424344454647"), try StandardVector.key("3031323334353637"))
        let payload = try #require(command.payload(key: key, parent: parent))
        #expect(
            Hex.encode(payload, uppercase: true) == "0810" + "C7D051D6681257FA4B1C00A8024A57FE31F68CA1A2114804")
        let aes = try StandardVector.key(Self.b)
        #expect(command.payload(key: aes, parent: parent) == nil)
        #expect(command.payload(key: key, parent: aes) == nil)
    }

    @Test func keysDoNotShow() throws {
        let access = try StandardVector.d1.access()
        let key = try StandardVector.key("0123456789ABCDEF")
        for text in ["\(access)", "\(access.key)", "\(key)", String(reflecting: key), "\(DESKey(7))"] {
            #expect(text.contains("Redacted"))
        }
    }

    @Test func longestTime() throws {
        let times = ResponseTime(try #require(PMm("0335" + "0B82824483FF")))
        // Byte 4 is 82: (B + 1) × 5 + (A + 1) = 8, times 16 periods.
        #expect(times.maximum(.authentication, units: 5) == .nanoseconds(38_664_307))
    }
}
