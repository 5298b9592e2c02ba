// SPDX-License-Identifier: Apache-2.0

internal import ByteCodec
internal import NFCTransport

/// What InListPassiveTarget answers for type A: the number of targets, and for one its number, ATQA, SAK, UID with
/// its length, and the ATS with its length byte when the chip sent RATS.
///
/// Layout as libnfc 1.8.0 (`pn53x_decode_target_data`) and nfcpy read it; read by hand, because libnfc copies as many
/// bytes as the card's lengths say.
enum TypeATargetAnswer {
    /// Reads an answer.
    ///
    /// - Parameter isPN531: whether the chip is a PN531, which gives the ATQA with its low byte first and leaves the
    ///   cascade tags in the UID.
    /// - Returns: the card, or `nil` for no target.
    /// - Throws: ``TransportError/corrupted(status:)`` when the answer is none of these.
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

    /// A UID of 4, 7 or 10 bytes, out of 8 or 12 when its cascade tags (88) are still in it.
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
