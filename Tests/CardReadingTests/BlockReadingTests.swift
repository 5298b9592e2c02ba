// SPDX-License-Identifier: Apache-2.0

import CardModel
import CardReading
import ReaderCore
import Testing
import VirtualReader

struct BlockReadingTests {
    static let styles = ["ordinal", "bitmap", "always255"]
    static let limits = [15, 12, 8, 4, 3, 1]

    /// Every block of every service is read, whatever the card's limit and its way of naming the place of an error.
    @Test(arguments: styles, limits)
    func everyBlockIsReadFromAnyCard(_ style: String, _ limit: Int) throws {
        for seed in 0..<12 {
            let random = try RandomCard(
                seed: UInt64(seed), style: style, limit: limit, overLimit: seed % 2 == 0 ? "A1" : "A2")
            let outcome = try dump(random.card)
            #expect(outcome.interruption == nil)
            let system = try #require(outcome.dump.systems.first)
            for (code, blocks) in random.blocks {
                #expect(system.service(code)?.state == .read, "\(code) \(random.description)")
                #expect(system.service(code)?.blocks == blocks, "\(code) \(random.description)")
            }
        }
    }

    /// With places in the flags, a service costs one command more than its data; without, a search by halves.
    @Test(arguments: [("ordinal", 12, 30), ("bitmap", 12, 44), ("always255", 12, 60)])
    func fewCommandsAreNeeded(_ style: String, _ limit: Int, _ most: Int) throws {
        var total = 0
        for seed in 0..<10 {
            let random = try RandomCard(seed: UInt64(100 + seed), style: style, limit: limit)
            let field = VirtualField(cards: [random.card])
            _ = try dump(field)
            total += field.statistics.count(of: 0x06)
        }
        #expect(total <= most * 10, "\(total)")
    }

    /// What a card takes, and how many blocks are asked for until that is found out; each step is tried once.
    static let steps: [(limit: Int, asked: [Int])] = [
        (15, [15, 5]), (14, [15, 12, 8]), (12, [15, 12, 8]), (11, [15, 12, 8, 8, 4]), (8, [15, 12, 8, 8, 4]),
        (7, [15, 12, 8, 4, 4, 4, 4, 4]), (4, [15, 12, 8, 4, 4, 4, 4, 4]),
        (3, [15, 12, 8, 4] + Array(repeating: 1, count: 20)),
    ]

    /// The card refuses more blocks than it takes: the next step down is tried.
    @Test(arguments: steps) func halvesTheNumberOfBlocks(_ limit: Int, _ asked: [Int]) throws {
        let file = """
            {"schema": "kazasu.card/1", "idm": "0102030405060708", "pmm": "01998b868fbecbff",
             "systems": [{"code": "0003", "blocks": {"090F": 20}}], "virtual": {"blocksPerRead": \(limit)}}
            """
        let card = try VirtualCardFile.load(Array(file.utf8))
        var lines: [String] = []
        let reader = RecordingReader(InProcessReader(card)) { lines.append($0) }
        guard case .found(let found) = try CardFinder(reader: reader).find([.transit], for: .once),
            let target = found.feliCa
        else {
            throw Fixture.NoCard()
        }
        let session = CardSession(reader: reader, target: target)
        let system = SystemHandle(code: .transit, idm: target.idm, pmm: target.pmm)
        let outcome = session.read([ServiceBlocks(ServiceCode(rawValue: 0x090F), .first(20))], of: system)
        #expect(outcome.services.first?.blocks.count == 20)
        // LEN, 06, IDm, one service: the number of blocks is byte 13.
        let counts = lines.compactMap { line in
            line.firstRange(of: "\"tx\":\"").map { line[$0.upperBound...].dropFirst(26).prefix(2) }
        }
        #expect(counts.compactMap { Int($0, radix: 16) } == asked)
    }

    /// A bitmap has eight bits: among more elements it would name two. With fewer, commands would be wasted.
    @Test func readsEightBlocksAtOnceFromACardWithBitmaps() throws {
        let file = """
            {"schema": "kazasu.card/1", "idm": "0102030405060708", "pmm": "01368b868fbecbff",
             "systems": [{"code": "8ABC", "blocks": {"1009": 5, "1049": 41}}],
             "virtual": {"statusStyle": "bitmap", "blocksPerRead": 12}}
            """
        let reader = ReadSpy(InProcessReader(try VirtualCardFile.load(Array(file.utf8))))
        guard case .found(let found) = try CardFinder(reader: reader).find([.any], requestCode: 1, for: .once),
            let target = found.feliCa
        else { throw Fixture.NoCard() }
        let outcome = CardDumper(session: CardSession(reader: reader, target: target)).dump()
        #expect(outcome.dump.systems.first?.services.map(\.blocks.count) == [5, 41])
        #expect(reader.counts(of: 0x1049) == [8, 8, 8, 8, 8, 8])
    }

    /// Notes how many blocks of a service each Read Without Encryption asks for.
    private final class ReadSpy: Reader {
        private let reader: any Reader
        private var reads: [(service: UInt16, count: Int)] = []
        var information: ReaderInformation { reader.information }

        init(_ reader: any Reader) { self.reader = reader }

        func counts(of service: UInt16) -> [Int] { reads.filter { $0.service == service }.map(\.count) }

        func activate(_ request: ActivationRequest) throws(TransportError) -> PICC? { try reader.activate(request) }

        func transceive(_ frame: [UInt8], timeout: Duration) throws(TransportError) -> [UInt8] {
            if frame.count > 13, frame[1] == 0x06, frame[10] == 1 {
                reads.append((UInt16(frame[12]) << 8 | UInt16(frame[11]), Int(frame[13])))
            }
            return try reader.transceive(frame, timeout: timeout)
        }

        func close() { reader.close() }
    }

    @Test func blocksAbove255AreRead() throws {
        let file = """
            {"schema": "kazasu.card/1", "idm": "0102030405060708", "pmm": "01368b868fbecbff",
             "systems": [{"code": "8ABC", "blocks": {"1009": {"count": 300, "data": {"0000":
             "00112233445566778899aabbccddeeff", "00FF": "0102030405060708090a0b0c0d0e0f10", "0100":
             "1102030405060708090a0b0c0d0e0f10", "012B": "ff02030405060708090a0b0c0d0e0f10"}}}}]}
            """
        let outcome = try dump(try VirtualCardFile.load(Array(file.utf8)))
        let service = try #require(outcome.dump.systems.first?.service(ServiceCode(rawValue: 0x1009)))
        #expect(service.blocks.count == 300)
        #expect(service.blocks[0x100]?.bytes.first == 0x11)
        #expect(service.blocks[0x12B]?.bytes.first == 0xFF)
    }

    @Test func recordsARefusedServiceAndContinues() throws {
        let fixture = try Fixture("five-systems")
        let outcome = CardDumper(session: try fixture.session()).dump()
        let services = outcome.dump.systems.flatMap(\.services)
        #expect(services.contains { if case .refused = $0.state { true } else { false } })
        #expect(services.contains { $0.state == .read })
        #expect(outcome.dump.isComplete)
    }

    @Test func reportsMissingBlocksOfASelection() throws {
        let fixture = try Fixture("suica-p1")
        let session = try fixture.session()
        let code = ServiceCode(rawValue: 0x090F)
        let system = SystemHandle(code: .transit, idm: session.target.idm, pmm: session.target.pmm)
        let outcome = session.read([ServiceBlocks(code, .these([0, 19, 20, 3, 700]))], of: system)
        #expect(outcome.interruption == nil)
        #expect(Set(outcome.services.first?.blocks.numbers ?? []) == [0, 3, 19])
        #expect(Set(outcome.absent[code]?.keys.map { $0 } ?? []) == [20, 700])
        #expect(outcome.absent[code]?[20]?.status.map { $0 & 0xFF } == 0xA8)
    }

    @Test(arguments: styles)
    func readsTheFirstBlocksThatExist(_ style: String) throws {
        for count in [0, 1, 7, 20, 40] {
            let file = """
                {"schema": "kazasu.card/1", "idm": "0102030405060708", "pmm": "01998b868fbecbff",
                 "systems": [{"code": "0003", "blocks": {"008B": 1, "090F": \(count), "108F": 3}}],
                 "virtual": {"statusStyle": "\(style)"}}
                """
            let reader = InProcessReader(try VirtualCardFile.load(Array(file.utf8)))
            guard case .found(let found) = try CardFinder(reader: reader).find([.transit], for: .once),
                let target = found.feliCa
            else {
                Issue.record("no card")
                continue
            }
            let session = CardSession(reader: reader, target: target)
            let outcome = session.read(
                [
                    ServiceBlocks(ServiceCode(rawValue: 0x090F), .first(20)),
                    ServiceBlocks(ServiceCode(rawValue: 0x108F), .first(3)),
                ], of: SystemHandle(code: .transit, idm: target.idm, pmm: target.pmm))
            #expect(outcome.interruption == nil)
            #expect((outcome.services.first?.blocks.count ?? 0) >= min(count, 20))
            #expect((outcome.services.first?.blocks.count ?? 0) <= count)
            #expect(outcome.services.last?.blocks.count == 3)
        }
    }

    private func dump(_ card: VirtualFeliCaCard) throws -> DumpOutcome {
        try dump(VirtualField(cards: [card]))
    }

    private func dump(_ field: VirtualField) throws -> DumpOutcome {
        let reader = InProcessReader(field)
        guard case .found(let found) = try CardFinder(reader: reader).find([.any], requestCode: 1, for: .once),
            let target = found.feliCa
        else { throw Fixture.NoCard() }
        return CardDumper(session: CardSession(reader: reader, target: target)).dump()
    }
}
