// SPDX-License-Identifier: Apache-2.0

/// The blocks that one command reads or writes, in order.
public struct BlockList: Hashable, Sendable, ExpressibleByArrayLiteral {
    /// The blocks, each with the index of its service.
    public var elements: [BlockListElement]

    /// Makes a list of these elements.
    public init(_ elements: [BlockListElement]) {
        self.elements = elements
    }

    /// Makes a list of these elements.
    public init(arrayLiteral elements: BlockListElement...) {
        self.elements = elements
    }

    /// Makes a list of these blocks of one service, in this order.
    ///
    /// - Parameters:
    ///   - serviceIndex: the index of the service in the Service Code List, 0 to 15.
    ///   - numbers: the numbers of the blocks.
    /// Makes an element; a command checks that the list of services has one at `serviceIndex`.
    public init(serviceIndex: Int = 0, numbers: some Sequence<UInt16>) {
        elements = numbers.map { BlockListElement(serviceIndex: serviceIndex, number: $0) }
    }

    /// The number of elements.
    public var count: Int { elements.count }

    /// The bytes on the wire, without the preceding count.
    package var bytes: [UInt8] { elements.flatMap(\.bytes) }

    /// Checks the number of elements and that each names one of `serviceCount` services.
    func validate(serviceCount: Int, allowed: ClosedRange<Int>) throws(FeliCaError) {
        guard allowed.contains(count) else {
            throw .invalidArgument(.count(.blocks, count, allowed: allowed))
        }
        for (place, element) in elements.enumerated() where !(0..<serviceCount).contains(element.serviceIndex) {
            throw .invalidArgument(.serviceIndex(element.serviceIndex, element: place))
        }
    }
}

/// One entry of a Block List: a block of one of the services in the Service Code List.
///
/// On the wire, it takes two bytes for block numbers up to 255 (bit 7 of the first set) and three above, with the
/// number then least significant byte first. Source: nfcpy `BlockCode`, the unofficial user's manual.
public struct BlockListElement: Hashable, Sendable {
    /// The index in the Service Code List, counted from 0; the wire has room for 0 to 15.
    public var serviceIndex: Int
    /// The block's number in the service.
    public var number: UInt16
    /// How the block is accessed.
    public var accessMode: AccessMode

    /// Makes an element; a command checks that the list of services has one at `serviceIndex`.
    public init(serviceIndex: Int = 0, number: UInt16, accessMode: AccessMode = .normal) {
        self.serviceIndex = serviceIndex
        self.number = number
        self.accessMode = accessMode
    }

    /// The two or three bytes on the wire.
    ///
    /// Only the low four bits of the service index are written, so a command checks it first.
    package var bytes: [UInt8] {
        let head = accessMode.rawValue << 4 | UInt8(truncatingIfNeeded: serviceIndex & 0x0F)
        let low = UInt8(truncatingIfNeeded: number)
        return number <= 0xFF ? [0x80 | head, low] : [head, low, UInt8(truncatingIfNeeded: number >> 8)]
    }
}

/// The access mode of a Block List element, three bits.
public struct AccessMode: RawRepresentable, Hashable, Sendable {
    /// The three bits, 0 to 7.
    public let rawValue: UInt8

    /// Makes a mode from its three bits; otherwise `nil`.
    public init?(rawValue: UInt8) {
        guard rawValue <= 7 else { return nil }
        self.rawValue = rawValue
    }

    private init(bits: UInt8) {
        rawValue = bits
    }

    /// `000`: reading, writing, decrementing a purse.
    public static let normal = AccessMode(bits: 0)
    /// `001`: refunding to a purse (cashback).
    public static let cashback = AccessMode(bits: 1)
    /// `100`: changing the DES key of a node; the element's number is the version of the new key.
    package static let keyChange = AccessMode(bits: 4)
}
