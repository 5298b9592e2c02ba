// SPDX-License-Identifier: Apache-2.0

package import ReaderCore

/// One frame from a reader, without preamble, sync code, parity and start and end of frame.
package struct RadioFrame: Hashable, Sendable {
    /// The modulation and speed.
    package var technology: RadioTechnology
    /// FeliCa: the packet with its LEN byte. Types A and B: the bytes before the CRC.
    package var bytes: [UInt8]
    /// The number of bits of the last byte that are sent, 1 to 8: 7 for REQA (26) and WUPA (52).
    package var lastByteBits: Int
    /// Whether a CRC follows. Cards accept REQA, WUPA and the anticollision commands without one, anything else with
    /// one.
    package var hasCRC: Bool
    /// Whether it is a command of MIFARE Classic that the chip enciphers (Crypto1): it is then in plain text here, an
    /// authentication with the key and the last four bytes of the UID, a write with its data.
    package var isEnciphered = false
    /// The speed, for types A and B.
    package var bitRate = ISOBitRate.kbps106

    package init(_ technology: RadioTechnology, _ bytes: [UInt8], lastByteBits: Int = 8, hasCRC: Bool = true) {
        self.technology = technology
        self.bytes = bytes
        self.lastByteBits = lastByteBits
        self.hasCRC = hasCRC
    }

    /// Whether it is a REQA or WUPA, or another frame of seven bits.
    var isTypeARequest: Bool { technology == .typeA && lastByteBits == 7 && bytes.count == 1 }

    /// Whether it is a REQA, WUPA, REQB or WUPB, with which an activation begins.
    var looksForCards: Bool {
        isTypeARequest || technology == .typeB && bytes.count == 3 && bytes[0] == TypeBCommand.request
    }

    /// The key for fault plans: the second byte of a FeliCa packet, the first of other frames.
    var commandCode: UInt8? {
        if case .felica = technology { bytes.count > 1 ? bytes[1] : nil } else { bytes.first }
    }
}

/// The field over a simulated antenna, as seen by a chip: it sends frames and receives answers or none.
///
/// A chip calls it on its own thread, so it can be inspected meanwhile only when it guards its records.
package protocol RadioField: AnyObject, Sendable {
    /// Sends one frame.
    func exchange(_ frame: RadioFrame) -> FieldResult

    /// The carrier went off: every card loses its power.
    func switchOff()

    /// The carrier went on before the first frame. A frame switches it on as well.
    func switchOn()

    /// The host let this time pass.
    func pass(_ time: Duration)

    /// The oddities of the reader that is simulated over this field.
    var readerQuirks: ReaderQuirks { get }
}

extension RadioField {
    /// Does nothing: the content of the field is unknown.
    package func switchOn() {}

    /// Does nothing: there is no clock.
    package func pass(_ time: Duration) {}

    /// None.
    package var readerQuirks: ReaderQuirks { .none }

    /// Sends one FeliCa packet, LEN byte included, without preamble, sync code and CRC.
    package func exchange(_ frame: [UInt8], at bitRate: FeliCaBitRate) -> FieldResult {
        exchange(RadioFrame(.felica(bitRate), frame))
    }
}

/// The modulation and speed of a frame in the air.
package enum RadioTechnology: Hashable, Sendable {
    /// FeliCa at 212 or 424 kbit/s.
    case felica(FeliCaBitRate)
    /// ISO 14443 type A.
    case typeA
    /// ISO 14443 type B.
    case typeB
}

/// The speed of a frame of ISO 14443: 106 kbit/s, doubled `rawValue` times.
package enum ISOBitRate: UInt8, Hashable, Sendable {
    case kbps106, kbps212, kbps424, kbps848
}

/// The speeds of the two directions.
package struct ISOBitRates: Hashable, Sendable {
    package var toCard: ISOBitRate
    package var fromCard: ISOBitRate

    package init(toCard: ISOBitRate, fromCard: ISOBitRate) { (self.toCard, self.fromCard) = (toCard, fromCard) }

    /// Those after the selection.
    package static let initial = ISOBitRates(toCard: .kbps106, fromCard: .kbps106)
}

/// The speeds that a card supports.
struct SupportedBitRates: Hashable, Sendable {
    private var toCard: Set<ISOBitRate> = [.kbps106]
    private var fromCard: Set<ISOBitRate> = [.kbps106]
    private var isSymmetric = false

    /// Parses TA(1) of an ATS, or the first byte of the protocol info of an ATQB. Bit 4 is reserved; a byte that has it says
    /// nothing.
    init(code: UInt8) {
        guard code & 0x08 == 0 else { return }
        for rate in [ISOBitRate.kbps212, .kbps424, .kbps848] {
            let bit: UInt8 = 1 << (rate.rawValue - 1)
            if code & bit != 0 { toCard.insert(rate) }
            if code >> 4 & bit != 0 { fromCard.insert(rate) }
        }
        isSymmetric = code & 0x80 != 0
    }

    func contains(_ rates: ISOBitRates) -> Bool {
        toCard.contains(rates.toCard) && fromCard.contains(rates.fromCard)
            && (!isSymmetric || rates.toCard == rates.fromCard)
    }
}

/// The CRC of a frame on air, for any technology.
package enum Checksum {
    /// Returns the two bytes that follow a frame.
    package static func bytes(of frame: [UInt8], _ technology: RadioTechnology) -> [UInt8] {
        switch technology {
        case .felica: FeliCaChecksum.bytes(of: frame)
        case .typeA, .typeB: ISOChecksum.bytes(of: frame, technology)
        }
    }
}

/// The CRC of a FeliCa packet: polynomial 1021, start value 0000, most significant byte first
/// (proxmark3 `armsrc/felica.c`).
enum FeliCaChecksum {
    /// Returns the two bytes that follow a packet on air.
    static func bytes(of packet: some Sequence<UInt8>) -> [UInt8] {
        var crc: UInt16 = 0
        for byte in packet {
            crc ^= UInt16(byte) << 8
            for _ in 0..<8 { crc = crc & 0x8000 == 0 ? crc << 1 : crc << 1 ^ 0x1021 }
        }
        return [UInt8(truncatingIfNeeded: crc >> 8), UInt8(truncatingIfNeeded: crc)]
    }
}

/// The CRCs of ISO 14443: polynomial 8408, least significant bit first. Type A starts with 6363, type B with FFFF and
/// is inverted.
enum ISOChecksum {
    /// Returns the two bytes that follow a frame on air.
    static func bytes(of frame: some Sequence<UInt8>, _ technology: RadioTechnology) -> [UInt8] {
        var crc: UInt16 = technology == .typeB ? 0xFFFF : 0x6363
        for byte in frame {
            crc ^= UInt16(byte)
            for _ in 0..<8 { crc = crc & 1 == 0 ? crc >> 1 : crc >> 1 ^ 0x8408 }
        }
        if technology == .typeB { crc = ~crc }
        return [UInt8(truncatingIfNeeded: crc), UInt8(truncatingIfNeeded: crc >> 8)]
    }
}

/// The answer of a virtual card.
package struct CardAnswer: Hashable, Sendable {
    /// FeliCa: the packet with its LEN byte. Types A and B: the bytes before the CRC.
    package var frame: [UInt8]
    /// The number of bits of the last byte that are sent, 1 to 8: 4 for the ACK and NAK of a Type 2 Tag.
    package var lastByteBits: Int
    /// Whether a CRC follows: not after an ATQA, a UID or a four-bit ACK.
    package var hasCRC: Bool
    /// The time between the end of the command and the start of the answer; it is waited for only in the time model.
    package var thinkingTime: Duration
    /// The speed, for types A and B.
    package var bitRate = ISOBitRate.kbps106
    /// Whether it arrives damaged.
    package var isDamaged = false

    package init(_ frame: [UInt8], lastByteBits: Int = 8, hasCRC: Bool = true, thinkingTime: Duration = .zero) {
        self.frame = frame
        self.lastByteBits = lastByteBits
        self.hasCRC = hasCRC
        self.thinkingTime = thinkingTime
    }
}
