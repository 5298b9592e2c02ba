// SPDX-License-Identifier: Apache-2.0

internal import ByteCodec

/// Status Flag 2; values without a name here are kept as they came.
public struct StatusFlag2: RawRepresentable, Hashable, Sendable {
    /// The byte.
    public let rawValue: UInt8

    /// A flag from its byte.
    public init(rawValue: UInt8) {
        self.rawValue = rawValue
    }

    /// `71`: the data was written, but the memory was rewritten more often than it is made for.
    public static let rewriteCountExceeded = StatusFlag2(rawValue: 0x71)
    /// `A1`: wrong number of services or nodes.
    public static let wrongServiceCount = StatusFlag2(rawValue: 0xA1)
    /// `A2`: wrong number of blocks.
    public static let wrongBlockCount = StatusFlag2(rawValue: 0xA2)
    /// `A3`: a Block List element names a service that is not in the list.
    public static let wrongServiceIndex = StatusFlag2(rawValue: 0xA3)
    /// `A4`: the command is not for nodes of this kind.
    public static let wrongServiceType = StatusFlag2(rawValue: 0xA4)
    /// `A5`: access refused.
    public static let accessRefused = StatusFlag2(rawValue: 0xA5)
    /// `A6`: no such node.
    public static let noSuchNode = StatusFlag2(rawValue: 0xA6)
    /// `A7`: illegal access mode.
    public static let illegalAccessMode = StatusFlag2(rawValue: 0xA7)
    /// `A8`: no such block; the usual mark of a service's end.
    public static let noSuchBlock = StatusFlag2(rawValue: 0xA8)
    /// `B1`: reading needs authentication (FeliCa Lite-S).
    public static let readNeedsAuthentication = StatusFlag2(rawValue: 0xB1)
    /// `B2`: a MAC is missing or wrong (FeliCa Lite-S).
    public static let macRequired = StatusFlag2(rawValue: 0xB2)
}

extension StatusFlag2: CustomStringConvertible {
    /// Two upper-case hexadecimal digits.
    public var description: String { Hex.encode(rawValue, digits: 2) }
}
