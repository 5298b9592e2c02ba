// SPDX-License-Identifier: Apache-2.0

package import Kazasu

/// Applies `--redact` to frames to and from a card, in a trace and in every other output. The card's IDm and the blocks
/// with its owner's numbers are masked everywhere in the same way, so that a trace can still be played.
package final class TraceRedaction {
    let redaction: Redaction
    private var cards: [IDm] = []
    private var picc: PICC?

    package init(_ redaction: Redaction) {
        self.redaction = redaction
    }

    /// An exchange with a card that was activated outside of the frames, redacted for output.
    package func apply(
        _ frame: [UInt8], answer: [UInt8], of target: FeliCaTarget
    ) -> (frame: [UInt8], answer: [UInt8]) {
        remember(target.idm)
        guard redaction.isOn else { return (frame, answer) }
        return (maskedCommand(frame), maskedAnswer(answer, to: frame))
    }

    package func apply(_ entry: TranscriptEntry) -> TranscriptEntry {
        guard redaction.isOn else { return entry }
        var entry = entry
        switch entry.event {
        case .activate(let request, .success(let picc)):
            self.picc = picc
            if let picc { RedactionGate.shared.learn(CardIdentity(picc)) }
            if case .felica(let target) = picc { remember(target.idm) }
            entry.event = .activate(request, .success(picc.map(redaction.apply)))
        case .activate: break
        case .transceive(let frame, let timeout, let result) where picc.map { $0.technology != .felica } ?? false:
            let isAPDU = picc?.isISODEP ?? false
            entry.event = .transceive(
                ISO14443Redaction.command(frame, isAPDU: isAPDU), timeout: timeout,
                result.map { ISO14443Redaction.answer($0, isAPDU: isAPDU) })
        case .transceive(let frame, let timeout, let result):
            let answer = result.map { maskedAnswer($0, to: frame) }
            entry.event = .transceive(maskedCommand(frame), timeout: timeout, answer)
        }
        return entry
    }

    /// Learns the IDm of every card that has answered a Polling, including one that the driver did not select.
    ///
    /// - Parameter bytes: data from a reader, with answers at any offset.
    package func learnCards(from bytes: [UInt8]) {
        guard bytes.count >= 18 else { return }
        for start in 0...bytes.count - 18
        where (bytes[start] == 0x12 || bytes[start] == 0x14) && bytes[start + 1] == 0x01 {
            if let idm = IDm(bytes[start + 2..<start + 10]) { remember(idm) }
        }
    }

    /// Whether the answer to a command holds blocks of personal services, or the model of a phone.
    package static func isPersonal(_ command: [UInt8]) -> Bool {
        code(of: command) == .getContainerIssueInformation
            || reads(of: command).contains { PersonalData.standard.isPersonal($0.block, of: $0.service, in: nil) }
    }

    private func remember(_ idm: IDm) {
        RedactionGate.shared.learn(CardIdentity(technology: .felica, idm: idm))
        if !cards.contains(where: { $0.isSameCard(as: idm) }) { cards.append(idm) }
    }

    /// The commands that carry no blocks in either direction. The content of any other, except Read and Write Without
    /// Encryption, is unknown.
    private static let harmless: Set<CommandCode> = [
        .polling, .requestService, .requestResponse, .searchServiceCode, .requestSystemCode, .requestBlockInformation,
        .requestBlockInformationEx, .requestCodeList, .requestServiceV2, .getSystemStatus, .getAreaInformation,
        .requestSpecificationVersion, .requestProductInformation, .resetMode,
    ]

    /// The length of the fields before the data of a command or answer: LEN, code, IDm.
    private static let header = 10
    /// The same with the status flags of an answer.
    private static let headerWithFlags = 12

    private func maskedCommand(_ frame: [UInt8]) -> [UInt8] {
        switch TraceRedaction.code(of: frame) {
        case .readWithoutEncryption?: masked(frame)
        // The written data belongs to the user.
        case .writeWithoutEncryption?: masked(TraceRedaction.cleared(frame, from: TraceRedaction.blocks(of: frame)))
        case let code? where TraceRedaction.harmless.contains(code): masked(frame)
        default: masked(TraceRedaction.cleared(frame, from: TraceRedaction.header))
        }
    }

    private func maskedAnswer(_ answer: [UInt8], to frame: [UInt8]) -> [UInt8] {
        switch TraceRedaction.code(of: frame) {
        case .readWithoutEncryption?:
            masked(TraceRedaction.masked(answer, to: frame))
        case .writeWithoutEncryption?: masked(answer)
        case let code? where TraceRedaction.harmless.contains(code): masked(answer)
        default: masked(TraceRedaction.cleared(answer, from: TraceRedaction.headerWithFlags))
        }
    }

    /// The code of a command; two-byte codes begin with a byte that is not itself a command.
    private static func code(of frame: [UInt8]) -> CommandCode? {
        frame.dropFirst().first.map { CommandCode(rawValue: UInt16($0)) }
    }

    fileprivate static func cleared(_ frame: some Collection<UInt8>, from start: Int) -> [UInt8] {
        frame.prefix(start) + frame.dropFirst(start).map { _ in 0 }
    }

    /// The offset of the blocks of a Write Without Encryption: after the service list and the block list.
    private static func blocks(of frame: [UInt8]) -> Int {
        guard frame.count > header else { return header }
        let list = header + 1 + 2 * Int(frame[header])
        guard frame.count > list else { return header }
        var place = list + 1
        for _ in 0..<frame[list] where place < frame.count { place += frame[place] & 0x80 == 0 ? 3 : 2 }
        return min(place, frame.count)
    }

    /// A frame with every IDm of the cards seen masked, at any offset.
    package func masked(_ frame: [UInt8]) -> [UInt8] {
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
            RedactionGate.shared.learn(block, masked: masked)
            answer.replaceSubrange(start..<start + 16, with: masked.bytes)
        }
        return answer
    }

    /// The blocks that a Read Without Encryption requests, in order; empty for another command.
    private static func reads(of frame: [UInt8]) -> [(service: ServiceCode, block: UInt16)] {
        guard frame.count > 11, frame[1] == 0x06 else { return [] }
        let services = Int(frame[10])
        guard frame.count > 11 + 2 * services else { return [] }
        let codes = (0..<services).map { (index: Int) -> UInt16 in
            UInt16(frame[12 + 2 * index]) << 8 | UInt16(frame[11 + 2 * index])
        }
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

/// Applies `--redact` to frames to and from cards of type A and B. The content of files and pages is unknown, so all
/// of it becomes 00; such a trace shows the requests and how the card answered, but not the card's data.
package enum ISO14443Redaction {
    /// Data up to this length is kept: flags and counters, and whether a file is empty.
    private static let harmless = 3

    /// A command without the data that it writes.
    package static func command(_ frame: [UInt8], isAPDU: Bool) -> [UInt8] {
        guard isAPDU else { return TraceRedaction.cleared(frame, from: 2) }
        guard frame.count > 5 else { return frame }
        switch Instruction(rawValue: frame[1] & 0xFE) {
        case .updateBinary, .updateRecord, .writeBinary: return TraceRedaction.cleared(frame, from: 5)
        default: return frame
        }
    }

    /// An answer without its data; the status word is kept.
    package static func answer(_ frame: [UInt8], isAPDU: Bool) -> [UInt8] {
        guard isAPDU else { return frame.count > harmless ? TraceRedaction.cleared(frame, from: 0) : frame }
        guard frame.count > harmless + 2 else { return frame }
        return TraceRedaction.cleared(frame.dropLast(2), from: 0) + frame.suffix(2)
    }
}

extension Redaction {
    /// Masks a card: type A keeps the first byte of its UID (its manufacturer, or 08 for a random one) and its kind,
    /// type B loses its PUPI.
    package func apply(_ picc: PICC) -> PICC {
        guard isOn else { return picc }
        switch picc {
        case .typeA(var target):
            target.uid = target.uid.prefix(1) + target.uid.dropFirst().map { _ in 0 }
            return .typeA(target)
        case .typeB(var target):
            target.pupi = target.pupi?.map { _ in 0 }
            return .typeB(target)
        case .felica(var target):
            target.idm = apply(target.idm)
            return .felica(target)
        @unknown default: return picc
        }
    }
}
