// SPDX-License-Identifier: Apache-2.0

/// One thing that goes wrong in the air.
public enum Fault: Hashable, Sendable {
    /// The answer does not reach the reader; the card has done what was asked all the same.
    case silence
    /// The card is not in the field, and has lost its power.
    case absent
    /// The answer arrives damaged; the chip reports this PN53x status (02 CRC, 03 parity, 05 framing, 06 collision).
    case damaged(status: UInt8)
    /// Byte `offset` of the answer, counted from 0, is combined with `mask` by exclusive or; an offset past the end
    /// counts from the front again.
    case flipped(offset: Int, mask: UInt8)
    /// Only the first bytes of the answer arrive; the LEN byte stays as it was.
    case truncated(to: Int)
    /// Bytes follow the answer that do not belong to it; the LEN byte stays as it was.
    case lengthened(by: [UInt8])
    /// The answer carries the IDm of some other card: its last byte differs.
    case otherIDm
    /// The response code is not the command code plus one.
    case wrongResponseCode
    /// The count byte of the answer is one too high: the number of blocks, nodes or systems. Answers without a count
    /// stay as they are.
    case wrongCount
    /// The card takes this much longer.
    case late(Duration)
    /// The answer is another one.
    case replaced(by: [UInt8])

    /// Whether it is the answer that changes; else the answer, or the card, is lost for the reader.
    var changesAnswer: Bool {
        switch self {
        case .silence, .absent, .damaged: false
        default: true
        }
    }

    /// What becomes of an answer.
    func applied(to answer: CardAnswer) -> FieldOutcome {
        var changed = answer
        switch self {
        case .silence, .absent: return .silence
        case .damaged(let status): return .damaged(status: status)
        case .flipped(let offset, let mask):
            if !answer.frame.isEmpty, offset >= 0 { changed.frame[offset % answer.frame.count] ^= mask }
        case .truncated(let length): changed.frame = Array(answer.frame.prefix(max(0, length)))
        case .lengthened(let bytes): changed.frame += bytes
        case .otherIDm: if answer.frame.count > 9 { changed.frame[9] ^= 0xFF }
        case .wrongResponseCode: if answer.frame.count > 1 { changed.frame[1] ^= 0x20 }
        case .wrongCount:
            if let offset = Fault.countOffset(in: answer.frame) { changed.frame[offset] &+= 1 }
        case .late(let duration): changed.thinkingTime += duration
        case .replaced(let bytes): changed.frame = bytes
        }
        return .answer(changed)
    }

    /// Where the count stands: after the IDm, or after the status flags that follow it.
    private static func countOffset(in frame: [UInt8]) -> Int? {
        guard frame.count > 10 else { return nil }
        let offset: Int? =
            switch frame[1] {
            case 0x03, 0x0D, 0x0F: 10
            case 0x07, 0x1F, 0x29: 12
            case 0x33: 13
            default: nil
            }
        return offset.flatMap { $0 < frame.count ? $0 : nil }
    }
}
