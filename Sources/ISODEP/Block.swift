// SPDX-License-Identifier: Apache-2.0

/// A block of ISO 14443-4, 7.1, without its CRC.
enum Block: Hashable, Sendable {
    /// An I-block: data; `more` when the next one goes on.
    case information(number: UInt8, [UInt8], more: Bool)
    /// An R(ACK) block.
    case acknowledge(number: UInt8)
    /// An R(NAK) block.
    case refuse(number: UInt8)
    /// An S(WTX) block with its multiplier, 1 to 59.
    case waitingTimeExtension(UInt8)
    /// An S(DESELECT) block.
    case deselect

    private static let cidFollows: UInt8 = 0x08

    /// The bytes, with a card identifier when there is one.
    func encoded(cid: UInt8?) -> [UInt8] {
        let (pcb, content): (UInt8, [UInt8]) =
            switch self {
            case .information(let number, let data, let more): (0x02 | (more ? 0x10 : 0) | number & 1, data)
            case .acknowledge(let number): (0xA2 | number & 1, [])
            case .refuse(let number): (0xB2 | number & 1, [])
            case .waitingTimeExtension(let multiplier): (0xF2, [multiplier & 0x3F])
            case .deselect: (0xC2, [])
            }
        guard let cid else { return [pcb] + content }
        return [pcb | Self.cidFollows, cid & 0x0F] + content
    }

    /// Reads a block.
    ///
    /// - Parameter cid: the card's identifier; `nil` when none was given to it, which is as good as 0.
    /// - Returns: `nil` when it is no valid block, or another card's.
    init?(_ bytes: [UInt8], cid: UInt8?) {
        guard let pcb = bytes.first else { return nil }
        var content = bytes.dropFirst()
        if pcb & Self.cidFollows != 0 {
            guard let other = content.popFirst(), other & 0x0F == cid ?? 0 else { return nil }
        } else if let cid, cid != 0 {
            return nil
        }
        let number = pcb & 1
        // Bit 3 of I-blocks would be a node address, which no reader asks for.
        switch pcb & ~(Self.cidFollows | 1) {
        case 0x02: self = .information(number: number, Array(content), more: false)
        case 0x12: self = .information(number: number, Array(content), more: true)
        case 0xA2 where content.isEmpty: self = .acknowledge(number: number)
        case 0xB2 where content.isEmpty: self = .refuse(number: number)
        case 0xF2 where number == 0:
            guard content.count == 1, let multiplier = content.first.map({ $0 & 0x3F }), (1...59).contains(multiplier)
            else { return nil }
            self = .waitingTimeExtension(multiplier)
        case 0xC2 where number == 0 && content.isEmpty: self = .deselect
        default: return nil
        }
    }
}
