// SPDX-License-Identifier: Apache-2.0

package import CardModel
import Synchronization

/// An option, a flag or an argument of a command: everything that parsing, help, completion and programs know of it.
package struct ArgumentDefinition {
    package enum Form: Sendable {
        case flag, option
        /// A word without a name, by its position.
        case positional
    }

    package let form: Form
    /// With the hyphens, as in `--reader`; empty for an argument.
    package let names: [String]
    package let words: LocalizedText
    /// What programs read: other words, or the same with `--any-authority` as `anyAuthority`.
    package var programWords: LocalizedText { ownProgramWords ?? words.namingParameters }
    private let ownProgramWords: LocalizedText?
    /// Whether help, completion and programs leave it out.
    package let isHidden: Bool
    /// The name of its value, as in `date`.
    package let valueName: String
    package let reach: Reach
    /// Whether it must be given.
    package let isRequired: Bool
    package let isRepeating: Bool
    package let kind: ArgumentKind
    /// The numbers that a count may be; `nil` for any.
    package let bounds: ClosedRange<Int>?
    /// Whether a value may begin with a hyphen.
    let parsing: ArgumentParsing
    /// The value where it is not given, as help shows it.
    package let defaultValue: String?
    /// The value where only the name is given; `nil` if a value must follow.
    package let flagValue: String?
    private let ownCompletion: CompletionKind?
    private let usualCompletion: () -> CompletionKind
    /// The heading of its group in help.
    package internal(set) var section: String?
    private let listed: () -> [String]
    /// How a value is written; `nil` where the help says it best.
    package let example: LocalizedText?
    /// A regular expression that a value matches, or each of a list; `nil` if any will do.
    package let pattern: String?
    /// Takes one value; `false` if it is none.
    let take: (String) -> Bool

    /// The values that it may have, where they can be listed.
    package var values: [String] { listed() }
    package var completion: CompletionKind { ownCompletion ?? usualCompletion() }
    package var takesValue: Bool { form != .flag }
    /// The long name without hyphens; the short one if there is no other.
    package var name: String {
        let long = names.first { $0.hasPrefix("--") } ?? names.first ?? ""
        return String(long.drop { $0 == "-" })
    }
    /// Whether it names a file or a folder.
    package var namesFile: Bool {
        switch ownCompletion {
        case .file?, .directory?: true
        default: false
        }
    }

    init(
        _ form: Form, names: [String], _ help: ArgumentHelp, property: String, reach: Reach, isRequired: Bool = false,
        isRepeating: Bool = false, kind: ArgumentKind = .text, parsing: ArgumentParsing = .next,
        defaultValue: String? = nil, flagValue: String? = nil, completion: CompletionKind? = nil,
        usualCompletion: @escaping () -> CompletionKind = { .default }, values: @escaping () -> [String] = { [] },
        example: LocalizedText? = nil, pattern: String? = nil,
        take: @escaping (String) -> Bool
    ) {
        (self.form, self.names, words, bounds, isHidden) = (form, names, help.words, help.bounds, help.isHidden)
        ownProgramWords = help.programWords
        let own = names.first { $0.hasPrefix("--") }.map { String($0.dropFirst(2)) }
        valueName = help.valueName ?? own ?? ArgumentNames.long.resolved(property)[0].drop { $0 == "-" }.description
        (self.reach, self.isRequired, self.isRepeating, self.kind) = (reach, isRequired, isRepeating, kind)
        (self.parsing, self.defaultValue, self.flagValue) = (parsing, defaultValue, flagValue)
        (ownCompletion, self.usualCompletion) = (completion, usualCompletion)
        (listed, self.take) = (values, take)
        (self.example, self.pattern) = (example, pattern)
    }
}

extension LocalizedText {
    /// The same with long options as the parameters that they are in programs, `anyAuthority` for `--any-authority`, and without
    /// the terminal, which programs do not have.
    fileprivate var namingParameters: LocalizedText {
        func named(_ text: String, without terminal: String) -> String {
            text.replacing(terminal, with: "").replacing(/--([a-z][a-z0-9-]*)/) { $0.1.parameterName }
        }
        return LocalizedText(
            named(english, without: " Default: ask on the terminal."), named(japanese, without: "省略時は端末で尋ねる。"))
    }
}

extension StringProtocol {
    /// The name of a parameter in programs, as in `answerTimeout` for `answer-timeout`.
    package var parameterName: String {
        let parts = split(separator: "-")
        return parts.prefix(1).joined()
            + parts.dropFirst().map { $0.prefix(1).uppercased() + $0.dropFirst() }.joined()
    }
}

/// A property of a command that the command line sets.
protocol DescribedProperty {
    /// - Parameter property: its name, as in `waitReader`.
    func definition(_ property: String) -> ArgumentDefinition
}

/// What a property wrapper keeps of the value: the parser finds the wrapper by reflection, which gives it a copy.
final class ArgumentBox<Value: Sendable>: Sendable {
    private let stored: Mutex<Value>

    var value: Value {
        get { stored.withLock { $0 } }
        set { stored.withLock { $0 = newValue } }
    }

    init(_ value: Value) { stored = Mutex(value) }
}
