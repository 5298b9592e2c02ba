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

    /// The message for display.
    public var message: LocalizedText {
        switch self {
        case .balanceDiffersFromHistory:
            LocalizedText(
                "the balance differs from that of the newest history record", "残高が最新の履歴の残高と一致しません")
        case .transactionsNotInHistory:
            LocalizedText(
                "the card counted transactions that its history does not hold (an entry without exit, or an "
                    + "interrupted write)", "履歴にない取引があります(入場中、または書き込みの中断)")
        case .balanceFromHistory:
            LocalizedText(
                "the balance is taken from the newest history record", "残高は最新の履歴から取ったものです")
        case .historyIncomplete:
            LocalizedText("not every block of the history was read", "履歴の一部が読み取られていません")
        case .duplicateRecord:
            LocalizedText("the same history record was there more than once", "同じ履歴が重複していました")
        case .numberNotDecimal:
            LocalizedText("the card number holds digits above 9", "カード番号に10進数でない桁があります")
        case .invalidDate:
            LocalizedText("the date is no day of the calendar", "日付が正しくありません")
        case .invalidTime:
            LocalizedText("the time is no time of the day", "時刻が正しくありません")
        case .serialGap:
            LocalizedText(
                "records before this one are lost, the amount is not known", "直前の履歴が欠けているため金額は不明です")
        case .serialOrder:
            LocalizedText(
                "the running numbers do not fall, the amount is not known", "通番の順序が正しくないため金額は不明です")
        case .olderRecordMissing:
            LocalizedText(
                "the record before this one was not read, the amount is not known",
                "直前の履歴が読み取られていないため金額は不明です")
        case .layoutNotPublished:
            LocalizedText("what the blocks of this card mean is not published", "このカードのデータ形式は公開されていません")
        case .oneSource:
            LocalizedText(
                "the layout of this card is known from one source only", "このカードのデータ形式の情報源は一つだけです")
        case .readingsDiffer:
            LocalizedText("sources read this differently, so no value is chosen", "情報源により解釈が異なるため値を決めません")
        case .yearInferred:
            LocalizedText(
                "the year was worked out from the order of the records", "年は履歴の順序から推定したものです")
        case .yearUnknown:
            LocalizedText("the card does not tell the year", "カードに年の記録がありません")
        case .tenMinuteTime:
            LocalizedText("the card keeps the time in steps of ten minutes", "時刻は10分単位の記録です")
        case .clockDisputed:
            LocalizedText(
                "one source takes six hours off times before 2019; given as written",
                "2019年より前の時刻を6時間早める情報源があります(カードの値のまま表示)")
        case .amountDiffersFromBalances:
            LocalizedText(
                "the amount in the record is not the difference of the balances", "記録された金額と残高の差が一致しません")
        case .doubtfulValues:
            LocalizedText(
                "what is marked ? is disputed, or known from one source only", "「?」の付いた項目は、情報源により解釈が異なるか、情報源が一つだけです")
        case .checksumWrong:
            LocalizedText("a checksum on the card is wrong", "チェックサムが正しくありません")
        }
    }
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

    /// The message for display.
    public var message: LocalizedText {
        let place = "\(system)/\(service)"
        return switch reason {
        case .noSuchService:
            LocalizedText("\(card): service \(place) is not there", "\(card): サービス \(place) がありません")
        case .notRead:
            LocalizedText(
                "\(card): block \(block) of \(place) was not read", "\(card): \(place) のブロック \(block) は読み取られていません")
        case .keyRequired:
            LocalizedText("\(card): service \(place) needs a key", "\(card): サービス \(place) には鍵が必要です")
        case .refused:
            LocalizedText("\(card): the card refused service \(place)", "\(card): サービス \(place) の読み取りは拒否されました")
        case .lost:
            LocalizedText(
                "\(card): the card left before \(place) was read", "\(card): \(place) を読み取る前にカードが離れました")
        case .noBalance:
            LocalizedText("\(card): no balance is known on this card", "\(card): このカードの残高は読み取れません")
        }
    }
}

extension CardDecodingError: CustomStringConvertible {
    /// The message in English.
    public var description: String { message.english }
}
