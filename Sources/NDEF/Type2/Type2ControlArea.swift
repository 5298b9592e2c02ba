// SPDX-License-Identifier: Apache-2.0

/// What a Lock Control or Memory Control block points at.
///
/// Value: page address (high nibble) and byte offset (low nibble); size, 00 for 256, in bits for locks and in bytes for
/// memory; low nibble n: 2ⁿ bytes a page, high nibble m: 2ᵐ bytes that one bit locks. The address is page · 2ⁿ + offset.
/// Source: NFC Forum Type 2 Tag 1.0, §2.3.
public struct Type2ControlArea: Hashable, Sendable {
    /// The addresses of the bytes.
    public let addresses: Range<Int>
    /// How many lock bits there are; `nil` for memory.
    public let lockBits: Int?
    /// How many bytes of the data area one bit locks; `nil` for memory.
    public let bytesPerLockBit: Int?

    /// Takes a block; `nil` when it is no control block, or a broken one, which is to be passed over.
    public init?(_ tlv: Type2TLV) {
        guard tlv.tag == .lockControl || tlv.tag == .memoryControl, tlv.value.count == 3 else { return nil }
        let (position, count, units) = (tlv.value[0], Int(tlv.value[1]), tlv.value[2])
        let size = count == 0 ? 256 : count
        let start = Int(position >> 4) << Int(units & 0x0F) + Int(position & 0x0F)
        let isLock = tlv.tag == .lockControl
        addresses = start..<start + (isLock ? (size + 7) / 8 : size)
        lockBits = isLock ? size : nil
        bytesPerLockBit = isLock ? 1 << Int(units >> 4) : nil
    }
}
