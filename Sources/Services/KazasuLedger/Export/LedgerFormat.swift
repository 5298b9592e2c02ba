// SPDX-License-Identifier: Apache-2.0

package import CardModel

/// A file format of another program, by the word of the command line.
///
/// Each format is described in the file that writes it, and is one name of ``allCases``. Help, completion, checks of options, documents and tests
/// follow from that.
public struct LedgerFormat: Hashable, Sendable, RawRepresentable, CaseIterable {
    /// Every format.
    public static let allCases = [csv, sfcard, moneyforward, zaim, ofx, qif, hledger, beancount]

    /// Which currencies a file can hold.
    enum Money: Hashable, Sendable {
        /// Any: each line or account names its own.
        case any
        /// Yen, which the format names or assumes.
        case yen
        /// One, which the file does not name.
        case one
    }

    /// The special features of a format.
    package enum Feature: Hashable, Sendable {
        /// Columns of the user's choice, and with them claims, headers and byte order marks.
        case columns
        /// An account for the card.
        case account
        /// A line with the number of the card.
        case cardLine
    }

    typealias Writer =
        @Sendable (_ chains: [ExportChain], _ options: LedgerExportOptions, _ sink: ExportSink) throws -> Void

    /// The word of the command line.
    public let rawValue: String
    /// A short description of the format.
    package let summary: LocalizedText
    /// Its special features.
    package let features: Set<Feature>
    /// The language that its readers expect; `nil` for that of the user.
    package let language: Language?
    let money: Money
    /// Whether each record needs a day of its own; journals give it that of the record before.
    let needsDay: Bool
    /// Whether a file states a balance, so that a card without one is left out.
    let needsBalance: Bool
    /// Whether gaps are always lines, because balances would not match without them.
    let hasOwnGaps: Bool
    /// Whether records without amount or day are written, too.
    let isTable: Bool
    let write: Writer

    init(
        _ rawValue: String, _ summary: LocalizedText, features: Set<Feature> = [], language: Language? = nil,
        money: Money = .any, needsDay: Bool = true, needsBalance: Bool = false, hasOwnGaps: Bool = false,
        isTable: Bool = false, write: @escaping Writer
    ) {
        (self.rawValue, self.summary, self.features, self.language) = (rawValue, summary, features, language)
        (self.money, self.needsDay, self.needsBalance) = (money, needsDay, needsBalance)
        (self.hasOwnGaps, self.isTable, self.write) = (hasOwnGaps, isTable, write)
    }

    /// The format of a word; `nil` for an unknown one.
    public init?(rawValue: String) {
        guard let known = LedgerFormat.allCases.first(where: { $0.rawValue == rawValue }) else { return nil }
        self = known
    }

    /// Formats are told apart by their words.
    public static func == (one: LedgerFormat, other: LedgerFormat) -> Bool { one.rawValue == other.rawValue }

    /// Formats are told apart by their words.
    public func hash(into hasher: inout Hasher) { hasher.combine(rawValue) }
}
