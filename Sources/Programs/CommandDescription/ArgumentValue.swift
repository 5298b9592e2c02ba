// SPDX-License-Identifier: Apache-2.0

public import CardModel

/// What a value is for programs; on a command line, every value is text.
public enum ArgumentKind: Sendable {
    case text
    /// A count.
    case integer
    /// A number that may have a fraction, as of seconds.
    case number
    /// Several values with commas in one text.
    case list
}

/// A value that a word of a command line can be.
public protocol ExpressibleByArgument: Sendable {
    /// `nil` if the word is not such a value.
    init?(argument: String)
    /// The value as help shows it where it is a default.
    var defaultValueDescription: String { get }
    /// The values that there are, where they can be listed.
    static var allValueStrings: [String] { get }
    /// What a shell completes.
    static var defaultCompletionKind: CompletionKind { get }
    /// What it is for programs.
    static var argumentKind: ArgumentKind { get }
    /// How it is written, for whoever wrote it wrong, as in `0-19 or 0,3,5-7`; `nil` where the help of the option says it best.
    static var example: LocalizedText? { get }
    /// A regular expression that matches the value, or each of a list, as programs write it; `nil` if any text will do.
    static var pattern: String? { get }
}

extension ExpressibleByArgument {
    /// The value as text.
    public var defaultValueDescription: String { "\(self)" }
    /// None: they cannot be listed.
    public static var allValueStrings: [String] { [] }
    /// One of the listed values.
    public static var defaultCompletionKind: CompletionKind {
        let values = allValueStrings
        return values.isEmpty ? .default : .list(values)
    }
    /// Text.
    public static var argumentKind: ArgumentKind { .text }
    /// None.
    public static var example: LocalizedText? { nil }
    /// None.
    public static var pattern: String? { nil }
}

extension ExpressibleByArgument where Self: RawRepresentable, RawValue: ExpressibleByArgument {
    /// Takes the raw value.
    public init?(argument: String) {
        guard let value = RawValue(argument: argument) else { return nil }
        self.init(rawValue: value)
    }

    /// The raw value.
    public var defaultValueDescription: String { rawValue.defaultValueDescription }
}

extension ExpressibleByArgument where Self: RawRepresentable & CaseIterable, RawValue: ExpressibleByArgument {
    /// The raw values of all cases.
    public static var allValueStrings: [String] { allCases.map(\.rawValue.defaultValueDescription) }
}

extension String: ExpressibleByArgument {
    /// Takes any word.
    public init?(argument: String) { self = argument }
}

extension ExpressibleByArgument where Self: LosslessStringConvertible {
    /// Takes what the description of a value is.
    public init?(argument: String) { self.init(argument) }
}

extension Int: ExpressibleByArgument {
    /// A count.
    public static var argumentKind: ArgumentKind { .integer }
}
extension Int32: ExpressibleByArgument {
    /// A count.
    public static var argumentKind: ArgumentKind { .integer }
}
extension UInt16: ExpressibleByArgument {
    /// A count.
    public static var argumentKind: ArgumentKind { .integer }
}
extension UInt32: ExpressibleByArgument {
    /// A count.
    public static var argumentKind: ArgumentKind { .integer }
}
extension Double: ExpressibleByArgument {
    /// A number.
    public static var argumentKind: ArgumentKind { .number }
}
