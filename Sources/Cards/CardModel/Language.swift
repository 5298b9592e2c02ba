// SPDX-License-Identifier: Apache-2.0

/// A language of names and messages; the raw values are those of `--lang`.
@nonexhaustive
public enum Language: String, Hashable, Sendable, CaseIterable {
    /// English.
    case english = "en"
    /// Japanese.
    case japanese = "ja"
}

/// A display text in every language that Kazasu supports.
public struct LocalizedText: Hashable, Sendable {
    /// The text in English.
    public let english: String
    /// The text in Japanese.
    public let japanese: String

    /// Makes a text in both languages.
    public init(_ english: String, _ japanese: String) {
        self.english = english
        self.japanese = japanese
    }

    /// The text in one language.
    public subscript(language: Language) -> String {
        switch language {
        case .english: english
        case .japanese: japanese
        }
    }

    /// One text after the other, in each language.
    package static func + (first: LocalizedText, second: LocalizedText) -> LocalizedText {
        LocalizedText(first.english + second.english, first.japanese + second.japanese)
    }
}

/// A value that describes itself in one sentence; every error of the library does.
///
/// The sentence has no full stop and begins in lower case, unless with a name, so that it can be part of another one. It
/// repeats no data of a card.
public protocol SelfDescribing: CustomStringConvertible {
    /// The sentence in every language.
    var message: LocalizedText { get }
}

extension SelfDescribing {
    /// The sentence in English.
    public var description: String { message.english }
}
