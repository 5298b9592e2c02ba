// SPDX-License-Identifier: Apache-2.0

public import CardModel
internal import ByteCodec

/// Why a value that is given is not certain; the raw values are the words in the member `doubt` of documents.
public enum Doubt: String, Hashable, Sendable {
    /// Sources differ.
    case disputed
    /// One source says so, and no published card confirms it.
    case oneSource
}

/// One byte by which a card tells a kind of thing, with its name where one is known.
public struct CodedValue: Hashable, Sendable {
    /// The byte as on the card.
    public let code: UInt8
    /// Why the name is not certain, or `nil`.
    public let doubt: Doubt?
    /// Every record has up to four of these: one reference is copied faster than two texts.
    private let shared: Shared<LocalizedText>?

    /// What it stands for, or `nil` when no source says.
    public var name: LocalizedText? { shared?.value }

    /// What it stands for in one language, without a copy of the others.
    func name(_ language: Language) -> String? { shared?.value[language] }

    /// A code with its name.
    public init(code: UInt8, name: LocalizedText?, doubt: Doubt? = nil) {
        self.code = code
        self.doubt = doubt
        shared = name.map { Shared($0) }
    }

    /// The code as two upper-case hexadecimal digits.
    public var hex: String { HexDigits(code, digits: 2).text }
}
