// SPDX-License-Identifier: Apache-2.0

internal import ReaderCore
internal import VirtualReader

/// The settings of a Port-400: its session, its protocol and its speed.
struct Port400Session: Sendable {
    var isOpen = false
    var isFieldOn = false
    /// Whether the field was off since the session began: cards that the reader itself looked for before do not answer
    /// until then (EspUsbHost).
    var wasFieldOff = false
    /// Standard and layer, as the host selected them.
    private(set) var selector: [UInt8]?
    /// The card of type A or B that the reader has selected: its UID or PUPI.
    var selectedCard: [UInt8]?
    var speed: UInt8 = 0x89
    /// The reader keeps the flags of the last exchange.
    private var flags: UInt16 = 0
    private var lastByteBits = 0

    /// Switch Protocol.
    ///
    /// - Returns: whether the reader supports it.
    mutating func select(_ selector: [UInt8]) -> Bool {
        guard [[3, 0], [3, 1], [0, 3], [1, 3]].contains(selector) else { return false }
        self.selector = selector
        selectedCard = nil
        return true
    }

    /// Returns a host's frame as sent into the air; `nil` when the reader would not send it in this form.
    mutating func frame(_ exchange: Port400Exchange) -> RadioFrame? {
        flags = exchange.flags ?? flags
        lastByteBits = exchange.lastByteBits ?? lastByteBits
        guard selector != nil, !exchange.frame.isEmpty else { return nil }
        let bytes = exchange.frame
        let bits = lastByteBits == 0 ? 8 : lastByteBits
        let hasCRC = flags & 0x01 == 0
        switch technology {
        case .felica where flags & 0x1C == 0x1C || flags & 0x1C == 0:
            return RadioFrame(technology, bytes, lastByteBits: bits, hasCRC: hasCRC)
        case .typeA where flags & 0x1C == 0x10 || flags & 0x1C == 0, .typeB where flags & 0x1C == 0x1C:
            return RadioFrame(technology, bytes, lastByteBits: bits, hasCRC: hasCRC)
        default: return nil
        }
    }

    /// Returns a card's answer as the host gets it; `nil` when the reader expects a CRC that is missing.
    func received(_ answer: CardAnswer) -> [UInt8]? {
        guard flags & 0x02 != 0 else { return answer.hasCRC ? answer.frame : nil }
        guard answer.hasCRC else { return answer.frame }
        return answer.frame + Checksum.bytes(of: answer.frame, technology)
    }

    private var technology: RadioTechnology {
        switch selector?.first {
        case 0: .typeA
        case 1: .typeB
        default: .felica(speed == 0x92 ? .kbps424 : .kbps212)
        }
    }
}
