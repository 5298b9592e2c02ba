// SPDX-License-Identifier: Apache-2.0

internal import ByteCodec

/// One element of a block list as it comes through the air.
struct BlockListElement: Hashable {
    /// Bits 6–4 of the first byte.
    var accessMode: UInt8
    /// Bits 3–0: a place in the service list.
    var serviceIndex: Int
    /// One byte when bit 7 is set, else two, least significant first.
    var number: UInt16

    init(_ parameters: inout ByteReader) throws(ByteCodecError) {
        let head = try parameters.readUInt8()
        accessMode = head >> 4 & 0x07
        serviceIndex = Int(head & 0x0F)
        number = head & 0x80 != 0 ? UInt16(try parameters.readUInt8()) : try parameters.readUInt16(.little)
    }
}
