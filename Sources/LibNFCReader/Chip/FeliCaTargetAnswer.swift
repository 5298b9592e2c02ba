// SPDX-License-Identifier: Apache-2.0

internal import ByteCodec
internal import CardModel
internal import NFCTransport

/// What InListPassiveTarget answers for FeliCa: the number of targets, and for one its number and its answer to the
/// Polling with LEN byte: `01 01 12 01 IDm PMm`, or LEN 14 with two bytes of request data.
///
/// Read by hand and not by libnfc, which copies 18 bytes from its buffer however few the chip sent.
enum FeliCaTargetAnswer {
    /// - Returns: the card, or `nil` for no target.
    /// - Throws: ``TransportError/corrupted(status:)`` when the answer is none of these.
    static func parse(_ bytes: [UInt8], bitRate: FeliCaBitRate) throws(TransportError) -> FeliCaTarget? {
        var reader = ByteReader(bytes)
        do throws(ByteCodecError) {
            guard try reader.readUInt8() != 0 else { return nil }
            _ = try reader.readUInt8()
            let length = try reader.readUInt8()
            let responseCode = try reader.readUInt8()
            guard length == 0x12 || length == 0x14, responseCode == 0x01 else { throw .tooShort(offset: 0, missing: 0) }
            let idm = try reader.readUInt64(.big)
            let pmm = try reader.readUInt64(.big)
            let requestData = length == 0x14 ? try reader.readUInt16(.big) : nil
            return FeliCaTarget(
                idm: IDm(rawValue: idm), pmm: PMm(rawValue: pmm), requestData: requestData, bitRate: bitRate)
        } catch {
            throw TransportError.corrupted(status: TransportError.damagedBeyondTheChip)
        }
    }
}

extension TransportError {
    /// The status of an answer that the chip found nothing wrong with: it was damaged on its way from the reader.
    static let damagedBeyondTheChip: UInt8 = 0x00
}
