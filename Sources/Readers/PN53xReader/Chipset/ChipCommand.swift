// SPDX-License-Identifier: Apache-2.0

internal import ByteCodec
internal import CardModel
internal import ISODEP
internal import ReaderCore

/// Raw PN53x commands, starting with the command code; the transport adds the frame.
///
/// Codes as in libnfc's `pn53x-internal.h` and nfcpy's `pn53x.py`.
enum ChipCommand {
    /// Whether the answer to a command begins with the chip's status, as for commands that involve a card. (libnfc
    /// 1.8.0, `pn53x_transceive`; PN532 user manual UM0701-02, 7.3)
    static func answersWithStatus(_ command: [UInt8]) -> Bool {
        switch command.first {
        case 0x40, 0x42, 0x44, 0x46, 0x4E, 0x50, 0x52, 0x54, 0x56: true
        default: false
        }
    }

    /// SAMConfiguration: no security module. Leaves the mode in which a chip on a serial line starts and that accepts
    /// nothing else (PN532 user manual UM0701-02, 7.2.10).
    static let normalMode: [UInt8] = [0x14, 0x01]

    static let firmwareVersion: [UInt8] = [0x02]
    /// Diagnose 00, the communication line test: the chip answers with the 00 and these bytes.
    static func lineTest(_ bytes: [UInt8]) -> [UInt8] {
        [0x00, 0x00] + bytes
    }

    /// InRelease of all targets.
    static let release: [UInt8] = [0x52, 0x00]
    /// RFConfiguration item 1: field off.
    static let fieldOff: [UInt8] = [0x32, 0x01, 0x00]
    /// RFConfiguration item 1: field on.
    static let fieldOn: [UInt8] = [0x32, 0x01, 0x01]

    /// RFConfiguration item 5: how many times the chip repeats a request without an answer.
    ///
    /// None for FeliCa and type A, where NP_INFINITE_SELECT switched off would leave two repeats: a search for a card
    /// is repeated anyway, and a system that a card does not have costs one Polling. Twice for type B, which PN532
    /// boards do not find otherwise (libnfc#342, #512).
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

    /// WriteRegister CIU_RxMode: 106 kbit/s, type A, with the received CRC kept and not checked. The chip reports the
    /// four-bit ACK of a Type 2 Tag as a CRC error otherwise (nfcpy `clf/pn53x.py`).
    static let keepChecksum: [UInt8] = [0x08, 0x63, 0x03, 0x00]

    /// The same with the CRC checked and removed, as InDataExchange expects it of MIFARE Classic.
    static let checkChecksum: [UInt8] = [0x08, 0x63, 0x03, 0x80]

    static let exchangeDataCode: UInt8 = 0x40
    /// Set in a status: the same command, without data, fetches more of the card's answer.
    static let moreInformation: UInt8 = 0x40

    /// InDataExchange with target 1: the frame, or a part of it that is followed by more.
    static func exchangeData(_ part: some Sequence<UInt8>, moreFollows: Bool = false) -> [UInt8] {
        [exchangeDataCode, moreFollows ? 0x41 : 0x01] + part
    }

    /// InPSL for target 1: the chip changes the speeds by PPS (PN532 user manual UM0701-02, InPSL). libnfc sends it for any speed
    /// above 106 kbit/s, and libfreefare always asked for 424 (libfreefare#110).
    static func bitRates(_ rates: CardBitRates.Choice) -> [UInt8] {
        [0x4E, 0x01, rates.toCard, rates.fromCard]
    }

    /// SetSerialBaudRate; it takes effect with the host's ACK to its answer.
    static func serialSpeed(_ speed: LineSpeed) -> [UInt8] {
        [0x10, speed.code]
    }

    /// InCommunicateThru: the frame goes to the card unchanged, the chip adds and checks the CRC.
    static func communicateThru(_ frame: [UInt8]) -> [UInt8] {
        [0x42] + frame
    }

    /// InListPassiveTarget for one FeliCa card: the Polling without its LEN byte.
    static func listFeliCa(_ polling: FeliCaPolling, at bitRate: FeliCaBitRate) -> [UInt8] {
        [0x4A, 0x01, bitRate == .kbps212 ? 0x01 : 0x02] + polling.frame.dropFirst()
    }
}

extension FeliCaPolling {
    /// Reads the answer to InListPassiveTarget: the number of targets, and for one its number and its answer to the
    /// Polling.
    ///
    /// Read here and not by libnfc, which always copies 18 bytes from its buffer even if the chip sent fewer.
    ///
    /// - Returns: the card, or `nil` for no target.
    /// - Throws: ``TransportError/corrupted(status:)`` when the answer has another form.
    func target(inList answer: [UInt8], bitRate: FeliCaBitRate) throws(TransportError) -> FeliCaTarget? {
        answer.first == 0 ? nil : try target(from: answer.dropFirst(2), bitRate: bitRate)
    }
}

extension TransportError {
    /// The status of an answer that was damaged on its way from the reader, while the chip reported no error.
    static let damagedBeyondTheChip: UInt8 = 0x00
}

/// The answer to InListPassiveTarget for type A: the number of targets, and for one the fields of the target. They are
/// its number, ATQA, SAK, UID with its length, and the ATS with its length byte when the chip sent RATS.
///
/// Layout as in libnfc 1.8.0 (`pn53x_decode_target_data`) and nfcpy; parsed here, because libnfc copies as many bytes
/// as the card's lengths say.
enum TypeATargetAnswer {
    /// Parses an answer.
    ///
    /// - Parameter isPN531: whether the chip is a PN531, which gives the ATQA with its low byte first and leaves the
    ///   cascade tags in the UID.
    /// - Returns: the card, or `nil` for no target.
    /// - Throws: ``TransportError/corrupted(status:)`` when the answer has another form.
    static func parse(_ bytes: [UInt8], isPN531: Bool = false) throws(TransportError) -> TypeATarget? {
        var reader = ByteReader(bytes)
        do throws(ByteCodecError) {
            guard try reader.readUInt8() != 0 else { return nil }
            _ = try reader.readUInt8()
            let atqa = try reader.readUInt16(isPN531 ? .little : .big)
            let sak = try reader.readUInt8()
            let length = try reader.readUInt8()
            let uid = try identifier(Array(reader.readBytes(Int(length))))
            guard reader.remaining > 0 else {
                return TypeATarget(uid: uid, atqa: atqa, sak: sak, isISODEP: false)
            }
            let ats = try answerToSelect(&reader)
            return TypeATarget(uid: uid, atqa: atqa, sak: sak, ats: ats, isISODEP: true)
        } catch {
            throw TransportError.corrupted(status: TransportError.damagedBeyondTheChip)
        }
    }

    /// A UID of 4, 7 or 10 bytes, extracted from 8 or 12 when its cascade tags (88) are still in it.
    private static func identifier(_ bytes: [UInt8]) throws(ByteCodecError) -> [UInt8] {
        switch bytes.count {
        case 4, 7, 10: return bytes
        case 8 where bytes[0] == 0x88: return Array(bytes[1...])
        case 12 where bytes[0] == 0x88 && bytes[4] == 0x88: return Array(bytes[1...3] + bytes[5...])
        default: throw .tooShort(offset: 0, missing: 0)
        }
    }

    private static func answerToSelect(_ reader: inout ByteReader) throws(ByteCodecError) -> [UInt8] {
        let length = try reader.readUInt8()
        guard length > 0 else { throw .tooShort(offset: 0, missing: 0) }
        return [length] + (try reader.readBytes(Int(length) - 1))
    }
}

/// The answer to InListPassiveTarget for type B: the number of targets, and for one the fields of the target. They are
/// its number, the ATQB of 12 bytes (`50 PUPI AppData ProtInfo`), and the card's answer to ATTRIB with its length.
///
/// Layout as in libnfc 1.8.0 (`pn53x_decode_target_data`) and nfcpy.
enum TypeBTargetAnswer {
    /// - Returns: the card, or `nil` for no target.
    /// - Throws: ``TransportError/corrupted(status:)`` when the answer has another form.
    static func parse(_ bytes: [UInt8]) throws(TransportError) -> TypeBTarget? {
        var reader = ByteReader(bytes)
        do throws(ByteCodecError) {
            guard try reader.readUInt8() != 0 else { return nil }
            _ = try reader.readUInt8()
            guard try reader.readUInt8() == 0x50 else { throw .tooShort(offset: 0, missing: 0) }
            return TypeBTarget(
                pupi: Array(try reader.readBytes(4)), applicationData: Array(try reader.readBytes(4)),
                protocolInfo: Array(try reader.readBytes(3)))
        } catch {
            throw TransportError.corrupted(status: TransportError.damagedBeyondTheChip)
        }
    }
}
