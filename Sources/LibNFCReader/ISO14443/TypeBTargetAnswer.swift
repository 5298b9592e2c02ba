// SPDX-License-Identifier: Apache-2.0

internal import ByteCodec
internal import NFCTransport

/// What InListPassiveTarget answers for type B: the number of targets, and for one its number, the ATQB of 12 bytes
/// (`50 PUPI AppData ProtInfo`), and the card's answer to ATTRIB with its length.
///
/// Layout as libnfc 1.8.0 (`pn53x_decode_target_data`) and nfcpy read it.
enum TypeBTargetAnswer {
    /// - Returns: the card, or `nil` for no target.
    /// - Throws: ``TransportError/corrupted(status:)`` when the answer is none of these.
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
