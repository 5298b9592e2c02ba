// SPDX-License-Identifier: Apache-2.0

internal import ByteCodec
public import CardModel

/// CLA, the class byte of a command APDU (ISO/IEC 7816-4 §5.4.1).
public struct ClassByte: RawRepresentable, Hashable, Sendable, ExpressibleByIntegerLiteral {
    /// The byte.
    public let rawValue: UInt8

    /// A class from its byte.
    public init(rawValue: UInt8) {
        self.rawValue = rawValue
    }

    /// A class from its byte.
    public init(integerLiteral value: UInt8) {
        rawValue = value
    }

    /// 00: interindustry, channel 0, no secure messaging.
    public static let interindustry: ClassByte = 0x00

    /// Whether the standard defines the class: 00 to 7F but for the reserved 20 to 3F.
    public var isInterindustry: Bool { rawValue < 0x20 || (0x40..<0x80).contains(rawValue) }

    /// Whether more commands of a chain follow; never for a proprietary class.
    public var isChaining: Bool { isInterindustry && rawValue & 0x10 != 0 }

    /// The logical channel: 0 to 3 in classes 0X and 1X, 4 to 19 in 4X to 7X; `nil` in a proprietary class.
    public var channel: Int? {
        guard isInterindustry else { return nil }
        return rawValue < 0x40 ? Int(rawValue & 0x03) : 4 + Int(rawValue & 0x0F)
    }

    /// Whether such a command is for a reader behind PC/SC, and may carry any frame to the card, a PIN's among them.
    ///
    /// FF is no class of a card. Readers take its commands for themselves: the instructions of PC/SC part 3 ask for the
    /// UID (CA), select (A4), read (B0) and write (D6) storage; others (00, 50, C2, FB) pass on what is in them.
    public func maySmuggle(_ instruction: Instruction) -> Bool {
        rawValue == 0xFF && ![0xCA, 0xA4, 0xB0, 0xD6].contains(instruction.rawValue)
    }

    /// The same class with the chaining bit set or not; a proprietary class as it is.
    public func chaining(_ on: Bool) -> ClassByte {
        guard isInterindustry else { return self }
        return ClassByte(rawValue: on ? rawValue | 0x10 : rawValue & ~0x10)
    }
}

extension ClassByte: CustomStringConvertible {
    /// Two upper-case hexadecimal digits.
    public var description: String { Hex.encode(rawValue, digits: 2) }
}
