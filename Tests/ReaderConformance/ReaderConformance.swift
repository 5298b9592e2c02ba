// SPDX-License-Identifier: Apache-2.0

package import CardModel
package import NFCTransport
package import VirtualReader

/// What every reader must do, whatever drives it: one suite for all drivers.
///
/// It is given an open reader with the transit card of ``feliCaCard`` in its field, and tells what it did wrong, so it
/// needs no testing framework and runs wherever there is a field to change.
package struct ReaderConformance {
    /// What went wrong, one sentence each.
    package var breaches: [String] { log.breaches }

    private let log = ConformanceLog()
    private let reader: any Reader
    private let field: VirtualField?
    private let cancellation: CancellationToken

    static let idm = IDm(rawValue: 0x0101_0312_3456_7890)
    static let pmm = PMm(rawValue: 0x0120_2204_2767_4EFF)
    /// Request Response of that card, and its answer.
    static let question: [UInt8] = [0x0A, 0x04] + idm.bytes
    static let answer: [UInt8] = [0x0B, 0x05] + idm.bytes + [0x00]
    static let time = Duration.milliseconds(20)

    /// - Parameters:
    ///   - reader: open, with ``card()`` in its field.
    ///   - field: the field, to take the card away and to let things go wrong; `nil` when it cannot be changed, as with
    ///     a recording.
    ///   - cancellation: the token that the reader was opened with.
    package init(_ reader: any Reader, field: VirtualField?, cancellation: CancellationToken) {
        self.reader = reader
        self.field = field
        self.cancellation = cancellation
    }

    /// The card that has to lie on the reader: system 0003 with service 090F of 20 blocks.
    package static func card() throws(DocumentError) -> any VirtualCard {
        let text = """
            {"schema":"kazasu.card/1","idm":"0101031234567890","pmm":"0120220427674eff",
             "systems":[{"code":"0003","keyVersion":"0001","nodes":["0000-FFFE"],"blocks":{"090F":20}}],
             "virtual":{"blocksPerRead":15}}
            """
        return try VirtualCardFile.load(Array(text.utf8))
    }

    /// Runs every check; the reader is closed afterwards.
    package mutating func run() {
        selecting()
        exchanging()
        longAnswers()
        refusing()
        if let field {
            damage(field)
            leaving(field)
        }
        ending()
    }

    // MARK: Checks

    private mutating func selecting() {
        for bitRate in reader.information.feliCaBitRates {
            for requestCode in [0, 1] as [UInt8] {
                let expected = FeliCaTarget(
                    idm: Self.idm, pmm: Self.pmm, requestData: requestCode == 1 ? 0x0003 : nil, bitRate: bitRate)
                for system in [SystemCode(rawValue: 0x0003), .any] {
                    let request = ActivationRequest.felica(system, requestCode: requestCode, bitRate: bitRate)
                    expect(.success(.felica(expected)), "finds \(system) at \(bitRate)") {
                        reader throws(TransportError) in
                        try reader.activate(request)
                    }
                }
            }
            expect(.success(nil), "finds no system that is not there at \(bitRate)") { reader throws(TransportError) in
                try reader.activate(.felica(SystemCode(rawValue: 0x12FC), bitRate: bitRate))
            }
        }
        select()
    }

    private mutating func exchanging() {
        for _ in 0..<3 { exchange("exchanges") }
        // Polling for another system leaves the card where it is.
        _ = try? reader.activate(.felica(SystemCode(rawValue: 0x12FC)))
        select()
        exchange("exchanges after a search in vain")
    }

    private mutating func longAnswers() {
        let count = reader.information.blocksPerRead
        let list: [UInt8] = (0..<UInt8(clamping: count)).flatMap { [0x80, $0] as [UInt8] }
        let frame = [UInt8(14 + list.count), 0x06] + Self.idm.bytes + [0x01, 0x0F, 0x09, UInt8(count)] + list
        do {
            let answer = try reader.transceive(frame, timeout: .milliseconds(200))
            if answer.count != 13 + 16 * count || Int(answer[0]) != answer.count {
                log.breaches.append("reading \(count) blocks gave \(answer.count) bytes")
            }
        } catch {
            log.breaches.append("reading \(count) blocks: \(error)")
        }
    }

    private mutating func refusing() {
        for frame in [[0x03, 0xEE, 0x00], [0x0A, 0x04] + [UInt8](repeating: 0xEE, count: 8)] as [[UInt8]] {
            expect(.failure(.noAnswer), "tells a silent card") { reader throws(TransportError) in
                try reader.transceive(frame, timeout: Self.time)
            }
            exchange("works after a silent card")
        }
        do {
            _ = try reader.transceive([UInt8](repeating: 0, count: 5000), timeout: Self.time)
            log.breaches.append("sends 5000 bytes")
        } catch {
            if case .frameTooLong(5000, let limit) = error, limit >= 255 {
            } else {
                log.breaches.append("5000 bytes: \(error)")
            }
        }
        exchange("works after a frame that was too long")
    }

    private mutating func damage(_ field: VirtualField) {
        for status in [0x02, 0x03, 0x05] as [UInt8] {
            field.plan(InjectedFaults.once(.damaged(status: status), at: field.statistics.exchanges + 1))
            do {
                _ = try reader.transceive(Self.question, timeout: Self.time)
                log.breaches.append("takes a damaged answer")
            } catch {
                if !error.isTransient { log.breaches.append("damaged answer: \(error)") }
            }
            exchange("works after a damaged answer")
        }
        field.plan([])
    }

    private mutating func leaving(_ field: VirtualField) {
        let cards = field.cards
        field.removeCards()
        expect(.failure(.noAnswer), "tells that the card left") { reader throws(TransportError) in
            try reader.transceive(Self.question, timeout: Self.time)
        }
        expect(.success(nil), "finds nothing where nothing is") { reader throws(TransportError) in
            try reader.activate(.felica(.any))
        }
        for card in cards { field.place(card) }
        select()
        exchange("works when the card is back")
    }

    private mutating func ending() {
        cancellation.cancel()
        expect(.failure(.cancelled), "is cancelled while looking") { reader throws(TransportError) in
            try reader.activate(.felica(.any))
        }
        expect(.failure(.cancelled), "is cancelled while exchanging") { reader throws(TransportError) in
            try reader.transceive(Self.question, timeout: Self.time)
        }
        reader.close()
        reader.close()
        do {
            _ = try reader.activate(.felica(.any))
            log.breaches.append("works when it is closed")
        } catch {}
    }

    // MARK: Steps

    private mutating func select() {
        do {
            if try reader.activate(.felica(SystemCode(rawValue: 0x0003))) == nil {
                log.breaches.append("finds no card")
            }
        } catch {
            log.breaches.append("looking for the card: \(error)")
        }
    }

    private mutating func exchange(_ what: String) {
        expect(.success(Self.answer), what) { reader throws(TransportError) in
            try reader.transceive(Self.question, timeout: Self.time)
        }
    }

    private mutating func expect<Value: Equatable>(
        _ expected: Result<Value, TransportError>, _ what: String,
        _ work: (any Reader) throws(TransportError) -> Value
    ) {
        log.expect(expected, what) { () throws(TransportError) in try work(reader) }
    }
}
