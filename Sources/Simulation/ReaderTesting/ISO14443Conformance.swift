// SPDX-License-Identifier: Apache-2.0

import CardModel
import ReaderCore
import VirtualReader

/// The suite for cards of type A and B.
struct ISO14443Conformance {
    private(set) var report = ConformanceReport()
    private let reader: any Reader
    private let stage: ConformanceStage
    private let cancellation: CancellationToken

    private static let time = Duration.seconds(5)
    private static let selectFile: [UInt8] = [0x00, 0xA4, 0x02, 0x0C, 0x02, 0x2F, 0x01]
    private static let done: [UInt8] = [0x90, 0x00]

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
        for technology in [Technology.typeA, .typeB] {
            guard reader.information.technologies.contains(technology) else {
                report.skipped.append("\(technology)")
                continue
            }
            try files(technology)
            try losses(technology)
        }
        guard report.skipped != ["\(Technology.typeA)", "\(Technology.typeB)"] else { return }
        if reader.information.technologies.contains(.typeA) { try tag() }
        ending()
    }

    // MARK: Cards of files

    private mutating func files(_ technology: Technology) throws {
        try place(ConformanceCards.files(technology))
        let other = technology == .typeA ? Technology.typeB : .typeA
        if reader.information.technologies.contains(other) {
            report.expect(.success(nil), "finds no \(other) where \(technology) is") { () throws(TransportError) in
                try reader.activate(Self.request(other))
            }
        }
        activate(technology, "finds it")
        send(Self.selectFile, Self.done, "\(technology): selects a file")
        send(
            [0x00, 0xB0, 0x00, 0x00, 0x05], ConformanceCards.content.prefix(5) + Self.done, "\(technology): five bytes")
        // Longer than a frame of the card's, both ways.
        let most = min(256, max(1, reader.information.longestResponseAPDU - 2))
        send(
            [0x00, 0xB0, 0x00, 0x00, UInt8(truncatingIfNeeded: most)],
            ConformanceCards.content.prefix(most) + Self.done, "\(technology): \(most) bytes")
        let written = (0..<250).map { UInt8(truncatingIfNeeded: $0 ^ 0x5A) }
        send([0x00, 0xD6, 0x00, 0x10, 0xFA] + written, Self.done, "\(technology): writes 250 bytes")
        send([0x00, 0xB0, 0x00, 0x10, 0xFA], written + Self.done, "\(technology): reads them again")
        for _ in 0..<2 { activate(technology, "finds it again") }
        forgotten(technology)
        try extended(technology)
        try stage.clear()
    }

    /// A card that is activated again begins at its root, without the file and the PIN of before.
    private mutating func forgotten(_ technology: Technology) {
        do {
            let answer = try reader.transceive([0x00, 0xB0, 0x00, 0x00, 0x05], timeout: Self.time)
            if answer.suffix(2) == Self.done { report.breaches.append("\(technology): the file is still selected") }
        } catch {
            report.breaches.append("\(technology): reading without a file must give a status word, not: \(error)")
        }
        send(Self.selectFile, Self.done, "\(technology): selects a file of a card activated again")
    }

    private mutating func extended(_ technology: Technology) throws {
        guard applies("\(technology): waiting time extensions", .noBlocks) else { return }
        try stage.clear()
        try place(ConformanceCards.files(technology, extensions: 3))
        activate(technology, "finds a slow one")
        send(Self.selectFile, Self.done, "\(technology): selects a file of a slow card")
        send(
            [0x00, 0xB0, 0x00, 0x00, 0xC8], ConformanceCards.content.prefix(200) + Self.done,
            "\(technology): a chained answer of a slow card")
        // Ten times 59 frame waiting times are 46 seconds: as long as a card asks for time, it has not left.
        try stage.clear()
        try place(ConformanceCards.files(technology, extensions: 10, multiplier: 59))
        activate(technology, "finds a very slow one")
        send(Self.selectFile, Self.done, "\(technology): selects a file of a card that asks for 46 seconds")
    }

    // MARK: Cards that leave

    private mutating func losses(_ technology: Technology) throws {
        try place(ConformanceCards.files(technology))
        activate(technology, "finds the next one")
        send(Self.selectFile, Self.done, "\(technology): selects a file of the next one")
        if applies("\(technology): a card that leaves between two blocks", .noFaults) {
            stage.plan(.cardAway(from: stage.exchanges() + 2))
            report.expectError("\(technology): leaves between two blocks", Self.isLoss) { () throws(TransportError) in
                try reader.transceive([0x00, 0xB0, 0x00, 0x00, 0x00], timeout: Self.time)
            }
            stage.plan([])
            lost(technology)
        }
        if applies("\(technology): an answer that is damaged for good", .noFaults) {
            stage.plan([InjectedFaultRule(.damaged(status: 0x02), .during(1...Int.max))])
            report.expectError("\(technology): takes damaged answers", Self.isLoss) { () throws(TransportError) in
                try reader.transceive([0x00, 0xB0, 0x00, 0x00, 0x05], timeout: Self.time)
            }
            stage.plan([])
            lost(technology)
        }
        try stage.clear()
        report.expectError("\(technology): left", Self.isLoss) { () throws(TransportError) in
            try reader.transceive([0x00, 0xB0, 0x00, 0x00, 0x05], timeout: Self.time)
        }
        report.expect(.success(nil), "\(technology): finds nothing without a card") { () throws(TransportError) in
            try reader.activate(Self.request(technology))
        }
        try place(ConformanceCards.files(technology))
        activate(technology, "finds it when it is back")
        send(Self.selectFile, Self.done, "\(technology): works when it is back")
        try stage.clear()
    }

    /// After a failed exchange no command reaches the card until it was activated again.
    private mutating func lost(_ technology: Technology) {
        report.expectError("\(technology): sends to a lost card", Self.isLoss) { () throws(TransportError) in
            try reader.transceive([0x00, 0xB0, 0x00, 0x00, 0x05], timeout: Self.time)
        }
        activate(technology, "finds it after a loss")
        forgotten(technology)
    }

    private static func isLoss(_ error: TransportError) -> Bool {
        switch error {
        case .noAnswer, .cardReleased, .corrupted: true
        default: false
        }
    }

    // MARK: Type 2 Tags

    private mutating func tag() throws {
        try place(ConformanceCards.tag)
        for _ in 0..<2 {
            note(ConformanceCards.mistake(look(.typeA(), "a tag"), .typeA, isISODEP: false), "a tag")
            let uid = ConformanceCards.uid
            let check = UInt8(0x88) ^ uid[0] ^ uid[1] ^ uid[2]
            let first = uid.prefix(3) + [check] + uid.dropFirst(3)
            do {
                let pages = try reader.transceive([0x30, 0x00], timeout: Self.time)
                if pages.count != 16 || !pages.starts(with: first) {
                    report.breaches.append("pages 0 to 3: \(pages) instead of 16 bytes that begin with \(first)")
                }
            } catch {
                report.breaches.append("READ of page 0 must give 16 bytes, not: \(error)")
            }
            send([0xA2, 0x05, 1, 2, 3, 4], [0x0A], "writes a page")
            do {
                let pages = try reader.transceive([0x30, 0x05], timeout: Self.time)
                if !pages.starts(with: [1, 2, 3, 4]) {
                    report.breaches.append("the page that was written: \(pages) instead of 1, 2, 3, 4")
                }
            } catch {
                report.breaches.append("READ of the page that was written must give it, not: \(error)")
            }
        }
        try stage.clear()
    }

    // MARK: The end

    private mutating func ending() {
        cancellation.cancel()
        report.expect(.failure(.cancelled), "is cancelled while looking") { () throws(TransportError) in
            try reader.activate(.typeA())
        }
        reader.close()
        reader.close()
        report.expectError("works when it is closed", { _ in true }) { () throws(TransportError) in
            try reader.activate(.typeA())
        }
    }

    // MARK: Steps

    private func place(_ card: (any VirtualCard)?) throws {
        guard let card else { throw DocumentError.missing(key: "card") }
        try stage.place(card)
    }

    private mutating func applies(_ name: String, _ limit: ConformanceStage.Limit) -> Bool {
        guard stage.limits.contains(limit) else { return true }
        report.skipped.append("\(name) (\(limit.rawValue))")
        return false
    }

    private static func request(_ technology: Technology) -> ActivationRequest {
        technology == .typeB ? .typeB() : .typeA()
    }

    private mutating func activate(_ technology: Technology, _ name: String) {
        note(ConformanceCards.mistake(look(Self.request(technology), name), technology), "\(technology): \(name)")
    }

    private mutating func look(_ request: ActivationRequest, _ name: String) -> PICC? {
        do {
            return try reader.activate(request)
        } catch {
            report.breaches.append("\(request.technology): \(name): looking for a card must not throw: \(error)")
            return nil
        }
    }

    private mutating func note(_ mistake: String?, _ name: String) {
        if let mistake { report.breaches.append("\(name): \(mistake)") }
    }

    private mutating func send(_ frame: [UInt8], _ answer: [UInt8], _ name: String) {
        report.expect(.success(answer), name) { () throws(TransportError) in
            try reader.transceive(frame, timeout: Self.time)
        }
    }
}
