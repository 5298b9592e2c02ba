// SPDX-License-Identifier: Apache-2.0

import ByteCodec
import CardModel
import ISO7816
import ReaderCore
import TestSupport
import Testing
import VirtualReader

/// The guard on a card that others wrote, with everything of ISO 14443 between them: blocks, repeats and lost power.
@Suite("The PIN guard on virtual cards")
struct VirtualCardGuardTests {
    /// Passes everything on and counts what carries a PIN.
    final class CountingReader: Reader {
        let reader: InProcessReader
        private(set) var sent: [UInt8: Int] = [:]
        var information: ReaderInformation { reader.information }

        init(_ reader: InProcessReader) { self.reader = reader }

        func activate(_ request: ActivationRequest) throws(TransportError) -> PICC? { try reader.activate(request) }

        func transceive(_ frame: [UInt8], timeout: Duration) throws(TransportError) -> [UInt8] {
            if frame.count > 5, frame[1] == 0x20 { sent[frame[3], default: 0] += 1 }
            return try reader.transceive(frame, timeout: timeout)
        }

        func close() { reader.close() }
    }

    /// How many tries are left, and what is odd about the card.
    static let cards: [(left: Int, tries: Int, options: String, odd: String)] =
        [0, 1].flatMap { left in ["6983", "6984", "63C0"].map { (left, 3, #", "lockedStatus": "\#($0)""#, "") } }
        + [(2, 3, "", ""), (3, 3, "", ""), (10, 10, "", ""), (3, 3, #", "tellsTries": false"#, "")]
        + ["6300", "6700", "6A88", "6D00", "9001", "63CF", "9000"].map { (3, 3, "", #""queryStatus": "\#($0)""#) }

    static let faults: [InjectedFault] = [
        .silence, .absent, .damaged(status: 2), .flipped(offset: 0, mask: 0xFF), .flipped(offset: 1, mask: 0x0F),
        .truncated(to: 1), .truncated(to: 0), .lengthened(by: [0x90, 0x00]), .late(.seconds(60)),
    ]

    private static func field(_ card: (left: Int, tries: Int, options: String, odd: String)) throws -> VirtualField {
        let text = """
            {"schema": "kazasu.card/1", "typeB": {}, "masterFile": {"pins": {
              "one": {"id": "0001", "reference": "81", "text": "2525", "tries": \(card.tries), "left": \(card.left)\(card.options)},
              "two": {"id": "0002", "reference": "82", "text": "1234", "tries": \(card.tries), "left": \(card.left)\(card.options)}}},
             "virtual": {\(card.odd)}}
            """
        return try VirtualField(cardFile: Array(text.utf8))
    }

    @Test(arguments: cards)
    func everyFaultAtEveryExchange(_ card: (left: Int, tries: Int, options: String, odd: String)) throws {
        for fault in VirtualCardGuardTests.faults {
            for exchange in 1...9 {
                for isAPDU in [true, false] {
                    let rule = InjectedFaultRule(fault, .during(exchange...exchange), countsAPDUs: isAPDU)
                    // Right PINs with every other exchange, wrong ones with the others; both in a long run.
                    for (way, pins) in [("2525", "1234"), ("9999", "1234")].enumerated()
                    where TestEffort.factor > 1 || way == (exchange + (isAPDU ? 1 : 0)) % 2 {
                        // Nobody is asked when there are tries enough.
                        let answers = card.left < 2 || !card.odd.isEmpty ? [false, true] : [false]
                        for agrees in answers { try walk(card, rule, pins, agrees) }
                    }
                }
            }
        }
    }

    private func walk(
        _ card: (left: Int, tries: Int, options: String, odd: String), _ rule: InjectedFaultRule,
        _ pins: (String, String),
        _ agrees: Bool
    ) throws {
        let field = try VirtualCardGuardTests.field(card)
        field.plan([rule])
        let reader = CountingReader(InProcessReader(field))
        let request = ActivationRequest.typeB()
        // The card may be away, or misheard, when it is looked for.
        guard let picc = try? reader.activate(request) else { return }
        let session = ISO7816Session(reader: reader, picc: picc, request: request)
        var agreed = 0
        let consent = PINConsent(allowsLastTry: true) { _, _ in
            if agrees { agreed += 1 }
            return agrees
        }
        for _ in 0..<2 {
            _ = try? session.pinGuard.verify(PINGuardTests.requests(pins.0, pins.1), in: session, consent: consent)
        }
        let place = "\(card), \(rule), \(pins), \(agrees)"
        #expect(reader.sent.values.allSatisfy { $0 == 1 }, "\(place)")
        let sent = reader.sent.values.reduce(0, +)
        // A fault can turn what the card says of its tries into another word, but never below what it can bear.
        let mayLie = if case .flipped = rule.fault { true } else { false }
        if card.left < 2 || !card.odd.isEmpty && !card.odd.contains("63CF"), !mayLie {
            #expect(sent <= agreed, "\(place)")
        }
        if pins.0 != "2525" { #expect(reader.sent[0x82] == nil, "\(place)") }
        guard card.odd.isEmpty, !card.options.contains("tellsTries") else { return }
        // What the card itself counts: at most one try of each.
        field.plan([])
        field.switchOff()
        _ = try reader.activate(request)
        for p2 in [0x81, 0x82] as [UInt8] {
            let answer = try reader.transceive([0x00, 0x20, 0x00, p2], timeout: .seconds(5))
            let left = StatusWord(answer.first ?? 0, answer.last ?? 0).counter ?? 0
            #expect(left >= min(card.left, 15) - 1, "\(place)")
        }
    }

    @Test func verifiesBothWithoutFaults() throws {
        let reader = CountingReader(InProcessReader(try VirtualCardGuardTests.field((3, 3, "", ""))))
        let picc = try #require(try reader.activate(.typeB()))
        let session = ISO7816Session(reader: reader, picc: picc, request: .typeB())
        let outcomes = try session.pinGuard.verify(PINGuardTests.requests(), in: session, consent: .never)
        #expect(outcomes == [.verified, .verified])
    }
}
