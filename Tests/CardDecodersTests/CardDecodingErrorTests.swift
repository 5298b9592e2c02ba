// SPDX-License-Identifier: Apache-2.0

import CardDecoders
import CardModel
import Testing

@Suite("What could not be decoded")
struct CardDecodingErrorTests {
    struct Case: Sendable {
        let state: ReadState?
        let reason: CardDecodingError.Reason
    }

    static let cases: [Case] = [
        Case(state: nil, reason: .noSuchService),
        Case(state: .read, reason: .notRead),
        Case(state: .skipped, reason: .notRead),
        Case(state: .lost, reason: .lost),
        Case(state: .keyRequired, reason: .keyRequired),
        Case(state: .refused(status: 0x01A6), reason: .refused),
        Case(state: .refused(status: nil), reason: .refused),
    ]

    /// Where each kind of card keeps its money, as its decoder's file says: service, block, offset in the block.
    @Test("The failure of every kind names the place of its balance")
    func places() {
        let places = DecoderRegistry.standard.purses.map { decoder in
            let dump = Dumps.card(decoder.system, [])
            let place: String
            do throws(CardDecodingError) {
                _ = try decoder.balance(dump)
                place = "none"
            } catch {
                place = "\(error.service) \(error.block) \(error.offset)"
            }
            return "\(decoder.kind) \(place)"
        }
        #expect(places.joined(separator: "\n") == Self.places)
    }

    private static let places = """
        transit 008B 0 11
        edy 1317 0 0
        nanaco 5597 0 0
        waon 6817 0 0
        coop 50D7 0 0
        icu 120F 0 11
        iruca 008B 0 11
        paspy 008B 0 11
        sapica 008B 0 11
        setamaru 008B 0 11
        saitama 008B 0 11
        okica 028F 0 10
        ryuto 898F 0 10
        toyama 884B 0 0
        ayuca 884B 0 0
        ica 898F 0 13
        rapica 004B 1 3
        nicepass 030F 0 13
        kururu 000F 0 12
        octopus 0117 0 0
        shenzhen-tong 0118 0 0
        kmt 1017 0 0
        mrtj 10D7 0 0
        hcmc 10D7 0 0
        dhaka 220F 0 11
        """

    @Test("A decoder cannot do without what it reads, unless it says so")
    func required() {
        let request = ReadRequest(system: .transit, service: Dumps.history, blocks: 0..<20)
        #expect(request.isRequired)
        #expect(!ReadRequest(system: .transit, service: Dumps.history, blocks: 0..<20, isRequired: false).isRequired)
    }

    @Test("The failure names the block and why it is not there", arguments: cases)
    func balance(_ example: Case) throws {
        let transit = Dumps.card(.transit, example.state.map { [ServiceDump(code: Dumps.attribute, state: $0)] } ?? [])
        let edy = Dumps.card(.commonArea, example.state.map { [ServiceDump(code: Dumps.edyPurse, state: $0)] } ?? [])
        let failures = [
            (transit, CyberneticsDecoder.transit as any CardDecoder, SystemCode.transit, Dumps.attribute, 11),
            (edy, EdyDecoder(), SystemCode.commonArea, Dumps.edyPurse, 0),
        ]
        for (dump, decoder, system, service, offset) in failures {
            let expected = CardDecodingError(
                kind: decoder.kind, field: "balance", system: system, service: service, block: 0, offset: offset,
                reason: example.reason)
            #expect(throws: expected) { try decoder.balance(dump) }
            #expect(throws: expected) { try decoder.decode(dump) }
        }
    }

    @Test("A dump of nothing is recognized by no decoder and fails in all")
    func nothing() {
        let dump = CardDump(card: CardIdentity(technology: .typeA))
        #expect(DecoderRegistry.standard.recognizing(dump).isEmpty)
        for decoder in DecoderRegistry.standard.decoders {
            #expect(throws: CardDecodingError.self) { try decoder.decode(dump) }
        }
    }

    @Test("A balance alone is a report without a history, not with an empty one")
    func historyNotRead() throws {
        let attribute = try Dumps.block("000000000000000020000002000000 16")
        let report = try CyberneticsDecoder.transit.decode(
            Dumps.card(.transit, [Dumps.service(Dumps.attribute, [attribute])]))
        #expect(report.balances.map(\.amount) == [2])
        #expect(report.history == nil)
        #expect(report.historyReport == nil)
        let used = try CyberneticsDecoder.transit.decode(Dumps.transit([.zero], attribute: attribute))
        #expect(used.history == [])
    }

    @Test("Blocks that were read through an overlapped service are found")
    func overlapped() throws {
        let history = ServiceDump(code: Dumps.history, state: .skipped)
        let same = ServiceDump(
            code: ServiceCode(rawValue: 0x090D), state: .read,
            blocks: [0: try Dumps.block("16010002166CE33BE6210A000001E300")])
        #expect(try CyberneticsDecoder.transit.decode(Dumps.card(.transit, [same, history])).history?.count == 1)
    }
}
