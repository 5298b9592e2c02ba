// SPDX-License-Identifier: Apache-2.0

internal import ByteCodec

/// A part of a text of JIS X 0208 as a card holds it.
public enum JISRun: Hashable, Sendable {
    /// Characters of the standard.
    case text(String)
    /// 外字 1 to 7 (FFF1 to FFF7): a character that the standard lacks; the card has a picture of it elsewhere.
    case externalCharacter(Int)
    /// 欠字 (FFFA): a character that the issuer's machine could not write.
    case missingCharacter
    /// Two bytes that stand for no character: a cell without one, or a code that no source explains.
    case unassigned(UInt16)
    /// A last byte without a second one.
    case strayByte(UInt8)

    /// How the part is written in a plain text: braces, which JIS X 0208 does not have at this width, around what is no
    /// character.
    var text: String {
        switch self {
        case .text(let text): text
        case .externalCharacter(let number): "{外字\(number)}"
        case .missingCharacter: "{欠字}"
        case .unassigned(let code): "{\(Hex.encode(code, digits: 4))}"
        case .strayByte(let byte): "{\(Hex.encode(byte, digits: 2))}"
        }
    }
}
