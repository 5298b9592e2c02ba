// SPDX-License-Identifier: Apache-2.0

internal import ByteCodec
internal import CardModel
internal import NFCTransport

/// A card's answer to a Polling: `12 01 IDm PMm`, or LEN 14 with two bytes of request data.
enum PollingAnswer {
    /// - Throws: ``TransportError/corrupted(status:)`` when it is none.
    static func parse(_ packet: [UInt8], bitRate: FeliCaBitRate) throws(TransportError) -> FeliCaTarget {
        var reader = ByteReader(packet)
        do throws(ByteCodecError) {
            let length = try reader.readUInt8()
            guard [0x12, 0x14].contains(length), packet.count == Int(length), try reader.readUInt8() == 0x01 else {
                throw .tooShort(offset: 0, missing: 0)
            }
            return FeliCaTarget(
                idm: IDm(rawValue: try reader.readUInt64(.big)), pmm: PMm(rawValue: try reader.readUInt64(.big)),
                requestData: packet.count == 20 ? try reader.readUInt16(.big) : nil, bitRate: bitRate)
        } catch {
            throw TransportError.corrupted(status: 0)
        }
    }
}
