// SPDX-License-Identifier: Apache-2.0

import CardModel
import ReaderCore
import VirtualReader

/// The suite for what a reader hears of cards that it cannot select.
struct HeardConformance: CardSuite {
    static let subject = "what is heard"
    var report = ConformanceReport()
    let reader: any Reader
    let stage: ConformanceStage

    /// How many Pollings with time slots two cards get to be heard: they share a slot in one of 16.
    private static let slottedLooks = 30

    mutating func runCases() throws {
        nothing()
        try twoFeliCaCards()
        try cardOfGeneration0()
        if has(.typeA) { try twoTypeACards() }
        if has(.typeA) { for refuses in [false, true] { try withoutATS(refuses: refuses) } }
        if has(.typeB) { try withoutISODEP() }
        nothing()
    }

    private mutating func nothing() {
        for request in [ActivationRequest.felica(.transit), .typeA(), .typeA(isoDEP: false), .typeB()]
        where has(request.technology) {
            report.expect(.success(nil), "hears nothing in an empty field: \(request)") { () throws(TransportError) in
                try reader.activate(request)
            }
        }
    }

    /// Two cards with the same system answer every Polling at the same moment, and time slots tell them apart.
    private mutating func twoFeliCaCards() throws {
        try place(
            """
            {"schema":"kazasu.card/1","idm":"0101031234567890","pmm":"0120220427674eff",
             "systems":[{"code":"0003","nodes":["0000-FFFE"],"blocks":{"090F":20}}],"virtual":{"quirks":["two-cards"]}}
            """)
        unselected(.felica(.transit), .damaged(.felica), "two FeliCa cards")
        var heard: Set<IDm> = []
        for _ in 0..<Self.slottedLooks {
            guard case .felica(let card)? = try? reader.activate(.felica(.transit, timeSlots: 15)) else { continue }
            heard.insert(card.idm)
        }
        if heard.count != 2 { report.breaches.append("two FeliCa cards: \(heard.count) heard with time slots") }
        try stage.clear()
    }

    /// An answer to a Polling that has no IDm. A chip that looks for FeliCa cards itself drops it; any reader that exchanges
    /// frames hears it, even one that hears no damage.
    private mutating func cardOfGeneration0() throws {
        try place(
            """
            {"schema":"kazasu.card/1","idm":"0101031234567890","pmm":"0120220427674eff",
             "systems":[{"code":"0003"}],"virtual":{"quirks":["fel-seac"]}}
            """)
        let result = Result { () throws(TransportError) in try reader.activate(.felica(.transit)) }
        switch result {
        case .success(nil): break
        case .failure(.heard(.unstarted(.felica))): break
        default: report.breaches.append("a card of generation 0: \(result)")
        }
        try stage.clear()
    }

    /// Of two cards of type A, whose answers collide bit by bit, one is singled out and answers alone.
    private mutating func twoTypeACards() throws {
        let uids: [[UInt8]] = [[1, 2, 3, 4], [1, 2, 3, 5]]
        try place(
            #"{"schema":"kazasu.card/1","cards":[{"typeA":{"uid":"01020304"}},{"typeA":{"uid":"01020305"}}]}"#)
        for _ in 0..<2 {
            guard case .typeA(let target)? = try? reader.activate(.typeA()), uids.contains(target.uid) else {
                report.breaches.append("two cards of type A: none is singled out")
                break
            }
            report.expect(.success([0x90, 0x00]), "one of two cards of type A") { () throws(TransportError) in
                try reader.transceive([0x00, 0xA4, 0x00, 0x0C, 0x02, 0x3F, 0x00], timeout: .seconds(5))
            }
        }
        try stage.clear()
    }

    /// A card whose SAK names ISO-DEP, and that answers RATS with a NAK or not at all.
    private mutating func withoutATS(refuses: Bool) throws {
        let name = refuses ? "a card that refuses RATS" : "a card that is silent to RATS"
        try place(
            """
            {"schema":"kazasu.card/1","typeA":{"uid":"01020304","sak":"28"},
             "virtual":{"quirks":["\(refuses ? "dep-rats-nak" : "dep-rats-mute")"]}}
            """)
        unselected(.typeA(), .unstarted(.typeA), name)
        if case .typeA(let target)? = try? reader.activate(.typeA(isoDEP: false)) {
            if target.uid != [1, 2, 3, 4] || target.isISODEP || ![nil, 0x28].contains(target.sak) {
                report.breaches.append("\(name): \(target)")
            }
        } else {
            report.breaches.append("\(name): not found without ISO-DEP")
        }
        try stage.clear()
    }

    /// A card of type B whose ATQB names no ISO-DEP is reported, and no APDU is sent to it.
    private mutating func withoutISODEP() throws {
        try place(#"{"schema":"kazasu.card/1","typeB":{"pupi":"e8253eec"},"virtual":{"quirks":["b-not-iso"]}}"#)
        if case .typeB(let target)? = try? reader.activate(.typeB()) {
            if target.pupi != ConformanceCards.pupi || target.isISODEP {
                report.breaches.append("type B without ISO-DEP: \(target)")
            }
        } else {
            report.breaches.append("type B without ISO-DEP: not found")
        }
        report.expectError("an APDU to type B without ISO-DEP", { !$0.isReaderError }) { () throws(TransportError) in
            try reader.transceive([0x00, 0xA4, 0x00, 0x0C], timeout: .seconds(1))
        }
        try stage.clear()
    }

    /// Expects what was heard, or no card from a reader that cannot tell.
    private mutating func unselected(_ request: ActivationRequest, _ heard: Heard, _ name: String) {
        let expected: Result<PICC?, TransportError> =
            reader.information.hearsFailures ? .failure(.heard(heard)) : .success(nil)
        report.expect(expected, name) { () throws(TransportError) in try reader.activate(request) }
    }
}
