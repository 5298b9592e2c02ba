// SPDX-License-Identifier: Apache-2.0

import CardModel
import ReaderCore
import VirtualReader

/// The suite for cards of type A and B that deviate from the standards as real ones do (`Docs/quirks.md`).
struct QuirkConformance: CardSuite {
    static let subject = "cards that deviate"
    var report = ConformanceReport()
    let reader: any Reader
    let stage: ConformanceStage

    private static let onBoth = ["dep-wtx", "dep-wtx-power", "dep-fsc", "dep-no-deselect", "dep-no-nak"]
    /// Those of cards with ISO-DEP.
    static let ofTypeA = onBoth + ["dep-ats1", "dep-random-uid", "a-uid88", "a-atqa", "a-no-halt"]
    static let ofTypeB = onBoth + ["b-long", "b-fwi15", "b-attrib", "b-no-cid"]
    /// Those of Type 2 Tags.
    static let ofTags = ["a-atqa", "a-no-halt", "t2-cc", "t2-no-wrap"]
    /// Those of a card that cannot be selected.
    static let unselectable = ["a-bcc"]

    private static let time = Duration.seconds(5)
    /// So often the card is selected and read.
    private static let rounds = 3

    mutating func runCases() throws {
        if has(.typeA) {
            for quirk in Self.ofTypeA { try files(.typeA(), #""typeA":{"uid":"04a8d862","sak":"20"}"#, quirk) }
            for quirk in Self.ofTags { try pages(quirk) }
            for quirk in Self.unselectable { try nothing(quirk) }
        }
        if has(.typeB) {
            for quirk in Self.ofTypeB { try files(.typeB(), #""typeB":{"pupi":"e8253eec"}"#, quirk) }
        }
    }

    /// 48 bytes are longer than a frame of 32 bytes, both ways.
    private static let content = (0..<48).map { UInt8(truncatingIfNeeded: $0 &* 7 &+ 1) }

    private mutating func files(_ request: ActivationRequest, _ interface: String, _ quirk: String) throws {
        let name = "\(request.technology) \(quirk)"
        let data = Self.content.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
        try place(
            """
            {"schema":"kazasu.card/1",\(interface),"masterFile":{"files":{"2F01":{"data":"\(data)","update":"always"}}},
             "virtual":{"quirks":["\(quirk)"]}}
            """)
        for round in 1...Self.rounds {
            do throws(TransportError) {
                guard let picc = try reader.activate(request), picc.isISODEP else {
                    report.breaches.append("\(name): not found in round \(round)")
                    break
                }
                if let mistake = Self.mistake(picc, quirk) { report.breaches.append("\(name): \(mistake)") }
            } catch {
                report.breaches.append("\(name): \(error) in round \(round)")
                break
            }
            send([0x00, 0xA4, 0x02, 0x0C, 0x02, 0x2F, 0x01], [0x90, 0x00], "\(name): selects a file")
            send([0x00, 0xB0, 0x00, 0x00, 0x30], Self.content + [0x90, 0x00], "\(name): reads it")
            send([0x00, 0xD6, 0x00, 0x00, 0x30] + Self.content, [0x90, 0x00], "\(name): writes it")
        }
        try stage.clear()
    }

    /// What is reported of a card, where the quirk shows in it.
    private static func mistake(_ picc: PICC, _ quirk: String) -> String? {
        guard case .typeA(let target) = picc else { return nil }
        switch quirk {
        case "a-uid88": return target.uid == [0x88, 0xA8, 0xD8, 0x62] ? nil : "UID \(target.uid)"
        case "dep-random-uid": return target.uid.count == 4 && target.uid.first == 0x08 ? nil : "UID \(target.uid)"
        default: return target.uid == [0x04, 0xA8, 0xD8, 0x62] ? nil : "UID \(target.uid)"
        }
    }

    private mutating func pages(_ quirk: String) throws {
        let name = "Type 2 Tag \(quirk)"
        try place(
            """
            {"schema":"kazasu.card/1","type2":{"model":"ntag213","uid":"04a8d862bc2b80","pages":{"04":"01020304"}},
             "virtual":{"quirks":["\(quirk)"]}}
            """)
        for round in 1...Self.rounds {
            guard case .typeA(let target)? = try? reader.activate(.typeA()),
                target.uid == [0x04, 0xA8, 0xD8, 0x62, 0xBC, 0x2B, 0x80]
            else {
                report.breaches.append("\(name): not found in round \(round)")
                break
            }
            report.expect(.success([1, 2, 3, 4]), "\(name): reads a page") { () throws(TransportError) in
                Array(try reader.transceive([0x30, 0x04], timeout: Self.time).prefix(4))
            }
        }
        try stage.clear()
    }

    /// A card whose answers contradict themselves is not selected, and the reader works on.
    private mutating func nothing(_ quirk: String) throws {
        try place(
            #"{"schema":"kazasu.card/1","typeA":{"uid":"04a8d862"},"virtual":{"quirks":["\#(quirk)"]}}"#)
        do throws(TransportError) {
            if let picc = try reader.activate(.typeA()) { report.breaches.append("\(quirk): \(picc)") }
        } catch {
            if error.isReaderError { report.breaches.append("\(quirk): \(error)") }
        }
        try stage.clear()
    }

    private mutating func send(_ command: [UInt8], _ answer: [UInt8], _ name: String) {
        report.expect(.success(answer), name) { () throws(TransportError) in
            try reader.transceive(command, timeout: Self.time)
        }
    }
}
