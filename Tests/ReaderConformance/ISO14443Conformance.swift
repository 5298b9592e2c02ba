// SPDX-License-Identifier: Apache-2.0

import CardModel
package import NFCTransport
import VirtualReader

/// What every reader must do with cards of type A and B, whatever drives it: ISO-DEP with chaining in both directions,
/// waiting time extensions, cards that leave, and Type 2 Tags.
///
/// As ``ReaderConformance`` it needs no testing framework. It is given an open reader with nothing before it.
package struct ISO14443Conformance {
    /// What went wrong, one sentence each.
    package var breaches: [String] { log.breaches }
    /// The cases that do not apply to this reader or its stage, by name.
    package private(set) var skipped: [String] = []

    private let reader: any Reader
    private let stage: ConformanceStage
    private let cancellation: CancellationToken
    private let log = ConformanceLog()

    private static let time = Duration.seconds(5)
    private static let selectFile: [UInt8] = [0x00, 0xA4, 0x02, 0x0C, 0x02, 0x2F, 0x01]
    private static let done: [UInt8] = [0x90, 0x00]

    /// - Parameters:
    ///   - reader: open, with nothing before it.
    ///   - stage: what can be put before it.
    ///   - cancellation: the token that the reader was opened with.
    package init(_ reader: any Reader, stage: ConformanceStage, cancellation: CancellationToken) {
        self.reader = reader
        self.stage = stage
        self.cancellation = cancellation
    }

    /// Runs every case that applies; the reader is closed afterwards.
    ///
    /// - Throws: what the stage throws.
    package mutating func run() throws {
        for technology in [Technology.typeA, .typeB] {
            guard reader.information.technologies.contains(technology) else {
                skipped.append("\(technology)")
                continue
            }
            try files(technology)
            try losses(technology)
        }
        if reader.information.technologies.contains(.typeA) { try tag() }
        ending()
    }

    // MARK: Cards of files

    private mutating func files(_ technology: Technology) throws {
        try place(ISO14443Card.files(technology))
        let other = technology == .typeA ? Technology.typeB : .typeA
        if reader.information.technologies.contains(other) {
            log.expect(.success(nil), "finds no \(other) where \(technology) is") { () throws(TransportError) in
                try reader.activate(Self.request(other))
            }
        }
        activate(technology, "finds it")
        send(Self.selectFile, Self.done, "\(technology): selects a file")
        send([0x00, 0xB0, 0x00, 0x00, 0x05], ISO14443Card.content.prefix(5) + Self.done, "\(technology): five bytes")
        // Longer than a frame of the card's, both ways.
        send([0x00, 0xB0, 0x00, 0x00, 0x00], ISO14443Card.content.prefix(256) + Self.done, "\(technology): 256 bytes")
        let written = (0..<250).map { UInt8(truncatingIfNeeded: $0 ^ 0x5A) }
        send([0x00, 0xD6, 0x00, 0x10, 0xFA] + written, Self.done, "\(technology): writes 250 bytes")
        send([0x00, 0xB0, 0x00, 0x10, 0xFA], written + Self.done, "\(technology): reads them again")
        for _ in 0..<2 { activate(technology, "finds it again") }
        forgotten(technology)
        try extended(technology)
        try stage.clear()
    }

    /// A card that is activated anew begins at its root, without the file and the PIN of before.
    private mutating func forgotten(_ technology: Technology) {
        do {
            let answer = try reader.transceive([0x00, 0xB0, 0x00, 0x00, 0x05], timeout: Self.time)
            if answer.suffix(2) == Self.done { log.breaches.append("\(technology): the file is still selected") }
        } catch {
            log.breaches.append("\(technology): reading without a file: \(error)")
        }
        send(Self.selectFile, Self.done, "\(technology): selects a file of a card activated anew")
    }

    private mutating func extended(_ technology: Technology) throws {
        guard applies("\(technology): waiting time extensions", .noBlocks) else { return }
        try stage.clear()
        try place(ISO14443Card.files(technology, extensions: 3))
        activate(technology, "finds a slow one")
        send(Self.selectFile, Self.done, "\(technology): selects a file of a slow card")
        send(
            [0x00, 0xB0, 0x00, 0x00, 0xC8], ISO14443Card.content.prefix(200) + Self.done,
            "\(technology): a chained answer of a slow card")
    }

    // MARK: Cards that leave

    private mutating func losses(_ technology: Technology) throws {
        try place(ISO14443Card.files(technology))
        activate(technology, "finds the next one")
        send(Self.selectFile, Self.done, "\(technology): selects a file of the next one")
        if applies("\(technology): a card that leaves between two blocks", .noFaults) {
            stage.plan(.cardAway(from: stage.exchanges() + 2))
            log.expectError("\(technology): leaves between two blocks", Self.isLoss) { () throws(TransportError) in
                try reader.transceive([0x00, 0xB0, 0x00, 0x00, 0x00], timeout: Self.time)
            }
            stage.plan([])
            lost(technology)
        }
        if applies("\(technology): an answer that is damaged for good", .noFaults) {
            stage.plan([InjectedFaultRule(.damaged(status: 0x02), .during(1...Int.max))])
            log.expectError("\(technology): takes damaged answers", Self.isLoss) { () throws(TransportError) in
                try reader.transceive([0x00, 0xB0, 0x00, 0x00, 0x05], timeout: Self.time)
            }
            stage.plan([])
            lost(technology)
        }
        try stage.clear()
        log.expectError("\(technology): left", Self.isLoss) { () throws(TransportError) in
            try reader.transceive([0x00, 0xB0, 0x00, 0x00, 0x05], timeout: Self.time)
        }
        log.expect(.success(nil), "\(technology): finds nothing where nothing is") { () throws(TransportError) in
            try reader.activate(Self.request(technology))
        }
        try place(ISO14443Card.files(technology))
        activate(technology, "finds it when it is back")
        send(Self.selectFile, Self.done, "\(technology): works when it is back")
        try stage.clear()
    }

    /// After a failed exchange no command reaches the card until it was activated anew.
    private mutating func lost(_ technology: Technology) {
        log.expectError("\(technology): sends to a card that was lost", Self.isLoss) { () throws(TransportError) in
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
        try place(ISO14443Card.tag)
        for _ in 0..<2 {
            say(ISO14443Card.lies(look(.typeA(), "a tag"), .typeA, isISODEP: false), "a tag")
            let uid = ISO14443Card.uid
            let check = UInt8(0x88) ^ uid[0] ^ uid[1] ^ uid[2]
            let first = uid.prefix(3) + [check] + uid.dropFirst(3)
            do {
                let pages = try reader.transceive([0x30, 0x00], timeout: Self.time)
                if pages.count != 16 || !pages.starts(with: first) { log.breaches.append("pages 0 to 3: \(pages)") }
            } catch {
                log.breaches.append("pages 0 to 3: \(error)")
            }
            send([0xA2, 0x05, 1, 2, 3, 4], [0x0A], "writes a page")
            do {
                let pages = try reader.transceive([0x30, 0x05], timeout: Self.time)
                if !pages.starts(with: [1, 2, 3, 4]) { log.breaches.append("the page that was written: \(pages)") }
            } catch {
                log.breaches.append("the page that was written: \(error)")
            }
        }
        try stage.clear()
    }

    // MARK: The end

    private mutating func ending() {
        cancellation.cancel()
        log.expect(.failure(.cancelled), "is cancelled while looking") { () throws(TransportError) in
            try reader.activate(.typeA())
        }
        reader.close()
        reader.close()
        log.expectError("works when it is closed", { _ in true }) { () throws(TransportError) in
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
        skipped.append("\(name) (\(limit.rawValue))")
        return false
    }

    private static func request(_ technology: Technology) -> ActivationRequest {
        technology == .typeB ? .typeB() : .typeA()
    }

    private mutating func activate(_ technology: Technology, _ what: String) {
        say(ISO14443Card.lies(look(Self.request(technology), what), technology), "\(technology): \(what)")
    }

    private mutating func look(_ request: ActivationRequest, _ what: String) -> PICC? {
        do {
            return try reader.activate(request)
        } catch {
            log.breaches.append("\(request.technology): \(what): \(error)")
            return nil
        }
    }

    private mutating func say(_ lie: String?, _ what: String) {
        if let lie { log.breaches.append("\(what): \(lie)") }
    }

    private mutating func send(_ frame: [UInt8], _ answer: [UInt8], _ what: String) {
        log.expect(.success(answer), what) { () throws(TransportError) in
            try reader.transceive(frame, timeout: Self.time)
        }
    }
}
