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
        /// Whether it can switch its field off.
        var cyclesPower = true

        init(_ card: String) throws {
            reader = InProcessReader(try VirtualCardFile.load(Array(card.utf8)))
        }

        var information: ReaderInformation { reader.information }
        func activate(_ request: ActivationRequest) throws(TransportError) -> PICC? { try reader.activate(request) }
        func cyclePower() throws(TransportError) -> Bool { cyclesPower ? try reader.cyclePower() : false }
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
        #expect(Self.cost(run).refused == 1)
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
        for file in [Self.file, Self.file.replacing("0003 ", with: "88B4 ").replacing("1408 A9", with: "0008 A9")] {
            let run = try Self.run(.lite, card: card)
            let result = Self.read(run, [0x0008], try Self.keyring(file))
            guard case .otherCard? = result.ends[ServiceCode(rawValue: 0x0008)] else {
                Issue.record("\(result.ends)")
                return
            }
            #expect(run.reader.sent.isEmpty)
        }
    }

    // MARK: What a wrong key costs

    /// Eight services of area 1000, and one of area 2000.
    private static let manyCard: String = {
        let services = eight.map { String($0, radix: 16) } + ["2008"]
        let keys = zip(services, manyKeys).map { "\"\($0)\": \"\($1)\"" }.joined(separator: ", ")
        let blocks = services.map { "\"\($0)\": 1" }.joined(separator: ", ")
        let nodes = (["1000-1FFE", "2000-2FFE"] + services).map { "\"\($0)\"" }.joined(separator: ", ")
        return """
            {"schema": "kazasu.card/1", "idm": "010A4B0012345678", "pmm": "0120220427674EFF", "systems": [
              {"code": "0003", "nodes": [\(nodes)], "blocks": {\(blocks)},
               "keys": {"FFFF": "64B34B0A2BC199B1", "0000": "6612317B4FD74F39", "1000": "EFAA8C23162FBB60",
                        "2000": "93281FA024436061", \(keys)}}]}
            """
    }()
    private static let eight: [UInt16] = [0x1008, 0x1048, 0x1088, 0x10C8, 0x1108, 0x1148, 0x1188, 0x11C8]
    private static let manyKeys = (1...9).map { "A1B2C3D4E5F6070\($0)" }
    private static let manyFile: String = {
        let services = (eight.map { String($0, radix: 16) } + ["2008"])
        return
            (["FFFF 64B34B0A2BC199B1", "0000 6612317B4FD74F39", "1000 EFAA8C23162FBB60", "2000 93281FA024436061"]
            + zip(services, manyKeys).map { "\($0) \($1)" }).map { "0003 \($0)\n" }.joined()
    }()

    /// The sessions that the card refused to open, and those that it opened.
    private static func cost(_ run: Run) -> (refused: Int, opened: Int) {
        (run.reader.count(0x10) - run.reader.count(0x12), run.reader.count(0x12))
    }

    /// A wrong key above eight services costs the frame of their list and one of its own, and none the second time.
    @Test(arguments: [
        ("64B34B0A2BC199B1", UInt16(0), 0), ("6612317B4FD74F39", 0, 0), ("EFAA8C23162FBB60", 0x1000, 1),
    ])
    func wrongKeyAboveServices(_ key: String, _ area: UInt16, _ others: Int) throws {
        let file = Self.manyFile.replacing(key, with: "0123456789ABCDEF")
        let failures = StandardFailuresOfRun()
        for (refused, reason) in [(2, KeyRefusal.wrongKey), (0, .keyFailedBefore)] {
            let run = try Self.run(card: Self.manyCard)
            let result = Self.read(run, Self.eight + [0x2008], try Self.keyring(file, failures: failures))
            #expect(result.interruption == nil)
            #expect(Self.cost(run).refused == refused)
            for service in Self.eight {
                #expect(Self.failure(result, service) == KeyFailure(reason, NodeCode(rawValue: area)))
            }
            #expect(result.services.filter { $0.opened != nil }.count == others)
        }
    }

    /// One wrong key of eight services costs one frame beside that of their list; the others are read.
    @Test(arguments: 0..<8)
    func oneWrongKeyOfEight(_ place: Int) throws {
        let file = Self.manyFile.replacing(Self.manyKeys[place], with: "0123456789ABCDEF")
        let failures = StandardFailuresOfRun()
        // That of the last one follows from the others.
        for refused in [place == 7 ? 1 : 2, 0] {
            let run = try Self.run(card: Self.manyCard)
            let result = Self.read(run, Self.eight, try Self.keyring(file, failures: failures))
            #expect(Self.cost(run).refused == refused)
            for (index, service) in result.services.enumerated() {
                #expect(service.opened == (index == place ? nil : .des), "\(service.code)")
                #expect(service.blocks.count == (index == place ? 0 : 1))
            }
        }
    }

    /// A card that has a service not is not a card with another key.
    @Test func absentService() throws {
        let run = try Self.run()
        let result = Self.read(run, [0x1088], try Self.keyring("0003 1088 4D0134D6E8B5C6FD"))
        guard case .absent? = result.ends[ServiceCode(rawValue: 0x1088)] else {
            Issue.record("\(result.ends)")
            return
        }
        #expect(run.reader.count(0x10) == 0)
    }

    // MARK: The end of a session

    /// Without Reset Mode and without a switch for the field, another system ends the session; a card with one stays in it,
    /// and that is known.
    @Test(arguments: [false, true])
    func readerKeepsItsField(_ hasSecondSystem: Bool) throws {
        let second = #", {"code": "FE00", "nodes": ["0048"], "blocks": {"0048": 1}}]}"#
        let card = hasSecondSystem ? String(Self.manyCard.dropLast(2)) + second : Self.manyCard
        let run = try Self.run(card: card)
        run.reader.cyclesPower = false
        let result = Self.read(run, [0x1008], try Self.keyring(Self.manyFile))
        #expect(result.interruption == nil)
        #expect(result.services.map(\.opened) == [.des])
        #expect(run.session.staysAuthenticated != hasSecondSystem)
        // Either way a session can be opened again.
        #expect(Self.read(run, [0x1048], try Self.keyring(Self.manyFile)).services.map(\.opened) == [.des])
        #expect((try run.session.poll(.transit) != nil) == hasSecondSystem)
        let whole = try Self.run(card: card)
        whole.reader.cyclesPower = false
        let outcome = CardDumper(session: whole.session, keyring: try Self.keyring(Self.manyFile)).dump()
        #expect(outcome.interruption == nil && outcome.dump.isComplete)
        #expect(outcome.dump.systems[0].services.map(\.opened) == [StandardScheme?](repeating: .des, count: 9))
    }

    /// 300 blocks with keys: one session for a path, with AES for a system, and few frames beside those of the scan.
    @Test(arguments: StandardScheme.allCases)
    func manyBlocks(_ scheme: StandardScheme) throws {
        let pair = Self.manyKeys.prefix(2).joined()
        let aes = """
            {"schema": "kazasu.card/1", "idm": "010A4B0012345678", "pmm": "0144220427674EFF", "systems": [
              {"code": "0003", "nodes": ["1000-1FFE", "1008", "1048"], "blocks": {"1008": 200, "1048": 100},
               "aesKeys": {"1008": "\(pair)", "1048": "\(pair)"}}]}
            """
        let des = """
            {"schema": "kazasu.card/1", "idm": "010A4B0012345678", "pmm": "0144220427674EFF", "systems": [
              {"code": "0003", "nodes": ["1000-1FFE", "1008", "1048"], "blocks": {"1008": 200, "1048": 100},
               "keys": {"FFFF": "64B34B0A2BC199B1", "0000": "6612317B4FD74F39", "1000": "EFAA8C23162FBB60",
                        "1008": "\(Self.manyKeys[0])", "1048": "\(Self.manyKeys[1])"}}]}
            """
        func frames(_ keyring: StandardKeyring?) throws -> (run: Run, blocks: Int) {
            let run = try Self.run(card: scheme == .des ? des : aes)
            let outcome = CardDumper(session: run.session, keyring: keyring).dump()
            #expect(outcome.dump.isComplete)
            return (run, outcome.dump.systems.flatMap(\.services).reduce(0) { $0 + $1.blocks.count })
        }
        let plain = try frames(nil)
        let file = scheme == .des ? Self.manyFile : "0003 1008 \(pair)\n0003 1048 \(pair)\n"
        let keyed = try frames(Self.keyring(file))
        #expect(plain.blocks == 0 && keyed.blocks == 300)
        #expect(keyed.run.reader.count(scheme == .des ? 0x10 : 0x40) == 1)
        let beside = keyed.run.reader.sent.count - plain.run.reader.sent.count
        #expect(beside <= 30, "\(beside)")
    }

    // MARK: Which keys fit

    private static func states(_ run: Run, _ keyring: StandardKeyring?) throws -> [String: StandardNode.KeyState?] {
        var systems: [StandardSystem] = []
        try StandardInspection(session: run.session, keyring: keyring).run(into: &systems)
        return Dictionary(
            systems.flatMap { system in system.nodes.map { ("\(system.system.code) \($0.code)", $0.key) } }
        ) { first, _ in first }
    }

    @Test func inspection() throws {
        let run = try Self.run()
        var systems: [StandardSystem] = []
        try StandardInspection(session: run.session).run(into: &systems)
        #expect(systems.map(\.system.code) == [.transit, .commonArea])
        #expect(systems[0].nodes.map(\.kind).prefix(2) == [.system, .area])
        #expect(systems[0].nodes.allSatisfy { $0.key == nil })
        let common = systems[1].nodes.first { $0.code.rawValue == 0x0048 }
        #expect(systems[1].schemes == [.des, .aes] && common?.aesVersion == KeyVersion(rawValue: 9))
        for code: UInt8 in [0x10, 0x12, 0x40, 0x42] { #expect(run.reader.count(code) == 0) }
    }

    @Test func keysThatFit() throws {
        let states = try Self.states(Self.run(), Self.keyring())
        for node in ["FFFF", "0000", "1000", "1040", "0048", "1008", "1048", "1408"] {
            #expect(states["0003 \(node)"] == .fits, "\(node)")
        }
        #expect(states["0003 100B"] == .some(nil))
        #expect(states["FE00 0048"] == .fits && states["FE00 0088"] == .noKey && states["FE00 FFFF"] == .noKey)
    }

    @Test func keysThatDoNotFit() throws {
        let area = try Self.states(
            Self.run(card: Self.manyCard),
            Self.keyring(Self.manyFile.replacing("EFAA8C23162FBB60", with: "0123456789ABCDEF")))
        #expect(area["0003 FFFF"] == .fits && area["0003 0000"] == .fits && area["0003 1000"] == .wrongKey)
        #expect(area["0003 1008"] == .some(nil) && area["0003 2008"] == .fits && area["0003 2000"] == .fits)
        let system = try Self.states(
            Self.run(card: Self.manyCard),
            Self.keyring(Self.manyFile.replacing("64B34B0A2BC199B1", with: "0123456789ABCDEF")))
        #expect(system["0003 FFFF"] == .wrongKey && system["0003 0000"] == .wrongKey)
        #expect(system["0003 1000"] == .some(nil) && system["0003 1008"] == .some(nil))
        let version = try Self.states(Self.run(), Self.keyring(Self.file.replacing(" 0007", with: " 0008")))
        #expect(version["0003 1408"] == .keyVersion && version["0003 1048"] == .fits)
    }
}
