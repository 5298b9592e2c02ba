// SPDX-License-Identifier: Apache-2.0

/// The layout of a Type 2 Tag's data area, up to its first NDEF message or its end.
///
/// The scan visits each byte at most once, so no lengths or control blocks can make it long: a data area has at most
/// 2,040 bytes.
package struct Type2Layout: Hashable, Sendable {
    /// The blocks in order, without NULL blocks; the NDEF message is the last.
    package private(set) var blocks: [Type2TLV] = []
    /// The areas described by the control blocks.
    package private(set) var controlAreas: [Type2ControlArea] = []
    /// How the scan ended.
    package private(set) var end = End.dataArea
    /// The address for a new block: after the last block.
    package private(set) var freeAddress: Int
    private let dataArea: Range<Int>
    /// For each byte of the data area, whether a control block reserves it.
    private var isReserved: [Bool]

    /// How the scan ended.
    package enum End: Hashable, Sendable {
        /// At an NDEF message.
        case message
        case terminator
        /// At the end of the data area.
        case dataArea
        /// At a block whose length extends beyond the data area.
        case lengthBeyondEnd
        /// At a byte that could not be read.
        case unreadable(address: Int)
    }

    /// Scans the data area.
    ///
    /// - Parameters:
    ///   - capability: defines the location of the data area.
    ///   - byte: returns the byte at an address; `nil` when it cannot be read.
    /// - Throws: any error of `byte`.
    package init<Failure: Error>(
        _ capability: Type2Capability, byte: (Int) throws(Failure) -> UInt8?
    ) throws(Failure) {
        dataArea = capability.dataArea
        isReserved = [Bool](repeating: false, count: dataArea.count)
        freeAddress = dataArea.lowerBound
        var address = dataArea.lowerBound
        while let place = next(from: address) {
            guard let tag = try byte(place).map(Type2TLV.Tag.init) else {
                end = .unreadable(address: place)
                return
            }
            address = place + 1
            if tag == .null { continue }
            if tag == .terminator {
                end = .terminator
                return
            }
            guard let block = try block(tag, at: place, from: &address, byte) else { return }
            blocks.append(block)
            freeAddress = address
            if tag == .ndefMessage {
                end = .message
                return
            }
            if let area = Type2ControlArea(block) {
                controlAreas.append(area)
                for address in area.addresses.clamped(to: dataArea) { isReserved[address - dataArea.lowerBound] = true }
            }
        }
    }

    /// Determines the layout of pages that were read.
    package init(_ capability: Type2Capability, memory: Type2Memory) {
        self.init(capability) { memory.byte(at: $0) }
    }

    /// The first NDEF message.
    package var message: Type2TLV? { end == .message ? blocks.last : nil }

    /// Returns the addresses that hold data in the data area, from an address on.
    package func addresses(from address: Int) -> [Int] {
        let address = max(address, dataArea.lowerBound)
        guard address < dataArea.upperBound else { return [] }
        return (address..<dataArea.upperBound).filter { !isReserved[$0 - dataArea.lowerBound] }
    }

    /// Returns the first address that holds data, from this one on.
    private func next(from address: Int) -> Int? {
        guard address < dataArea.upperBound else { return nil }
        return (max(address, dataArea.lowerBound)..<dataArea.upperBound).first { !isReserved[$0 - dataArea.lowerBound] }
    }

    /// Reads length and value; `nil` when they are missing, with the reason in `end`.
    private mutating func block<Failure: Error>(
        _ tag: Type2TLV.Tag, at start: Int, from address: inout Int, _ byte: (Int) throws(Failure) -> UInt8?
    ) throws(Failure) -> Type2TLV? {
        let lengthAddress = next(from: address) ?? dataArea.upperBound
        guard let first = try take(&address, byte) else { return nil }
        var length = Int(first)
        if first == 0xFF {
            guard let high = try take(&address, byte), let low = try take(&address, byte) else { return nil }
            length = Int(high) << 8 | Int(low)
        }
        // Checked before reading: a value that cannot fit costs no exchange with the tag.
        guard length <= room(from: address) else {
            end = .lengthBeyondEnd
            return nil
        }
        var value: [UInt8] = []
        while value.count < length {
            guard let byte = try take(&address, byte) else { return nil }
            value.append(byte)
        }
        return Type2TLV(tag: tag, address: start, lengthAddress: lengthAddress, value: value)
    }

    /// Returns the number of data bytes from an address on.
    private func room(from address: Int) -> Int {
        guard address < dataArea.upperBound else { return 0 }
        return isReserved[(address - dataArea.lowerBound)...].reduce(0) { $0 + ($1 ? 0 : 1) }
    }

    private mutating func take<Failure: Error>(
        _ address: inout Int, _ byte: (Int) throws(Failure) -> UInt8?
    ) throws(Failure) -> UInt8? {
        guard let place = next(from: address) else {
            end = .lengthBeyondEnd
            return nil
        }
        guard let value = try byte(place) else {
            end = .unreadable(address: place)
            return nil
        }
        address = place + 1
        return value
    }
}

/// A TLV block in the data area of a Type 2 Tag.
package struct Type2TLV: Hashable, Sendable {
    package let tag: Tag
    /// The address of its tag byte.
    package let address: Int
    /// The address of the first byte of its length.
    package let lengthAddress: Int
    /// The bytes of the value, without those in reserved areas.
    package let value: [UInt8]

    /// The type of a block.
    package struct Tag: RawRepresentable, Hashable, Sendable {
        /// The tag byte.
        package let rawValue: UInt8

        package init(rawValue: UInt8) {
            self.rawValue = rawValue
        }

        /// NULL: a byte to skip, without a length.
        package static let null = Tag(rawValue: 0x00)
        /// Lock Control: the location of the dynamic lock bytes.
        package static let lockControl = Tag(rawValue: 0x01)
        /// Memory Control: bytes that hold no data.
        package static let memoryControl = Tag(rawValue: 0x02)
        package static let ndefMessage = Tag(rawValue: 0x03)
        /// Terminator: nothing follows; it has no length.
        package static let terminator = Tag(rawValue: 0xFE)
    }
}

/// The area described by a Lock Control or Memory Control block.
///
/// Value: page address (high nibble) and byte offset (low nibble); size, 00 for 256, in bits for locks and in bytes for
/// memory; low nibble n: 2ⁿ bytes per page, high nibble m: 2ᵐ bytes locked by one bit. The address is page · 2ⁿ +
/// offset. Source: NFC Forum Type 2 Tag 1.0, §2.3.
package struct Type2ControlArea: Hashable, Sendable {
    /// The addresses of the bytes.
    package let addresses: Range<Int>
    /// The number of lock bits; `nil` for memory.
    package let lockBits: Int?
    /// The number of data area bytes locked by one bit; `nil` for memory.
    package let bytesPerLockBit: Int?

    /// Parses a block; `nil` when it is not a control block, or a malformed one, which must be ignored.
    package init?(_ tlv: Type2TLV) {
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
