// SPDX-License-Identifier: Apache-2.0

/// A language that names and messages are written in; the raw values are those of `--lang`.
package enum Language: String, Hashable, Sendable, CaseIterable {
    /// English.
    case english = "en"
    /// Japanese.
    case japanese = "ja"
}

/// A text for people in every language that Kazasu speaks.
package struct LocalizedText: Hashable, Sendable {
    /// The text in English.
    package let english: String
    /// The text in Japanese.
    package let japanese: String

    /// A text in both languages.
    package init(_ english: String, _ japanese: String) {
        self.english = english
        self.japanese = japanese
    }

    /// The text in one language.
    package subscript(language: Language) -> String {
        switch language {
        case .english: english
        case .japanese: japanese
        }
    }
}
