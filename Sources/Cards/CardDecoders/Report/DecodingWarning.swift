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
    /// The layout of the blocks is not published: the card is recognized and only its bytes are reported.
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
    /// The kind of card.
    public let kind: CardKind
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
        /// The contents of the service are not in the layout that the decoder knows.
        case otherLayout
    }

    /// Creates an error for a location in a dump.
    public init(
        kind: CardKind, field: String, system: SystemCode, service: ServiceCode, block: UInt16, offset: Int,
        reason: Reason
    ) {
        self.kind = kind
        self.field = field
        self.system = system
        self.service = service
        self.block = block
        self.offset = offset
        self.reason = reason
    }
}

extension DecodingWarning: SelfDescribing {
    /// The warning as a sentence.
    public var message: LocalizedText {
        switch self {
        case .balanceDiffersFromHistory:
            LocalizedText("the balance differs from the newest history record", "残高が最新の履歴の残高と一致しません")
        case .transactionsNotInHistory:
            LocalizedText(
                """
                the card counted transactions that are missing from its history (an entry without an exit, or an \
                interrupted write)
                """, "履歴にない取引があります（入場中、または書き込みの中断）")
        case .balanceFromHistory: LocalizedText("the balance comes from the newest history record", "残高は最新の履歴によるものです")
        case .historyIncomplete: LocalizedText("part of the history was not read", "履歴の一部を読み取れていません")
        case .duplicateRecord: LocalizedText("duplicate history records are shown once", "重複する履歴は 1 件にまとめています")
        case .numberNotDecimal: LocalizedText("the card number contains non-decimal digits", "カード番号に 10 進数でない桁があります")
        case .invalidDate: LocalizedText("the date is invalid", "日付が正しくありません")
        case .invalidTime: LocalizedText("the time is invalid", "時刻が正しくありません")
        case .serialGap:
            LocalizedText("older records are missing, so the amount is unknown", "直前の履歴が欠けているため、金額は不明です")
        case .serialOrder:
            LocalizedText("the serial numbers are out of order, so the amount is unknown", "通番の順序が正しくないため、金額は不明です")
        case .olderRecordMissing:
            LocalizedText("the previous record was not read, so the amount is unknown", "直前の履歴を読み取れていないため、金額は不明です")
        case .layoutNotPublished:
            LocalizedText("the data format of this card is not published", "このカードのデータ形式は公開されていません")
        case .oneSource:
            LocalizedText("only one source describes the data format of this card", "このカードのデータ形式の情報源は 1 つだけです")
        case .readingsDiffer: LocalizedText("sources disagree, so no value is chosen", "情報源により解釈が異なるため、値を確定していません")
        case .yearInferred: LocalizedText("the year was inferred from the order of the records", "年は履歴の順序から推定したものです")
        case .yearUnknown: LocalizedText("the card does not store the year", "年はカードに記録されていません")
        case .tenMinuteTime: LocalizedText("the card stores times in steps of ten minutes", "時刻は 10 分単位の記録です")
        case .clockDisputed:
            LocalizedText(
                "one source subtracts six hours from times before 2019; shown as stored",
                "2019 年より前の時刻を 6 時間早める情報源があります（カードの値のまま表示しています）")
        case .amountDiffersFromBalances:
            LocalizedText("the recorded amount differs from the change in balance", "記録された金額が残高の差と一致しません")
        case .doubtfulValues:
            LocalizedText(
                "values marked ? are disputed, or known from only one source",
                "？の付いた値は、情報源により解釈が異なるか、情報源が 1 つだけです")
        case .checksumWrong: LocalizedText("a checksum on the card is wrong", "チェックサムが正しくありません")
        }
    }
}

extension CardDecodingError: SelfDescribing {
    /// What the card or the dump lacks, after the name of the kind of card.
    public var message: LocalizedText {
        let name = DecoderRegistry.standard.decoder(of: kind)?.name ?? LocalizedText(kind.rawValue, kind.rawValue)
        return LocalizedText("\(name.english): \(cause.english)", "\(name.japanese): \(cause.japanese)")
    }

    private var cause: LocalizedText {
        let place = "\(system)/\(service)"
        return switch reason {
        case .noSuchService: LocalizedText("the card has no service \(place)", "サービス \(place) がありません")
        case .notRead:
            LocalizedText(
                "block \(block) of service \(place) was not read", "サービス \(place) のブロック \(block) を読み取れていません")
        case .keyRequired: LocalizedText("service \(place) needs a key", "サービス \(place) には鍵が必要です")
        case .refused:
            LocalizedText("the card refused to read service \(place)", "サービス \(place) の読み取りをカードが拒否しました")
        case .lost:
            LocalizedText("the card left before service \(place) was read", "サービス \(place) を読み取る前にカードが離れました")
        case .otherLayout:
            LocalizedText("the contents of service \(place) are in another format", "サービス \(place) の内容は別の形式です")
        case .noBalance: LocalizedText("this card has no balance that can be read", "残高を読み取れないカードです")
        }
    }
}
