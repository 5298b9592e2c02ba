// SPDX-License-Identifier: Apache-2.0

/// Reads fixed-width fields one after another; every read is checked, none traps.
public struct ByteReader: Sendable {
    private let bytes: ArraySlice<UInt8>
    private var position: Int

    /// Starts at the first of `bytes`.
    public init(_ bytes: ArraySlice<UInt8>) {
        self.bytes = bytes
        position = bytes.startIndex
    }

    /// Starts at the first of `bytes`.
    public init(_ bytes: [UInt8]) {
        self.init(bytes[...])
    }

    /// How many bytes were read so far.
    public var offset: Int { position - bytes.startIndex }

    /// How many bytes are left.
    public var remaining: Int { bytes.endIndex - position }

    /// Takes one byte.
    ///
    /// - Throws: ``ByteCodecError/tooShort(offset:missing:)``.
    public mutating func readUInt8() throws(ByteCodecError) -> UInt8 {
        UInt8(truncatingIfNeeded: try readInteger(width: 1, .big))
    }

    /// Takes two bytes.
    ///
    /// - Throws: ``ByteCodecError/tooShort(offset:missing:)``.
    public mutating func readUInt16(_ order: ByteOrder) throws(ByteCodecError) -> UInt16 {
        UInt16(truncatingIfNeeded: try readInteger(width: 2, order))
    }

    /// Takes four bytes.
    ///
    /// - Throws: ``ByteCodecError/tooShort(offset:missing:)``.
    public mutating func readUInt32(_ order: ByteOrder) throws(ByteCodecError) -> UInt32 {
        UInt32(truncatingIfNeeded: try readInteger(width: 4, order))
    }

    /// Takes eight bytes.
    ///
    /// - Throws: ``ByteCodecError/tooShort(offset:missing:)``.
    public mutating func readUInt64(_ order: ByteOrder) throws(ByteCodecError) -> UInt64 {
        try readInteger(width: 8, order)
    }

    /// Takes the next `count` bytes as they are.
    ///
    /// - Throws: ``ByteCodecError/tooShort(offset:missing:)``; a negative count takes nothing.
    public mutating func readBytes(_ count: Int) throws(ByteCodecError) -> ArraySlice<UInt8> {
        let count = max(count, 0)
        guard count <= remaining else { throw .tooShort(offset: offset, missing: count - remaining) }
        defer { position += count }
        return bytes[position..<position + count]
    }

    /// Takes all that is left.
    public mutating func readRest() -> ArraySlice<UInt8> {
        defer { position = bytes.endIndex }
        return bytes[position...]
    }

    /// Checks that nothing is left.
    ///
    /// - Throws: ``ByteCodecError/tooLong(offset:extra:)``.
    public func expectEnd() throws(ByteCodecError) {
        guard remaining == 0 else { throw .tooLong(offset: offset, extra: remaining) }
    }

    private mutating func readInteger(width: Int, _ order: ByteOrder) throws(ByteCodecError) -> UInt64 {
        let field = try readBytes(width)
        var value: UInt64 = 0
        switch order {
        case .big: for byte in field { value = value << 8 | UInt64(byte) }
        case .little: for byte in field.reversed() { value = value << 8 | UInt64(byte) }
        }
        return value
    }
}
