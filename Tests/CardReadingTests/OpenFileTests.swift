// SPDX-License-Identifier: Apache-2.0

import CardModel
import CardReading
import ISO7816
import ReaderCore
import TestSupport
import Testing
import VirtualReader

@Suite("Open files of ISO 7816 cards")
struct OpenFileTests {
    private static let request = ActivationRequest.typeA()

    /// A dump of a virtual card, and what the card was sent.
    private static func dump(
        _ card: String, resuming earlier: CardDump? = nil, plan: [OpenFile] = OpenFile.all
    ) throws -> (outcome: DumpOutcome, frames: Int) {
        let field = try VirtualField(cardFile: Array(card.utf8))
        var information = ReaderInformation(id: "in-process", name: "Virtual reader")
        information.technologies = [.felica, .typeA, .typeB]
        let reader = InProcessReader(field, information: information)
        let picc = try #require(try reader.activate(request))
        let session = ISO7816Session(reader: reader, picc: picc, request: request)
        let dumper = OpenFileDumper(session: session, identity: CardIdentity(picc), resuming: earlier, plan: plan)
        return (dumper.dump(), reader.transceives)
    }

    private static func card(_ applications: String, virtual: String = "") -> String {
        """
        { "schema": "kazasu.card/1", "typeA": { "uid": "04112233445566" }, "applications": [ \(applications) ],
          "virtual": { \(virtual) } }
        """
    }

    private static let type4 = """
        { "aid": "d2760000850101", "files": { "E103": "000f20003b00340406e10400400000",
          "E104": { "data": "000ed1010a55036e666370792e6f7267", "size": 64 } } }
        """

    @Test("The table is valid, and lists nothing that needs a PIN")
    func table() {
        #expect(OpenFile.faults == [])
        #expect(OpenFile.all.count == 12)
        #expect(
            !OpenFile.all.contains { $0.file == FileIdentifier(rawValue: 0x0001) }, "the license's PIN-protected file")
    }

    @Test func type4Tag() throws {
        let outcome = try Self.dump(Self.card(Self.type4)).outcome
        #expect(outcome.interruption == nil && outcome.dump.isComplete)
        let files = try #require(outcome.dump.applications.first?.files)
        #expect(files.map(\.id.description) == ["E103", "E104"])
        #expect(files.map(\.data.count) == [15, 64])
        #expect(files.allSatisfy { $0.state == .read })
    }

    @Test("Unreadable files, and an application without files")
    func refusals() throws {
        let card = Self.card(
            """
            { "aid": "d392f000260100000001", "files": { "0006": "4a504b49", "000A": { "data": "3003020101", "read": "never" },
              "000B": { "data": "30", "read": "6f00" } } }, { "aid": "d3921000310001010408", "files": {} }
            """)
        let outcome = try Self.dump(card).outcome
        #expect(outcome.interruption == nil)
        let files = try #require(outcome.dump.applications.first?.files)
        #expect(outcome.dump.applications.count == 1)
        #expect(files.map(\.state) == [.read, .keyRequired, .refused(status: 0x6F00)])
    }

    @Test("A card that leaves is recorded, and the dump continues")
    func resume() throws {
        let whole = try Self.dump(Self.card(Self.type4)).outcome.dump
        var seen: Set<Int> = []
        for exchange in 1...40 {
            let leaving = Self.card(
                Self.type4, virtual: #""faults": [ { "fault": "absent", "from": \#(exchange + 6) } ]"#)
            guard let part = try? Self.dump(leaving).outcome else { continue }
            guard part.interruption != nil else { continue }
            #expect(!part.dump.isComplete && !part.dump.missing.isEmpty)
            seen.insert(part.dump.applications.first?.files.count ?? 0)
            let again = try Self.dump(Self.card(Self.type4), resuming: part.dump).outcome
            #expect(again.dump.isComplete && again.dump.applications == whole.applications, "\(exchange)")
        }
        #expect(seen.count > 1)
    }

    /// Whether the dumper of a card takes a dump for one of that card.
    private func isSame(_ dumped: CardIdentity, _ card: CardIdentity) throws -> Bool {
        let field = try VirtualField(cardFile: Array(Self.card("").utf8))
        let reader = InProcessReader(field)
        let picc = try #require(try reader.activate(Self.request))
        let session = ISO7816Session(reader: reader, picc: picc, request: Self.request)
        return OpenFileDumper(session: session, identity: card).isSameCard(CardDump(card: dumped))
    }

    @Test("Dumps are matched to their card")
    func sameCard() throws {
        let a = CardIdentity.typeA(uid: [4, 1, 2, 3, 4, 5, 6], ats: [1])
        let b = CardIdentity.typeA(uid: [4, 1, 2, 3, 4, 5, 7], ats: [1])
        #expect(try isSame(a, a) && !isSame(a, b))
        let random = CardIdentity.typeA(uid: [8, 1, 2, 3], ats: [1])
        let other = CardIdentity.typeA(uid: [8, 3, 2, 1], ats: [1])
        #expect(try isSame(random, other))
        let type = CardIdentity.typeB(pupi: [1, 2, 3, 4], applicationData: [0, 0, 0, 0], protocolInfo: [1])
        let later = CardIdentity.typeB(pupi: [9, 2, 3, 4], applicationData: [0, 0, 0, 0], protocolInfo: [1])
        #expect(try isSame(type, later) && !isSame(type, a))
    }
}
