// SPDX-License-Identifier: Apache-2.0

import CardModel
import ReaderCore
import VirtualReader

/// The suite for FeliCa cards.
struct FeliCaConformance {
    private(set) var report = ConformanceReport()
    private let reader: any Reader
    private let stage: ConformanceStage
    private let cancellation: CancellationToken

    /// Request Response, and its answer.
    static let question: [UInt8] = [0x0A, 0x04] + ConformanceCards.idm.bytes
    static let answer: [UInt8] = [0x0B, 0x05] + ConformanceCards.idm.bytes + [0x00]
    static let time = Duration.milliseconds(20)

    /// - Parameters:
    ///   - reader: open, with no card before it.
    ///   - stage: the place before it.
    ///   - cancellation: the token that the reader was opened with.
    init(_ reader: any Reader, stage: ConformanceStage, cancellation: CancellationToken) {
        self.reader = reader
        self.stage = stage
        self.cancellation = cancellation
    }

    /// Runs every case that applies; the reader is closed afterwards.
    ///
    /// - Throws: what the stage throws.
    mutating func run() throws {
        guard reader.information.technologies.contains(.felica) else {
            report.skipped.append("felica")
            return
        }
        try stage.place(ConformanceCards.feliCa())
        selecting()
        exchanging()
        longAnswers()
        refusing()
        damage()
        try leaving()
        try losingPower()
        ending()
    }

    // MARK: Checks

    private mutating func selecting() {
        for bitRate in reader.information.feliCaBitRates {
            for requestCode in [0, 1] as [UInt8] {
                let expected = FeliCaTarget(
                    idm: ConformanceCards.idm, pmm: ConformanceCards.pmm, requestData: requestCode == 1 ? 0x0003 : nil,
                    bitRate: bitRate)
                for system in [SystemCode(rawValue: 0x0003), .any] {
                    let request = ActivationRequest.felica(system, requestCode: requestCode, bitRate: bitRate)
                    expect(.success(.felica(expected)), "finds \(system) at \(bitRate)") {
                        reader throws(TransportError) in
                        try reader.activate(request)
                    }
                }
            }
            expect(.success(nil), "finds no absent system at \(bitRate)") { reader throws(TransportError) in
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
        exchange("exchanges after a search without result")
    }

    private mutating func longAnswers() {
        let count = reader.information.blocksPerRead
        let list: [UInt8] = (0..<UInt8(clamping: count)).flatMap { [0x80, $0] as [UInt8] }
        let frame =
            [UInt8(14 + list.count), 0x06] + ConformanceCards.idm.bytes + [0x01, 0x0F, 0x09, UInt8(count)] + list
        do {
            let answer = try reader.transceive(frame, timeout: .milliseconds(200))
            if answer.count != 13 + 16 * count || Int(answer[0]) != answer.count {
                report.breaches.append(
                    "reading \(count) blocks gave \(answer.count) bytes instead of \(13 + 16 * count)")
            }
        } catch {
            report.breaches.append("reading \(count) blocks must give \(13 + 16 * count) bytes, not: \(error)")
        }
    }

    private mutating func refusing() {
        for frame in [[0x03, 0xEE, 0x00], [0x0A, 0x04] + [UInt8](repeating: 0xEE, count: 8)] as [[UInt8]] {
            expect(.failure(.noAnswer), "reports a silent card") { reader throws(TransportError) in
                try reader.transceive(frame, timeout: Self.time)
            }
            exchange("works after a silent card")
        }
        func tooLong(_ found: String) -> String {
            "a frame of 5000 bytes must throw frameTooLong(length: 5000, limit: the longest, 240 or more), not: \(found)"
        }
        do {
            _ = try reader.transceive([UInt8](repeating: 0, count: 5000), timeout: Self.time)
            report.breaches.append(tooLong("the frame was sent"))
        } catch {
            if case .frameTooLong(5000, let limit) = error, limit >= 240 {
            } else {
                report.breaches.append(tooLong("\(error)"))
            }
        }
        exchange("works after a frame that was too long")
    }

    private mutating func damage() {
        guard !stage.limits.contains(.noFaults) else {
            report.skipped.append("felica: damaged answers (\(ConformanceStage.Limit.noFaults.rawValue))")
            return
        }
        for status in [0x02, 0x03, 0x05] as [UInt8] {
            stage.plan(.once(.damaged(status: status), at: stage.exchanges() + 1))
            do {
                _ = try reader.transceive(Self.question, timeout: Self.time)
                report.breaches.append("takes a damaged answer")
            } catch {
                // A device may discard damaged answers by itself.
                if !error.isTransient, error != .noAnswer {
                    report.breaches.append("a damaged answer must throw corrupted or noAnswer, not: \(error)")
                }
            }
            exchange("works after a damaged answer")
        }
        stage.plan([])
    }

    private mutating func leaving() throws {
        try stage.clear()
        expect(.failure(.noAnswer), "reports that the card left") { reader throws(TransportError) in
            try reader.transceive(Self.question, timeout: Self.time)
        }
        expect(.success(nil), "finds nothing without a card") { reader throws(TransportError) in
            try reader.activate(.felica(.any))
        }
        try stage.place(ConformanceCards.feliCa())
        select()
        exchange("works when the card is back")
    }

    /// A reader that can switch its field off takes the power from every card, and finds it again.
    ///
    /// What is written to MC of a FeliCa Lite takes effect when it loses its power: here, that it does not answer 12FC.
    private mutating func losingPower() throws {
        guard (try? reader.cyclePower()) == true else { return }
        try stage.clear()
        try stage.place(ConformanceCards.feliCaLite())
        let ndef = ActivationRequest.felica(SystemCode(rawValue: 0x12FC))
        let write = [0x20, 0x08] + ConformanceCards.idm.bytes + [0x01, 0x09, 0x00, 0x01, 0x80, 0x88]
        do throws(TransportError) {
            if try reader.activate(ndef) == nil { report.breaches.append("finds no FeliCa Lite") }
            _ = try reader.transceive(write + ConformanceCards.restrictions, timeout: .milliseconds(200))
            if try reader.activate(ndef) == nil { report.breaches.append("takes the power while it searches") }
            _ = try reader.cyclePower()
            if try reader.activate(ndef) != nil { report.breaches.append("leaves the power to the card") }
            if try reader.activate(.felica(.lite)) == nil {
                report.breaches.append("finds no card after its field was off")
            }
        } catch {
            report.breaches.append("a card that lost its power must be found and answer, not: \(error)")
        }
        try stage.clear()
        try stage.place(ConformanceCards.feliCa())
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
            report.breaches.append("works after closing")
        } catch {}
    }

    // MARK: Steps

    private mutating func select() {
        do {
            if try reader.activate(.felica(SystemCode(rawValue: 0x0003))) == nil {
                report.breaches.append("finds no card")
            }
        } catch {
            report.breaches.append("looking for the card must find it, not: \(error)")
        }
    }

    private mutating func exchange(_ name: String) {
        expect(.success(Self.answer), name) { reader throws(TransportError) in
            try reader.transceive(Self.question, timeout: Self.time)
        }
    }

    private mutating func expect<Value: Equatable>(
        _ expected: Result<Value, TransportError>, _ name: String,
        _ work: (any Reader) throws(TransportError) -> Value
    ) {
        report.expect(expected, name) { () throws(TransportError) in try work(reader) }
    }
}
