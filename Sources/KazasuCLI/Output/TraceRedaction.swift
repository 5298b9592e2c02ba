// SPDX-License-Identifier: Apache-2.0

import CardDecoders
import CardModel
import NFCTransport

/// What `--redact` makes of a trace: the card's IDm and the blocks with its owner's numbers are masked in every line
/// in the same way, so that the trace can still be played.
final class TraceRedaction {
    private let redaction: Redaction
    private var cards: [IDm] = []
    private var picc: PICC?

    init(_ redaction: Redaction) {
        self.redaction = redaction
    }

    func apply(_ entry: TranscriptEntry) -> TranscriptEntry {
        guard redaction.isOn else { return entry }
        var entry = entry
        if case .activate(_, .success(let picc)) = entry.event { self.picc = picc }
        switch entry.event {
        case .activate(let request, .success(.felica(var target)?)):
            if !cards.contains(where: { $0.isSameCard(as: target.idm) }) { cards.append(target.idm) }
            target.idm = redaction.apply(target.idm)
            entry.event = .activate(request, .success(.felica(target)))
        case .activate(let request, .success(let picc?)):
            entry.event = .activate(request, .success(redaction.apply(picc)))
        case .activate: break
        case .transceive(let frame, let timeout, let result) where picc.map { $0.technology != .felica } ?? false:
            let isAPDU = picc?.isISODEP ?? false
            entry.event = .transceive(
                ISO14443Redaction.command(frame, isAPDU: isAPDU), timeout: timeout,
                result.map { ISO14443Redaction.answer($0, isAPDU: isAPDU) })
        case .transceive(let frame, let timeout, let result):
            let answer = result.map { masked(TraceRedaction.masked($0, to: frame)) }
            entry.event = .transceive(masked(frame), timeout: timeout, answer)
        }
        return entry
    }

    /// A card of type A or B without its UID or PUPI.
    func redacted(_ picc: PICC) -> PICC { redaction.apply(picc) }

    /// Learns the IDm of every card that has answered a Polling, also of one that the driver did not take.
    ///
    /// - Parameter bytes: what a reader sent, in which answers stand anywhere.
    func learnCards(from bytes: [UInt8]) {
        guard bytes.count >= 18 else { return }
        for start in 0...bytes.count - 18
        where (bytes[start] == 0x12 || bytes[start] == 0x14) && bytes[start + 1] == 0x01 {
            guard let idm = IDm(bytes[start + 2..<start + 10]), !cards.contains(where: { $0.isSameCard(as: idm) })
            else { continue }
            cards.append(idm)
        }
    }

    /// Whether the answer to a command holds blocks of personal services.
    static func isPersonal(_ command: [UInt8]) -> Bool {
        reads(of: command).contains { PersonalData.standard.isPersonal($0.block, of: $0.service, in: nil) }
    }

    /// A frame with every IDm of the cards seen masked, wherever it stands.
    func masked(_ frame: [UInt8]) -> [UInt8] {
        guard frame.count >= 8 else { return frame }
        var frame = frame
        for start in 0...frame.count - 8 {
            guard let idm = IDm(frame[start..<start + 8]), cards.contains(where: { $0.isSameCard(as: idm) }) else {
                continue
            }
            frame.replaceSubrange(start..<start + 8, with: redaction.apply(idm).bytes)
        }
        return frame
    }

    /// The answer to a Read Without Encryption with its personal bytes masked; the system of a frame is not known.
    private static func masked(_ answer: [UInt8], to frame: [UInt8]) -> [UInt8] {
        var answer = answer
        for (place, read) in reads(of: frame).enumerated() {
            let start = 13 + 16 * place
            guard start + 16 <= answer.count, let block = Block(answer[start..<start + 16]) else { break }
            let masked = PersonalData.standard.masked(block, at: read.block, of: read.service, in: nil)
            answer.replaceSubrange(start..<start + 16, with: masked.bytes)
        }
        return answer
    }

    /// What a Read Without Encryption asks for, in order; empty for another command.
    private static func reads(of frame: [UInt8]) -> [(service: ServiceCode, block: UInt16)] {
        guard frame.count > 11, frame[1] == 0x06 else { return [] }
        let services = Int(frame[10])
        guard frame.count > 11 + 2 * services else { return [] }
        let codes = (0..<services).map { UInt16(frame[12 + 2 * $0]) << 8 | UInt16(frame[11 + 2 * $0]) }
        var elements = frame[(12 + 2 * services)...]
        var reads: [(service: ServiceCode, block: UInt16)] = []
        while let first = elements.first {
            let element = Array(elements.prefix(first & 0x80 == 0 ? 3 : 2))
            guard Int(first & 0x0F) < codes.count, element.count >= 2 else { break }
            let high = element.count > 2 ? UInt16(element[2]) << 8 : 0
            reads.append((ServiceCode(rawValue: codes[Int(first & 0x0F)]), high | UInt16(element[1])))
            elements = elements.dropFirst(element.count)
        }
        return reads
    }
}
