// SPDX-License-Identifier: Apache-2.0

internal import CardModel
internal import NFCTransport

/// Raw PN53x commands, from the command code on (libnfc adds the frame).
///
/// Codes as in libnfc's `pn53x-internal.h` and nfcpy's `pn53x.py`.
enum ChipCommand {
    /// GetFirmwareVersion.
    static let firmwareVersion: [UInt8] = [0x02]
    /// Diagnose 00, the test of the line: the chip answers with the 00 and these bytes.
    static func lineTest(_ bytes: [UInt8]) -> [UInt8] {
        [0x00, 0x00] + bytes
    }

    /// InRelease of all targets.
    static let release: [UInt8] = [0x52, 0x00]
    /// RFConfiguration item 1: field off.
    static let fieldOff: [UInt8] = [0x32, 0x01, 0x00]
    /// RFConfiguration item 1: field on.
    static let fieldOn: [UInt8] = [0x32, 0x01, 0x01]

    /// RFConfiguration item 5: how often the chip repeats a request that nobody answers.
    ///
    /// Not at all for FeliCa and type A, where NP_INFINITE_SELECT switched off would leave two repeats: who looks for a card
    /// asks again anyway, and a system that a card does not have costs one Polling. Twice for type B, which PN532 boards
    /// find none of otherwise (libnfc#342, #512).
    static func repeats(_ count: UInt8) -> [UInt8] {
        [0x32, 0x05, 0x00, count == 0 ? 0x01 : 0x00, count]
    }

    /// RFConfiguration item 2: 102.4 ms for an ATR answer (the start value), and this for every other answer.
    static func answerTimeout(_ timeout: ChipTimeout) -> [UInt8] {
        [0x32, 0x02, 0x00, 0x0B, timeout.code]
    }

    /// SetParameters: ATR_RES answered by the chip, as libnfc sets it, and RATS sent by the chip or not.
    static func automaticRATS(_ isOn: Bool) -> [UInt8] {
        [0x12, isOn ? 0x14 : 0x04]
    }

    /// InListPassiveTarget for one card of type A, at 106 kbit/s.
    static let listTypeA: [UInt8] = [0x4A, 0x01, 0x00]

    /// InListPassiveTarget for one card of type B of an application family, at 106 kbit/s. The chip sends ATTRIB.
    static func listTypeB(applicationFamily: UInt8) -> [UInt8] {
        [0x4A, 0x01, 0x03, applicationFamily]
    }

    /// WriteRegister CIU_RxMode: 106 kbit/s, type A, and the CRC of what comes left in and not checked. The chip
    /// reports the ACK of four bits of a Type 2 Tag as a CRC error otherwise (nfcpy `clf/pn53x.py`).
    static let keepChecksum: [UInt8] = [0x08, 0x63, 0x03, 0x00]

    /// InDataExchange with target 1: the frame, or a part of it that more follows after.
    static func exchangeData(_ part: some Sequence<UInt8>, moreFollows: Bool = false) -> [UInt8] {
        [0x40, moreFollows ? 0x41 : 0x01] + part
    }

    /// SetSerialBaudRate; it takes effect with the host's ACK to its answer.
    static func serialSpeed(_ speed: LineSpeed) -> [UInt8] {
        [0x10, speed.code]
    }

    /// InCommunicateThru: the frame goes to the card as it is, the chip adds and checks the CRC.
    static func communicateThru(_ frame: [UInt8]) -> [UInt8] {
        [0x42] + frame
    }

    /// InListPassiveTarget for one FeliCa card; 5 bytes of initiator data, never more.
    static func listFeliCa(
        _ system: SystemCode, requestCode: UInt8, timeSlots: UInt8, bitRate: FeliCaBitRate
    ) -> [UInt8] {
        let modulation: UInt8 =
            switch bitRate {
            case .kbps212: 0x01
            case .kbps424: 0x02
            }
        let code = system.rawValue
        let systemCode = [UInt8(truncatingIfNeeded: code >> 8), UInt8(truncatingIfNeeded: code)]
        return [0x4A, 0x01, modulation, 0x00] + systemCode + [requestCode, timeSlots]
    }
}
