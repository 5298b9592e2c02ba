// SPDX-License-Identifier: Apache-2.0

import ReaderCore
internal import VirtualCards

/// The registers that a host reads and writes, including the few that affect a simulated radio.
///
/// Addresses and bits as nfcpy (`nfc/clf/pn53x.py`) and libnfc (`libnfc/chips/pn53x-internal.h`) use them.
struct RegisterFile: Sendable {
    private static let txMode: UInt16 = 0x6302
    private static let rxMode: UInt16 = 0x6303
    private static let txControl: UInt16 = 0x6304
    private static let fifoData: UInt16 = 0x6339
    private static let control: UInt16 = 0x633C
    private static let bitFraming: UInt16 = 0x633D

    private var values: [UInt16: UInt8] = [:]

    /// The value of a register; 00 where nothing was written.
    subscript(_ address: UInt16) -> UInt8 {
        get { values[address] ?? 0 }
        set { values[address] = newValue }
    }

    /// Whether the antenna is driven: both driver bits of TxControl.
    var isFieldOn: Bool {
        get { self[Self.txControl] & 0x03 != 0 }
        set { self[Self.txControl] = self[Self.txControl] & ~0x03 | (newValue ? 0x03 : 0) }
    }

    /// The technology of sent frames: framing bits 0 are type A, 3 type B.
    var technology: RadioTechnology? {
        guard sentSpeed <= ISOBitRate.kbps848.rawValue else { return nil }
        return switch self[Self.txMode] & 0x03 {
        case 0x00: .typeA
        case 0x03: .typeB
        default: feliCaBitRate.map { .felica($0) }
        }
    }

    private var sentSpeed: UInt8 { self[Self.txMode] >> 4 & 0x07 }

    /// The speed of sent frames of types A and B; 106 kbit/s for FeliCa, whose speed is in its technology.
    func sentBitRate(_ technology: RadioTechnology) -> ISOBitRate {
        if case .felica = technology { return .kbps106 }
        return ISOBitRate(rawValue: sentSpeed) ?? .kbps106
    }

    /// The speed at which answers are heard.
    func receivedBitRate(_ technology: RadioTechnology) -> ISOBitRate? {
        if case .felica = technology { return .kbps106 }
        return ISOBitRate(rawValue: self[Self.rxMode] >> 4 & 0x07)
    }

    /// The number of sent bits of the last byte: TxLastBits of BitFraming, whose 0 means all eight.
    var transmittedBits: Int {
        let bits = Int(self[Self.bitFraming] & 0x07)
        return bits == 0 ? 8 : bits
    }

    /// The number of received bits of the last byte: RxLastBits of Control.
    var receivedBits: Int {
        get { self[Self.control] & 0x07 == 0 ? 8 : Int(self[Self.control] & 0x07) }
        set { self[Self.control] = self[Self.control] & ~0x07 | UInt8(truncatingIfNeeded: newValue) & 0x07 }
    }

    /// The speed of sent FeliCa frames, or `nil` when they are not FeliCa frames.
    var feliCaBitRate: FeliCaBitRate? {
        let mode = self[Self.txMode]
        guard mode & 0x03 == 0x02 else { return nil }
        switch mode >> 4 & 0x07 {
        case 1: return .kbps212
        case 2: return .kbps424
        default: return nil
        }
    }

    /// Whether the chip appends the CRC to sent frames.
    var appendsChecksum: Bool { self[Self.txMode] & 0x80 != 0 }

    /// Whether the chip checks and removes the CRC of received frames.
    var removesChecksum: Bool { self[Self.rxMode] & 0x80 != 0 }

    /// Sets the firmware's values for sending to a FeliCa card: speed, framing, CRC on.
    mutating func prepareFeliCa(_ bitRate: FeliCaBitRate) {
        let mode: UInt8 = bitRate == .kbps212 ? 0x92 : 0xA2
        self[Self.txMode] = mode
        self[Self.rxMode] = mode
    }

    /// Sets the values that remain after a search for Type A cards without an answer. A host that finds the REQA still
    /// in the FIFO concludes that nothing answered (nfcpy does).
    mutating func leaveRequestA() {
        isFieldOn = true
        self[Self.txMode] = 0x00
        self[Self.rxMode] = 0x00
        self[Self.fifoData] = 0x26
    }

    /// Sets the firmware's values for sending to a card of type A: 106 kbit/s, framing, CRC on.
    mutating func prepareTypeA() {
        self[Self.txMode] = 0x80
        self[Self.rxMode] = 0x80
        self[Self.bitFraming] = 0x00
    }

    /// Sets the firmware's values for a card in ISO-DEP, at the speeds agreed with it.
    mutating func prepare(for session: ISODEPSession) {
        if session.technology == .typeA { prepareTypeA() } else { prepareTypeB() }
        self[Self.txMode] |= session.rates.toCard.rawValue << 4
        self[Self.rxMode] |= session.rates.fromCard.rawValue << 4
    }

    /// Sets the firmware's values for polling for Type B cards: 106 kbit/s, framing, CRC on.
    mutating func prepareTypeB() {
        isFieldOn = true
        self[Self.txMode] = 0x83
        self[Self.rxMode] = 0x83
    }
}

/// The port pins, as last set by the host.
struct GPIOPins: Sendable {
    /// P30 to P35; high unless pulled down.
    var p3: UInt8 = 0x3F
    /// P71 and P72.
    var p7: UInt8 = 0x06

    /// Applies WriteGPIO's parameters: a byte counts when its bit 7 is set.
    mutating func write(p3 first: UInt8, p7 second: UInt8) {
        if first & 0x80 != 0 { p3 = first & 0x3F }
        if second & 0x80 != 0 { p7 = second & 0x06 }
    }
}
