// SPDX-License-Identifier: Apache-2.0

/// Reads consecutive fixed-width fields; every read is checked, none traps.
package struct ByteReader: Sendable {
    private let bytes: ArraySlice<UInt8>
    private var position: Int

    /// Creates a reader at the first of `bytes`.
    package init(_ bytes: ArraySlice<UInt8>) {
        self.bytes = bytes
        position = bytes.startIndex
    }

    /// Creates a reader at the first of `bytes`.
    package init(_ bytes: [UInt8]) {
        self.init(bytes[...])
    }

    /// The number of bytes read so far.
    package var offset: Int { position - bytes.startIndex }

    /// The number of bytes left.
    package var remaining: Int { bytes.endIndex - position }

    /// Reads one byte.
    ///
    /// - Throws: ``ByteCodecError/tooShort(offset:missing:)``.
    package mutating func readUInt8() throws(ByteCodecError) -> UInt8 {
        UInt8(truncatingIfNeeded: try readInteger(width: 1, .big))
    }

    /// Reads two bytes.
    ///
    /// - Throws: ``ByteCodecError/tooShort(offset:missing:)``.
    package mutating func readUInt16(_ order: ByteOrder) throws(ByteCodecError) -> UInt16 {
        UInt16(truncatingIfNeeded: try readInteger(width: 2, order))
    }

    /// Reads four bytes.
    ///
    /// - Throws: ``ByteCodecError/tooShort(offset:missing:)``.
    package mutating func readUInt32(_ order: ByteOrder) throws(ByteCodecError) -> UInt32 {
        UInt32(truncatingIfNeeded: try readInteger(width: 4, order))
    }

    /// Reads eight bytes.
    ///
    /// - Throws: ``ByteCodecError/tooShort(offset:missing:)``.
    package mutating func readUInt64(_ order: ByteOrder) throws(ByteCodecError) -> UInt64 {
        try readInteger(width: 8, order)
    }

    /// Reads the next `count` bytes.
    ///
    /// - Throws: ``ByteCodecError/tooShort(offset:missing:)``; a negative count reads nothing.
    package mutating func readBytes(_ count: Int) throws(ByteCodecError) -> ArraySlice<UInt8> {
        let count = max(count, 0)
        guard count <= remaining else { throw .tooShort(offset: offset, missing: count - remaining) }
        defer { position += count }
        return bytes[position..<position + count]
    }

    /// Reads all remaining bytes.
    package mutating func readRest() -> ArraySlice<UInt8> {
        defer { position = bytes.endIndex }
        return bytes[position...]
    }

    /// Throws unless all bytes were read.
    ///
    /// - Throws: ``ByteCodecError/tooLong(offset:extra:)``.
    package func expectEnd() throws(ByteCodecError) {
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

/// Appends fixed-width fields to a byte array.
package struct ByteWriter: Sendable {
    /// The bytes written so far.
    package private(set) var bytes: [UInt8]

    /// Creates a writer that is empty or begins with `bytes`.
    package init(_ bytes: [UInt8] = []) {
        self.bytes = bytes
    }

    /// Appends one byte.
    package mutating func write(_ value: UInt8) {
        bytes.append(value)
    }

    /// Appends bytes.
    package mutating func write(_ values: some Sequence<UInt8>) {
        bytes.append(contentsOf: values)
    }

    /// Appends a number in its full width.
    package mutating func write<Number: FixedWidthInteger>(_ value: Number, _ order: ByteOrder) {
        let width = Number.bitWidth / 8
        for place in 0..<width {
            let shift = (order == .big ? width - 1 - place : place) * 8
            bytes.append(UInt8(truncatingIfNeeded: value >> Number(truncatingIfNeeded: shift)))
        }
    }
}

/// The byte order of a number.
@usableFromInline
package enum ByteOrder: Hashable, Sendable {
    /// Most significant byte first.
    case big
    /// Least significant byte first.
    case little
}

/// Why a field could not be read or written; offsets count from the start of the input.
@nonexhaustive
package enum ByteCodecError: Error, Hashable, Sendable {
    /// `missing` more bytes were needed at `offset`.
    case tooShort(offset: Int, missing: Int)
    /// `extra` bytes were left at `offset` where nothing was expected.
    case tooLong(offset: Int, extra: Int)
}

extension FixedWidthInteger {
    /// Returns the bits `range` of this number, bit 0 being the least significant; bits outside the number read as 0.
    ///
    /// `UInt16(0x166C).bits(9...15)` is the year of a Cybernetics date. A range that starts below bit 0 gives 0.
    @inlinable
    package func bits(_ range: ClosedRange<Int>) -> Self {
        let end = Swift.min(range.upperBound, Self.bitWidth - 1)
        guard range.lowerBound >= 0, range.lowerBound <= end else { return 0 }
        let shifted = self >> Self(truncatingIfNeeded: range.lowerBound)
        let width = end - range.lowerBound + 1
        guard width < Self.bitWidth else { return shifted }
        return shifted & (Self(truncatingIfNeeded: 1) << Self(truncatingIfNeeded: width) &- 1)
    }
}

extension RandomAccessCollection where Index == Int {
    /// Returns the element `distance` places after the first, or `nil` when there is none; never traps.
    @inlinable
    package func element(at distance: Int) -> Element? {
        distance >= 0 && distance < count ? self[startIndex + distance] : nil
    }
}
