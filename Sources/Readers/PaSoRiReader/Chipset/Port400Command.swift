// SPDX-License-Identifier: Apache-2.0

internal import ByteCodec
internal import ReaderCore

/// The commands of a Port-400: pseudo-APDUs of PC/SC part 3 with Sony's instruction, 50 for C2.
///
/// Sources: felica-rs's `port400/pcsc.rs`, esp32-pasori-rcs300, pasorich's `s300-driver.js`.
enum Port400Command {
    /// Manage Session: start and end a transparent session, switch the field.
    enum Session: UInt8 {
        case start = 0x81
        case end = 0x82
        case fieldOff = 0x83
        case fieldOn = 0x84
    }

    /// Answered by the reader in any state.
    static let firmwareVersion: [UInt8] = [0xFF, 0x56, 0x00, 0x00]

    static func manageSession(_ action: Session) -> [UInt8] {
        manageSession([action.rawValue, 0x00])
    }

    /// The UID of the card that the switch to type A has selected. Without a card an RC-S300 answers 6F00, or 9000
    /// after an object C0 with 6401 (simple-attendance-with-pasori).
    static let uniqueID: [UInt8] = [0xFF, 0xCA, 0x00, 0x00]

    /// Sets the speed of FeliCa frames, in both directions; see ``Port400Protocol/speed``.
    static func speed(_ code: UInt8) -> [UInt8] {
        manageSession([0xFF, 0x6E, 0x03, 0x05, 0x01, code])
    }

    private static func manageSession(_ objects: [UInt8]) -> [UInt8] {
        [0xFF, 0x50, 0x00, 0x00, UInt8(truncatingIfNeeded: objects.count)] + objects + [0x00]
    }

    static func switchProtocol(_ cardProtocol: Port400Protocol) -> [UInt8] {
        [0xFF, 0x50, 0x00, 0x02, 0x04, 0x8F, 0x02] + cardProtocol.selector + [0x00]
    }

    /// Transparent Exchange: one frame to a card.
    ///
    /// The timer comes first: without it the reader sends nothing (EspUsbHost).
    ///
    /// - Parameters:
    ///   - microseconds: how long the card may take.
    ///   - flags: the reader's handling of the frame; it keeps them, so they are always sent.
    ///   - lastByteBits: the number of bits of the last byte that are sent, 1 to 8; `nil` to leave that unchanged.
    /// - Returns: the command, and the number of its data object with the frame, counted from 1.
    static func exchange(
        _ frame: [UInt8], microseconds: UInt32, flags: Port400Flags, lastByteBits: Int? = nil
    ) -> (command: [UInt8], frameObject: Int) {
        var objects = ByteWriter([0x5F, 0x46, 0x04])
        objects.write(microseconds, .little)
        objects.write(UInt8(0x90))
        objects.write(UInt8(0x02))
        objects.write(flags.rawValue, .big)
        if let lastByteBits {
            objects.write(UInt8(0x91))
            objects.write(UInt8(0x01))
            // As in PC/SC part 3, 0 stands for all eight.
            objects.write(UInt8(truncatingIfNeeded: lastByteBits & 0x07))
        }
        objects.write(UInt8(0x95))
        objects.write(UInt8(0x82))
        objects.write(UInt16(truncatingIfNeeded: frame.count), .big)
        var command = ByteWriter([0xFF, 0x50, 0x00, 0x01, 0x00])
        let bytes = objects.bytes + frame
        command.write(UInt16(truncatingIfNeeded: bytes.count), .big)
        return (command.bytes + bytes + [0x00, 0x00, 0x00], lastByteBits == nil ? 3 : 4)
    }
}

/// The transmission and reception flags (data object 90): the steps that the reader skips, two bytes, big-endian.
///
/// Source: felica-rs's `port400/pcsc.rs`.
struct Port400Flags: OptionSet, Hashable, Sendable {
    let rawValue: UInt16

    static let addsNoCRC = Port400Flags(rawValue: 0x01)
    static let keepsCRC = Port400Flags(rawValue: 0x02)
    static let addsNoParity = Port400Flags(rawValue: 0x04)
    static let checksNoParity = Port400Flags(rawValue: 0x08)
    static let addsNoPrologue = Port400Flags(rawValue: 0x10)

    /// A FeliCa packet: the reader adds and checks the CRC. ISO 14443 type B is the same.
    static let felica: Port400Flags = [.addsNoParity, .checksNoParity, .addsNoPrologue]
    /// A frame of ISO 14443 type A: CRC and parity by the reader, no block header.
    static let typeA: Port400Flags = [.addsNoPrologue]
}

/// The protocol of a Port-400's frames.
enum Port400Protocol: Hashable, Sendable {
    case felica(FeliCaBitRate)
    case typeA
    case typeB

    /// The value of data object 8F: the standard and the layer.
    ///
    /// FeliCa with a fixed speed and type A at layer 3 are as captured from RC-S300s; for type B layer 3 is from the
    /// command reference of the RC-S660/S.
    var selector: [UInt8] {
        switch self {
        case .felica: [0x03, 0x00]
        case .typeA: [0x00, 0x03]
        case .typeB: [0x01, 0x03]
        }
    }

    /// The code of a FeliCa speed, the same in both directions: `10 sss rrr` in bits, with 1 for 212 kbit/s, 3 for 848,
    /// so 2 for 424. `89` and `9B` are documented for the RC-S660/S; no program is known to send any to an RC-S300.
    var speed: UInt8? {
        switch self {
        case .felica(.kbps212): 0x89
        case .felica(.kbps424): 0x92
        case .typeA, .typeB: nil
        }
    }
}
