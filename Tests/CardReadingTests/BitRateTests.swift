// SPDX-License-Identifier: Apache-2.0

import CardModel
import CardReading
import ReaderCore
import TestSupport
import Testing
import VirtualReader

/// Systems after the first are read at 424 kbit/s where card and reader can do it.
struct BitRateTests {
    private static let listed = "ft-02"

    /// A reader that notes the bit rate of each Polling, and can damage answers.
    private final class RateReader: Reader {
        private let reader: InProcessReader
        /// The bit rate of each Polling, and whether it was answered.
        private(set) var pollings: [(rate: FeliCaBitRate, isAnswered: Bool)] = []
        /// The number of commands at each bit rate.
        private(set) var commands: [FeliCaBitRate: Int] = [:]
        private var rate = FeliCaBitRate.kbps212
        /// The commands at 424 kbit/s, from 1, whose answers are damaged.
        var damaged: Set<Int> = []
        var fault = TransportError.corrupted(status: 2)

        init(_ card: some VirtualCard, rates: [FeliCaBitRate] = [.kbps212, .kbps424]) {
            reader = InProcessReader(
                VirtualField(cards: [card]),
                information: ReaderInformation(id: "test", name: "test", feliCaBitRates: rates))
        }

        var information: ReaderInformation { reader.information }

        func activate(_ request: ActivationRequest) throws(TransportError) -> PICC? {
            let picc = try reader.activate(request)
            if case .felica(_, _, _, let rate) = request {
                pollings.append((rate, picc != nil))
                self.rate = rate
            }
            return picc
        }

        func transceive(_ frame: [UInt8], timeout: Duration) throws(TransportError) -> [UInt8] {
            commands[rate, default: 0] += 1
            let answer = try reader.transceive(frame, timeout: timeout)
            if rate == .kbps424, damaged.contains(commands[.kbps424] ?? 0) { throw fault }
            return answer
        }

        func close() { reader.close() }

        func session() throws -> CardSession {
            guard case .found(let found) = try CardFinder(reader: self).find([.any], requestCode: 1, for: .once),
                let target = found.feliCa
            else { throw Fixture.NoCard() }
            return CardSession(reader: self, target: target)
        }
    }

    private static func card() throws -> VirtualFeliCaCard {
        try #require(ListedCard.all.first { $0.name == listed }).virtual()
    }

    /// A fixture of three systems that hears these bit rates.
    private static func fixture(_ rates: String) throws -> VirtualFeliCaCard {
        var text = String(decoding: try TestFiles.read("Fixtures/cards/suica-p1/card.json"), as: UTF8.self)
        let end = try #require(text.lastIndex(of: "}"))
        text.replaceSubrange(end..., with: #", "virtual": {"bitRates": [\#(rates)]} }"#)
        return try VirtualCardFile.load(Array(text.utf8))
    }

    private static func dump(_ reader: RateReader) throws -> CardDump {
        let outcome = CardDumper(session: try reader.session()).dump()
        #expect(outcome.interruption == nil)
        return outcome.dump
    }

    /// One Polling more: all systems of a card with several are read at 424 kbit/s, from the first command after its list.
    @Test func readsAllSystemsFaster() throws {
        let (slow, fast) = (RateReader(try Self.card(), rates: [.kbps212]), RateReader(try Self.card()))
        #expect(try Self.dump(slow) == Self.dump(fast))
        #expect(slow.commands.keys.sorted { $0.rawValue < $1.rawValue } == [.kbps212])
        #expect(fast.pollings.count == slow.pollings.count + 1)
        #expect(slow.commands.values.reduce(0, +) == fast.commands.values.reduce(0, +))
        let first = try #require(fast.pollings.firstIndex { $0.rate == .kbps424 })
        #expect(fast.pollings[first...].allSatisfy { $0.rate == .kbps424 })
        #expect(fast.commands[.kbps212] == 1, "Request System Code")
    }

    /// A card that hears 212 kbit/s only costs two Pollings more: one without an answer, and one that selects it again.
    @Test func slowCard() throws {
        let (slow, both) = (RateReader(try Self.fixture("212"), rates: [.kbps212]), RateReader(try Self.fixture("212")))
        #expect(try Self.dump(slow) == Self.dump(both))
        #expect(both.pollings.count(where: { $0.rate == .kbps424 }) == 1)
        #expect(both.pollings.count == slow.pollings.count + 2)
        #expect(both.commands == slow.commands)
    }

    /// A reader at 424 kbit/s from the beginning stays there.
    @Test func fastReader() throws {
        let reader = RateReader(try Self.card(), rates: [.kbps424, .kbps212])
        _ = try Self.dump(reader)
        #expect(reader.pollings.allSatisfy { $0.rate == .kbps424 })
    }

    /// A card with one system is polled for again after the systems that cards do not list: at 424 kbit/s, at which it is
    /// read.
    @Test func oneSystem() throws {
        let reader = RateReader(try #require(ListedCard.singleSystems.first).virtual())
        _ = try Self.dump(reader)
        #expect(reader.pollings.map(\.rate) == [.kbps212, .kbps212, .kbps212, .kbps212, .kbps424])
    }

    /// One damaged or missing answer at any place: the rest is read at 212 kbit/s, and the dump is the same.
    @Test(arguments: [TransportError.corrupted(status: 2), .noAnswer, .cardReleased])
    func givesUpAtTheFirstDamage(_ fault: TransportError) throws {
        let reference = RateReader(try Self.card())
        let whole = try Self.dump(reference)
        let count = try #require(reference.commands[.kbps424])
        for moment in 1...count {
            let reader = RateReader(try Self.card())
            (reader.damaged, reader.fault) = ([moment], fault)
            #expect(try Self.dump(reader) == whole, "\(moment)")
            #expect(reader.commands[.kbps424] == moment, "nothing at 424 kbit/s after it")
            #expect(reader.pollings.last?.rate == .kbps212)
        }
    }

    /// Another card answers the Polling at 424 kbit/s: it is not taken for this one.
    @Test func otherCard() throws {
        let systems = try #require(ListedCard.all.first { $0.name == Self.listed }).systems
        let other = try ListedCard(name: "", systems: [systems[1]]).virtual(idm: IDm(rawValue: 0x0111_9999_9999_9999))
        let slow = try Self.fixture("212")
        let reader = InProcessReader(VirtualField(cards: [slow, other]))
        guard case .found(let found) = try CardFinder(reader: reader).find([.transit], requestCode: 1, for: .once),
            let target = found.feliCa
        else { throw Fixture.NoCard() }
        let outcome = CardDumper(session: CardSession(reader: reader, target: target)).dump()
        #expect(outcome.dump.systems.allSatisfy { $0.idm.isSameCard(as: target.idm) })
    }

    /// Wherever the card leaves, the dump says so.
    @Test func cardLeaves() throws {
        let whole = CardDumper(session: try Fixture("suica-p1").session())
        let all = whole.dump().dump
        for moment in 2...60 {
            let fixture = try Fixture("suica-p1", faults: .cardAway(from: moment))
            let outcome = CardDumper(session: try fixture.session()).dump()
            guard fixture.field.statistics.exchanges >= moment else { continue }
            #expect(outcome.interruption == .cardLost, "\(moment)")
            #expect(!outcome.dump.isComplete)
            for system in outcome.dump.systems {
                let services = all.system(system.systemCode)?.services.map(\.code) ?? []
                #expect(Set(system.services.map(\.code)).isSubset(of: services), "\(moment)")
            }
        }
    }

    /// A phone is polled for as it was found.
    @Test func phone() throws {
        let text = """
            {"schema": "kazasu.card/1", "idm": "0130010203040506", "pmm": "01188b868fbecbff",
             "systems": [{"code": "0003", "blocks": {"008B": ["00000000000000002000000a000001e3"]}},
                         {"code": "FE00", "blocks": {"1317": ["00000000000000000000000000000000"]}}]}
            """
        let card = try VirtualCardFile.load(Array(text.utf8))
        let reader = RateReader(card)
        _ = try Self.dump(reader)
        #expect(reader.pollings.allSatisfy { $0.rate == .kbps212 })
    }

    /// A recording at 212 kbit/s only is replayed, and one of today is replayed without 424 kbit/s, too.
    @Test(arguments: [[FeliCaBitRate.kbps212], [.kbps212, .kbps424]]) func replays(_ rates: [FeliCaBitRate]) throws {
        var lines: [String] = []
        let live = RateReader(try Self.card(), rates: rates)
        let target = try live.session().target
        let recording = RecordingReader(live) { lines.append($0) }
        let dump = CardDumper(session: CardSession(reader: recording, target: target)).dump()
        #expect(dump.interruption == nil)
        let transcript = try Transcript(parsing: Array(lines.joined(separator: "\n").utf8))
        let again = CardDumper(session: CardSession(reader: ReplayReader(transcript), target: target)).dump()
        #expect(again == dump)
    }
}
