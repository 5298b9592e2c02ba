// SPDX-License-Identifier: Apache-2.0

import CardModel
import CardReading
import FeliCa
import ReaderCore
import Testing
import VirtualReader

/// Reading services of FeliCa Standard with the owner's keys, on virtual cards.
struct StandardReadingTests {
    /// DES in 0003, with nested areas; DES and AES in FE00.
    private static let card = """
        {"schema": "kazasu.card/1", "idm": "010A4B0012345678", "pmm": "0144220427674EFF", "systems": [
          {"code": "0003", "keyVersion": "0001", "keyVersions": {"1408": "0007"},
           "nodes": ["0048", "1000-1FFE", "1008", "100B", "1040-17FE", "1048", "1408", "200B"],
           "blocks": {"0048": ["000102030405060708090A0B0C0D0E0F"], "1008": 3, "1048": 40, "1408": 20, "200B": 1},
           "keys": {"FFFF": "64B34B0A2BC199B1", "0000": "6612317B4FD74F39", "1000": "EFAA8C23162FBB60",
                    "1040": "93281FA024436061", "0048": "25BB0E7AF2C9D04D", "1008": "4D0134D6E8B5C6FD",
                    "1048": "4DEAC542F287241F", "1408": "A989255BF6DACD10"},
           "issueId": "1112131415161718", "issueParameter": "2122232425262728"},
          {"code": "FE00", "nodes": ["0048", "0088"], "blocks": {"0048": 3, "0088": 2},
           "keys": {"FFFF": "64B34B0A2BC199B2", "0000": "6612317B4FD74F3A", "0088": "25BB0E7AF2C9D04E"},
           "aesKeys": {"0048": "0F0E0D0C0B0A09080706050403020100"}, "aesKeyVersions": {"0048": "0009"}}]}
        """

    private static let file = """
        0003 FFFF 64B34B0A2BC199B1
        0003 0000 6612317B4FD74F39 0001
        0003 1000 EFAA8C23162FBB60
        0003 1040 93281FA024436061
        0003 0048 25BB0E7AF2C9D04D
        0003 1008 4D0134D6E8B5C6FD
        0003 1048 4DEAC542F287241F
        0003 1408 A989255BF6DACD10 0007
        FE00 0048 0F0E0D0C0B0A09080706050403020100 0009
        """

    private static func keyring(
        _ file: String = file, retries: Bool = false, failures: any StandardFailures = StandardFailuresOfRun()
    ) throws -> StandardKeyring {
        var keys = StandardKeys()
        try keys.add(file: Array(file.utf8))
        return StandardKeyring(keys, retries: retries, failures: failures)
    }

    /// Notes the frames, and loses the answers of some.
    private final class NotingReader: Reader {
        private let reader: InProcessReader
        private(set) var sent: [[UInt8]] = []
        /// The numbers of the frames whose answers are lost.
        var lost: Set<Int> = []

        init(_ card: String) throws {
            reader = InProcessReader(try VirtualCardFile.load(Array(card.utf8)))
        }

        var information: ReaderInformation { reader.information }
        func activate(_ request: ActivationRequest) throws(TransportError) -> PICC? { try reader.activate(request) }
        func cyclePower() throws(TransportError) -> Bool { try reader.cyclePower() }
        func close() { reader.close() }

        func transceive(_ frame: [UInt8], timeout: Duration) throws(TransportError) -> [UInt8] {
            sent.append(frame)
            let answer = try reader.transceive(frame, timeout: timeout)
            if lost.contains(sent.count) { throw .noAnswer }
            return answer
        }

        /// How many commands with this code were sent.
        func count(_ code: UInt8) -> Int { sent.filter { $0[1] == code }.count }
    }

    private struct Run {
        let reader: NotingReader
        let session: CardSession
        let system: SystemHandle
    }

    private static func run(_ code: SystemCode = .transit, card: String = card) throws -> Run {
        let reader = try NotingReader(card)
        let target = try #require(try reader.activateFeliCa(systems: [code]))
        let session = CardSession(reader: reader, target: target)
        return Run(
            reader: reader, session: session, system: SystemHandle(code: code, idm: target.idm, pmm: target.pmm))
    }

    private static func read(
        _ run: Run, _ services: [UInt16], _ keyring: StandardKeyring
    ) -> CardSession.StandardResult {
        run.session.read(
            services.map { ServiceBlocks(ServiceCode(rawValue: $0), .all(expected: nil)) }, of: run.system,
            keys: keyring)
    }

    private static func failure(_ result: CardSession.StandardResult, _ service: UInt16) -> KeyFailure? {
        guard case .failed(let failure)? = result.ends[ServiceCode(rawValue: service)] else { return nil }
        return failure
    }

    /// Services of one path share a session; the nested one has its own.
    @Test func readsServicesOfTwoPaths() throws {
        let run = try Self.run()
        let result = Self.read(run, [0x0048, 0x1008, 0x1048, 0x1408], try Self.keyring())
        #expect(result.interruption == nil)
        #expect(result.services.map(\.blocks.count) == [1, 3, 40, 20])
        #expect(result.services.map(\.state) == [.read, .read, .read, .read])
        #expect(result.services.map(\.opened) == [.des, .des, .des, .des])
        #expect(result.services[0][0]?.description == "000102030405060708090A0B0C0D0E0F")
        #expect(result.issue == SystemIssue(id: Array(0x11...0x18), parameter: Array(0x21...0x28)))
        #expect(run.reader.count(0x10) == 3)
        #expect(run.reader.count(0x12) == 3)
        // The card answers a Polling again.
        #expect(try run.session.poll(.transit)?.idm == run.system.idm)
    }

    @Test func aesNeedsNoAreas() throws {
        let run = try Self.run(.commonArea)
        let result = Self.read(run, [0x0048], try Self.keyring())
        #expect(result.services.map(\.blocks.count) == [3])
        #expect(result.services.map(\.opened) == [.aes])
        #expect(run.reader.count(0x40) == 1)
        #expect(run.reader.count(0x0A) == 0)
    }

    /// A service with a missing key is named before anything is sent.
    @Test func nothingIsSentWithoutAKey() throws {
        let run = try Self.run()
        let before = run.reader.sent.count
        let result = Self.read(run, [0x1008], try Self.keyring("0003 0048 25BB0E7AF2C9D04D"))
        #expect(Self.failure(result, 0x1008) == KeyFailure(.noKey, NodeCode(rawValue: 0x1008)))
        #expect(result.services.map(\.state) == [.keyRequired])
        #expect(run.reader.sent.count == before)
    }

    /// Without the key of an area, or with one of another version, no authentication begins.
    @Test(arguments: [
        ("0003 1040 93281FA024436061\n", KeyFailure(.noKey, NodeCode(rawValue: 0x1040))),
        ("0003 FFFF 64B34B0A2BC199B1\n", KeyFailure(.noKey, .system)),
    ])
    func keyOfTheWayIsMissing(_ line: String, _ failure: KeyFailure) throws {
        let run = try Self.run()
        let rest = Self.file.split(separator: "\n").filter { $0 + "\n" != line }.joined(separator: "\n")
        let result = Self.read(run, [0x1408], try Self.keyring(rest))
        #expect(Self.failure(result, 0x1408) == failure)
        #expect(run.reader.count(0x10) == 0)
    }

    @Test(arguments: ["0007", "0001"])
    func otherVersion(_ version: String) throws {
        let node = version == "0007" ? "1408" : "0000"
        let file = Self.file.replacing(" \(version)", with: " 0002")
        let run = try Self.run()
        let result = Self.read(run, [0x1408], try Self.keyring(file))
        #expect(Self.failure(result, 0x1408) == KeyFailure(.keyVersion, try #require(NodeCode(node))))
        #expect(result.services.map(\.keyRefusal) == [.keyVersion])
        #expect(run.reader.count(0x10) == 0)
    }

    /// A wrong key costs one frame, the second time none; with `retries` one again.
    @Test func wrongKey() throws {
        let file = Self.file.replacing("A989255BF6DACD10", with: "0123456789ABCDEF")
        let failures = StandardFailuresOfRun()
        for (retries, frames, reason) in [
            (false, 1, KeyRefusal.wrongKey), (false, 0, .keyFailedBefore), (true, 1, .wrongKey),
        ] {
            let run = try Self.run()
            let result = Self.read(run, [0x1408], try Self.keyring(file, retries: retries, failures: failures))
            #expect(Self.failure(result, 0x1408)?.reason == reason)
            #expect(result.services.map(\.state) == [.refused(status: nil)])
            #expect(run.reader.count(0x10) == frames)
            #expect(run.reader.count(0x12) == 0)
        }
        // The right key is another list.
        let result = Self.read(try Self.run(), [0x1408], try Self.keyring(failures: failures))
        #expect(result.services.map(\.opened) == [.des])
    }

    /// One wrong key among the services of a session does not hide the others.
    @Test func wrongKeyAmongOthers() throws {
        let run = try Self.run()
        let file = Self.file.replacing("A989255BF6DACD10", with: "0123456789ABCDEF")
        let result = Self.read(run, [0x1048, 0x1408], try Self.keyring(file))
        #expect(result.services.map(\.opened) == [.des, nil])
        #expect(result.services.map(\.blocks.count) == [40, 0])
        #expect(Self.failure(result, 0x1408)?.reason == .wrongKey)
        #expect(run.reader.count(0x10) == 3)
        #expect(run.reader.count(0x12) == 1)
    }

    /// Keys that were derived elsewhere open their list, without the keys of the areas.
    @Test func derivedKeys() throws {
        // K6 of the vectors is another card's; this one's from its own chain.
        var keys = StandardKeys()
        func key(_ hex: String) throws -> StandardKey {
            try #require(
                StandardKey(
                    stride(from: 0, to: 16, by: 2).compactMap { place in
                        let start = hex.index(hex.startIndex, offsetBy: place)
                        return UInt8(hex[start..<hex.index(start, offsetBy: 2)], radix: 16)
                    }))
        }
        let access = try #require(
            StandardAccess.des(
                system: key("64B34B0A2BC199B1"), areas: [StandardLayer(NodeCode(rawValue: 0), key("6612317B4FD74F39"))],
                services: [StandardLayer(NodeCode(rawValue: 0x0048), key("25BB0E7AF2C9D04D"))]))
        let halves = access.key.withBytes { [Array($0[..<8]), Array($0[8...])] }
        let group = try #require(StandardKey(halves[0]))
        let user = try #require(StandardKey(halves[1]))
        let isNew = keys.add(group: group, user: user, areas: access.areas, services: access.nodes, in: .transit)
        #expect(isNew)
        let run = try Self.run()
        let result = Self.read(run, [0x0048], StandardKeyring(keys))
        #expect(result.services.map(\.opened) == [.des])
        #expect(run.reader.count(0x0A) == 0)
    }

    /// Whichever answer is lost, a new session goes on, and nothing is read twice in vain.
    @Test func lostAnswers() throws {
        let whole = try Self.run()
        _ = Self.read(whole, [0x1408], try Self.keyring())
        let total = whole.reader.sent.count
        let first = try #require(whole.reader.sent.firstIndex { $0[1] == 0x10 }) + 1
        for number in first...total {
            let run = try Self.run()
            run.reader.lost = [number]
            let result = Self.read(run, [0x1408], try Self.keyring())
            #expect(result.interruption == nil, "frame \(number)")
            #expect(result.services.map(\.blocks.count) == [20], "frame \(number)")
        }
    }

    @Test func cardLeaves() throws {
        let whole = try Self.run()
        _ = Self.read(whole, [0x1048], try Self.keyring())
        let first = try #require(whole.reader.sent.firstIndex { $0[1] == 0x14 }) + 2
        let run = try Self.run()
        run.reader.lost = Set(first...10_000)
        let result = Self.read(run, [0x1048], try Self.keyring())
        #expect(result.interruption == .cardLost)
        #expect(result.services.map(\.state) == [.lost])
        #expect(result.services.allSatisfy { !$0.blocks.isEmpty })
    }

    private static func dump(_ keyring: StandardKeyring?, resuming earlier: CardDump? = nil) throws -> DumpOutcome {
        let reader = try NotingReader(card)
        let target = try #require(try reader.activateFeliCa(systems: [.transit]))
        let session = CardSession(reader: reader, target: target)
        return CardDumper(session: session, resuming: earlier, keyring: keyring).dump()
    }

    @Test func dumpOfTwoSystems() throws {
        let outcome = try Self.dump(try Self.keyring())
        #expect(outcome.interruption == nil)
        #expect(outcome.dump.isComplete)
        let transit = try #require(outcome.dump.system(.transit))
        #expect(transit.services.filter { $0.opened == .des }.map(\.code.description) == ["0048", "1048", "1408"])
        // 100B is open and shows the blocks of 1008.
        #expect(transit.service(ServiceCode(rawValue: 0x1008))?.state == .keyRequired)
        #expect(transit.service(ServiceCode(rawValue: 0x100B))?.blocks.count == 3)
        #expect(transit.service(ServiceCode(rawValue: 0x1048))?.blocks.count == 40)
        #expect(transit.issue == SystemIssue(id: Array(0x11...0x18), parameter: Array(0x21...0x28)))
        let common = try #require(outcome.dump.system(.commonArea))
        #expect(common.service(ServiceCode(rawValue: 0x0048))?.opened == .aes)
        #expect(common.service(ServiceCode(rawValue: 0x0088))?.state == .keyRequired)
        // The document says so, and reads back the same.
        let json = outcome.dump.json
        #expect(try CardDump(json: json).json == json)
        #expect(try CardDump(json: json).system(.transit)?.issue == transit.issue)
    }

    /// Nothing changes without keys for the card.
    @Test func dumpWithoutKeysForTheCard() throws {
        let plain = try Self.dump(nil)
        #expect(try Self.dump(Self.keyring("1234 0048 25BB0E7AF2C9D04D")).dump == plain.dump)
        #expect(plain.dump.systems.flatMap(\.services).allSatisfy { $0.opened == nil && $0.keyRefusal == nil })
        let resumed = try Self.dump(Self.keyring(), resuming: plain.dump)
        #expect(resumed.dump.systems.flatMap(\.services).filter { $0.opened != nil }.count == 4)
    }

    @Test func dumpWithAWrongKey() throws {
        let file = Self.file.replacing("25BB0E7AF2C9D04D", with: "0123456789ABCDEF")
        let transit = try #require(try Self.dump(try Self.keyring(file)).dump.system(.transit))
        let service = try #require(transit.service(ServiceCode(rawValue: 0x0048)))
        #expect(service.state == .refused(status: nil))
        #expect(service.keyRefusal == .wrongKey)
        #expect(transit.service(ServiceCode(rawValue: 0x1408))?.opened == .des)
    }

    @Test func liteIsAnotherCard() throws {
        let card = #"{"schema": "kazasu.card/1", "idm": "012E34E829CE1A77", "pmm": "00F1000000014300", "lite": {}}"#
        let run = try Self.run(.lite, card: card)
        let file = Self.file.replacing("0003 ", with: "88B4 ").replacing("1408 A9", with: "0008 A9")
        let result = Self.read(run, [0x0008], try Self.keyring(file))
        if case .otherCard? = result.ends[ServiceCode(rawValue: 0x0008)] {
        } else if Self.failure(result, 0x0008) == nil {
            Issue.record("\(result.ends)")
        }
        #expect(run.reader.count(0x12) == 0)
    }
}
