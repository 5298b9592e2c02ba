// SPDX-License-Identifier: Apache-2.0

package import Kazasu

/// Applies `--redact` to frames to and from a FeliCa card that a command prints: the card's IDm and the blocks with its
/// owner's numbers. It also teaches the gate what not to let through.
package final class FrameRedaction {
    package let redaction: Redaction
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

    /// Teaches the gate the card and the blocks in an exchange.
    package func learn(_ entry: TranscriptEntry) {
        guard redaction.isOn else { return }
        switch entry.event {
        case .activate(_, .success(let picc)):
            self.picc = picc
            if let picc { RedactionGate.shared.learn(CardIdentity(picc)) }
        case .transceive(let frame, _, .success(let answer)) where picc?.technology ?? .felica == .felica:
            _ = Self.masked(answer, to: frame)
        case .activate, .transceive: break
        }
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
        switch FrameRedaction.code(of: frame) {
        case .readWithoutEncryption?: masked(frame)
        // The written data belongs to the user.
        case .writeWithoutEncryption?: masked(FrameRedaction.cleared(frame, from: FrameRedaction.blocks(of: frame)))
        case let code? where FrameRedaction.harmless.contains(code): masked(frame)
        default: masked(FrameRedaction.cleared(frame, from: FrameRedaction.header))
        }
    }

    private func maskedAnswer(_ answer: [UInt8], to frame: [UInt8]) -> [UInt8] {
        switch FrameRedaction.code(of: frame) {
        case .readWithoutEncryption?:
            masked(FrameRedaction.masked(answer, to: frame))
        case .writeWithoutEncryption?: masked(answer)
        case let code? where FrameRedaction.harmless.contains(code): masked(answer)
        default: masked(FrameRedaction.cleared(answer, from: FrameRedaction.headerWithFlags))
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

/// Applies `--redact` to APDUs that a command prints: the content of files is unknown.
enum APDURedaction {
    /// A command without the data that it writes.
    package static func command(_ frame: [UInt8]) -> [UInt8] {
        guard frame.count > 5 else { return frame }
        switch Instruction(rawValue: frame[1] & 0xFE) {
        case .updateBinary, .updateRecord, .writeBinary: return FrameRedaction.cleared(frame, from: 5)
        default: return frame
        }
    }
}
