// SPDX-License-Identifier: Apache-2.0

public import CardModel

/// Something unexpected in the card's data; the raw values are those of `warnings[]` in a document.
///
/// A warning carries no value from the card: no number, name or IDm can reach a log through it.
@nonexhaustive
public enum DecodingWarning: String, Hashable, Sendable, CaseIterable {
    /// The balance block and the newest history record contain different balances.
    case balanceDiffersFromHistory
    /// The transaction counts of the balance block and the newest history record differ.
    case transactionsNotInHistory
    /// The balance block was not read; the balance is that of the newest history record.
    case balanceFromHistory
    /// Not every block of the history was read.
    case historyIncomplete
    /// The same record appeared more than once in the history; it is reported once.
    case duplicateRecord
    /// The card number contains digits above 9.
    case numberNotDecimal
    /// The date of the record is not valid.
    case invalidDate
    /// The time of the record is not valid.
    case invalidTime
    /// Records between this one and the next older one are lost, so the amount is unknown.
    case serialGap
    /// The running numbers do not decrease from record to record, so the amount is unknown.
    case serialOrder
    /// The block with the next older record was not read, so the amount is unknown.
    case olderRecordMissing
    /// The layout of the blocks is not published: the card is recognised and only its bytes are reported.
    case layoutNotPublished
    /// The layout is known from one source only and was never checked against a published card.
    case oneSource
    /// Sources read this differently, so no value is chosen.
    case readingsDiffer
    /// The card stores only month and day; the year was inferred from the order of the records.
    case yearInferred
    /// The card stores only month and day, and the year cannot be determined.
    case yearUnknown
    /// The time has a resolution of ten minutes.
    case tenMinuteTime
    /// One source subtracts six hours from the times that this card wrote before 2019; they are reported as written.
    case clockDisputed
    /// The amount in the record is not the difference of the balances.
    case amountDiffersFromBalances
    /// A reported value is disputed or rests on one source; it has the member `doubt`, and `?` when displayed.
    case doubtfulValues
    /// A checksum on the card does not match its data.
    case checksumWrong
}

extension DecodingWarning {
    /// The warnings for a day and a time that should both be valid.
    static func invalid(_ date: CalendarDate?, _ time: ClockTime?) -> [DecodingWarning] {
        (date == nil ? [.invalidDate] : []) + (time == nil ? [.invalidTime] : [])
    }
}

/// Why a card could not be decoded: the value sought, and its location.
public struct CardDecodingError: Error, Hashable, Sendable {
    /// The decoder's id.
    public let card: String
    /// The value sought, as in `balance`.
    public let field: String
    /// The system that should contain it.
    public let system: SystemCode
    /// The service that should contain it.
    public let service: ServiceCode
    /// The block number.
    public let block: UInt16
    /// The first byte of the field within the block.
    public let offset: Int
    /// The problem with the bytes sought.
    public let reason: Reason

    /// The problem with the bytes sought.
    @nonexhaustive
    public enum Reason: String, Hashable, Sendable {
        /// The dump does not contain the service.
        case noSuchService
        /// The dump contains the service but not the block.
        case notRead
        /// The service cannot be read without a key.
        case keyRequired
        /// The card refused to return the block.
        case refused
        /// The card left before the block was read.
        case lost
        /// The card holds no money, or its layout is not published.
        case noBalance
    }

    /// Creates an error for a location in a dump.
    public init(
        card: String, field: String, system: SystemCode, service: ServiceCode, block: UInt16, offset: Int,
        reason: Reason
    ) {
        self.card = card
        self.field = field
        self.system = system
        self.service = service
        self.block = block
        self.offset = offset
        self.reason = reason
    }
}
