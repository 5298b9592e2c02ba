// SPDX-License-Identifier: Apache-2.0

package import CardModel

/// What help says about an option, a flag or an argument.
package struct ArgumentHelp: Sendable {
    package let words: LocalizedText
    /// What programs read in its place; `nil` if the words of the command line fit them, with the names of options as programs
    /// have them.
    let programWords: LocalizedText?
    /// The name of the value, as in `date`; `nil` for that of the option.
    package let valueName: String?

    /// The numbers that a count may be; `nil` for any.
    let bounds: ClosedRange<Int>?
    /// Whether help, completion and programs leave it out: a former name that is still accepted.
    let isHidden: Bool

    package init(
        _ words: LocalizedText, programs: LocalizedText? = nil, value: String? = nil, bounds: ClosedRange<Int>? = nil
    ) {
        (self.words, programWords, valueName, self.bounds, isHidden) = (words, programs, value, bounds, false)
    }

    private init() {
        (words, programWords, valueName, bounds, isHidden) = (LocalizedText("", ""), nil, "source", nil, true)
    }

    package static let hidden = ArgumentHelp()
}

/// The names of an option or a flag.
package struct ArgumentNames: Sendable, ExpressibleByArrayLiteral {
    enum Form: Sendable {
        /// That of the property with hyphens, as in `--wait-reader`.
        case long
        /// A long name, without the hyphens.
        case customLong(String)
        /// The first letter of the property.
        case short
        /// A letter; with a value attached to it if the option has one.
        case letter(Character)
    }

    let forms: [Form]

    private init(_ forms: [Form]) { self.forms = forms }

    package init(arrayLiteral names: ArgumentNames...) { forms = names.flatMap(\.forms) }

    package static let long = ArgumentNames([.long])
    package static let short = ArgumentNames([.short])
    package static func customLong(_ name: String) -> Self { ArgumentNames([.customLong(name)]) }
    /// The long name, and a letter to which the value may be attached: `-oFILE`.
    package static func joined(_ letter: Character) -> Self { ArgumentNames([.letter(letter), .long]) }

    /// The names with their hyphens, as in `-o` and `--output`.
    ///
    /// - Parameter property: that of the option, as in `waitReader`.
    func resolved(_ property: String) -> [String] {
        let long = property.map { $0.isUppercase ? "-\($0.lowercased())" : String($0) }.joined()
        return forms.map { form in
            switch form {
            case .long: "--" + long
            case .customLong(let name): "--" + name
            case .short: "-" + long.prefix(1)
            case .letter(let letter): "-\(letter)"
            }
        }
    }
}

/// Whether the value of an option may begin with a hyphen.
package enum ArgumentParsing: Sendable {
    /// A word that begins with a hyphen is an option.
    case next
    /// Whatever follows is the value, as in `-t -5`.
    case unconditional
}
