// SPDX-License-Identifier: Apache-2.0

import CardModel
import CardReading
import FeliCa
import ReaderCore
import TestSupport
import Testing
import VirtualReader

/// Asks phones for their model, and nothing else.
struct PhoneModelReadingTests {
    /// A session with a phone, or another card, of one system.
    private static func session(
        ic: String = "18", issue: String? = #""containerIssue": "00010000683030373031370000000000""#,
        faults: InjectedFaults = InjectedFaults()
    ) throws -> (session: CardSession, field: VirtualField) {
        let text = """
            {"schema": "kazasu.card/1", "idm": "0130010203040506", "pmm": "01\(ic)8b868fbecbff",
             "systems": [{"code": "0003", "blocks": {"008B": ["00000000000000002000000a000001e3"]}}],
             "virtual": {\(issue ?? "")}}
            """
        let field = VirtualField(cards: [try VirtualCardFile.load(Array(text.utf8))], faults: faults)
        let reader = InProcessReader(field)
        guard
            case .found(let found) = try CardFinder(reader: reader).find([.transit], requestCode: 1, for: .once),
            let target = found.feliCa
        else { throw Fixture.NoCard() }
        return (CardSession(reader: reader, target: target), field)
    }

    /// How many exchanges asking for the model took, and how many of them were Pollings.
    private static func cost(_ field: VirtualField, _ work: () -> PhoneModel?) -> (PhoneModel?, all: Int, pollings: Int)
    {
        let (all, pollings) = (field.statistics.exchanges, field.statistics.count(of: 0x00))
        let model = work()
        return (model, field.statistics.exchanges - all, field.statistics.count(of: 0x00) - pollings)
    }

    @Test(arguments: ["16", "18"]) func oneExchange(_ ic: String) throws {
        let (session, field) = try Self.session(ic: ic)
        let (model, all, pollings) = Self.cost(field) { session.phoneModel() }
        #expect(model?.name == "Google Pixel 7a" && model?.code == "007017")
        #expect(all == 1 && pollings == 0)
    }

    /// Cards, and phones whose chip is not known to answer, are not asked.
    @Test(arguments: ["01", "20", "24", "32", "44", "F1", "14", "17", "1F"]) func othersAreNotAsked(_ ic: String) throws
    {
        let (session, field) = try Self.session(ic: ic)
        let (model, all, _) = Self.cost(field) { session.phoneModel() }
        #expect(model == nil && all == 0)
    }

    @Test func silentPhone() throws {
        let (session, field) = try Self.session(issue: nil)
        let (model, all, pollings) = Self.cost(field) { session.phoneModel() }
        #expect(model == nil && all == 2 && pollings == 0)
        #expect(CardScanner(session: session).scan().interruption == nil)
    }

    /// One answer is lost or damaged: it is asked once more.
    @Test(arguments: [InjectedFault.silence, .damaged(status: 2), .truncated(to: 20), .otherIDm, .wrongResponseCode])
    func retries(_ fault: InjectedFault) throws {
        let (session, field) = try Self.session(faults: .once(fault, at: 2))
        let (model, all, pollings) = Self.cost(field) { session.phoneModel() }
        #expect(model?.code == "007017")
        #expect(all == 2 && pollings == 0)
    }

    /// Wherever the phone is taken away, what was read is true, and a scan that did not end says so.
    @Test func phoneLeaves() throws {
        let (whole, field) = try Self.session()
        #expect(whole.phoneModel() != nil)
        let all = CardScanner(session: whole).scan()
        #expect(all.interruption == nil)
        for moment in 2...field.statistics.exchanges {
            let (session, _) = try Self.session(faults: .cardAway(from: moment))
            let model = session.phoneModel()
            #expect(model?.code == (moment == 2 ? nil : "007017"))
            let scan = CardScanner(session: session).scan()
            #expect(scan.interruption == .cardLost, "\(moment)")
            for (part, whole) in zip(scan.systems, all.systems) {
                #expect(Set(part.nodes.map(\.kind)).isSubset(of: whole.nodes.map(\.kind)), "\(moment)")
            }
        }
    }

    /// A recording of an earlier version does not have the question.
    @Test func replayWithoutTheQuestion() throws {
        let (live, _) = try Self.session()
        var lines: [String] = []
        let recording = RecordingReader(live.reader) { lines.append($0) }
        let scan = CardScanner(session: CardSession(reader: recording, target: live.target)).scan()
        let transcript = try Transcript(parsing: Array(lines.joined(separator: "\n").utf8))
        let session = CardSession(reader: ReplayReader(transcript), target: live.target)
        #expect(session.phoneModel() == nil)
        #expect(CardScanner(session: session).scan() == scan)
    }
}
