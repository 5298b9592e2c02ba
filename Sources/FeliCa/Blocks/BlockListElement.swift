// SPDX-License-Identifier: Apache-2.0

/// One entry of a Block List: a block of one of the services in the Service Code List.
///
/// On the wire two bytes for block numbers up to 255 (bit 7 of the first set) and three above, the number then least
/// significant byte first. Source: nfcpy `BlockCode`, the unofficial user's manual.
public struct BlockListElement: Hashable, Sendable {
    /// Which service of the Service Code List, counted from 0; the wire has room for 0 to 15.
    public var serviceIndex: Int
    /// The block's number in the service.
    public var number: UInt16
    /// How the block is accessed.
    public var accessMode: AccessMode

    /// A block of a service.
    public init(serviceIndex: Int = 0, number: UInt16, accessMode: AccessMode = .normal) {
        self.serviceIndex = serviceIndex
        self.number = number
        self.accessMode = accessMode
    }

    /// The two or three bytes on the wire; of the service index only the low four bits are written, so a command
    /// checks it first.
    public var bytes: [UInt8] {
        let head = accessMode.rawValue << 4 | UInt8(truncatingIfNeeded: serviceIndex & 0x0F)
        let low = UInt8(truncatingIfNeeded: number)
        return number <= 0xFF ? [0x80 | head, low] : [head, low, UInt8(truncatingIfNeeded: number >> 8)]
    }

    /// How many bytes ``bytes`` has.
    public var encodedLength: Int { number <= 0xFF ? 2 : 3 }
}
