// SPDX-License-Identifier: Apache-2.0

public import CardModel
internal import ByteCodec

/// One byte by which a card tells a kind of thing, with its name where one is known.
public struct CodedValue: Hashable, Sendable {
    /// The byte as on the card.
    public let code: UInt8
    /// What it stands for, or `nil` when no source says.
    public let name: LocalizedText?

    /// A code with its name.
    public init(code: UInt8, name: LocalizedText?) {
        self.code = code
        self.name = name
    }

    /// The code as two upper-case hexadecimal digits.
    public var hex: String { Hex.encode(code, digits: 2) }
}
