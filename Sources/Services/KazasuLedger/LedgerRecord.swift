// SPDX-License-Identifier: Apache-2.0

public import CardDecoders
public import CardModel
internal import SQLiteFiles

/// One purse of a card of a ledger: what a balance and a history belong to.
public struct LedgerPurse: Hashable, Sendable, Identifiable {
    /// The number in this ledger.
    public let id: Int64
    /// The IDm of the card as sixteen hexadecimal digits, or its keyed hash.
    public let card: String
    /// The name that the owner gave the card, or `nil`.
    public let cardName: String?
    /// The decoder's id, as in `transit`.
    public let kind: String
    /// The system, which ids of records begin with.
    public let system: SystemCode
    /// The brand that is printed on the card, or `nil` if unknown.
    public let brand: CardBrand?
    /// The purse's own name, as in `Transit IC`.
    public let title: LocalizedText
    /// The currency.
    public let currency: Currency

    init(_ row: Row, _ options: Ledger.Options) throws {
        id = try row.value("id")
        card = try LedgerPurse.shown(row.value("key"), options)
        let name: String? = try row.value("name")
        cardName = options.isRedacted ? name.map { _ in "***" } : name
        kind = try row.value("kind")
        let brandID: String? = try row.value("brand")
        brand = options.decoders.decoder(of: CardKind(rawValue: kind))?.brands.first { $0.id == brandID }
        system = try SystemCode(rawValue: UInt16(truncatingIfNeeded: row.value("system", as: Int.self)))
        title = try LocalizedText(row.value("english"), row.value("japanese"))
        currency = try Currency(rawValue: row.value("currency")) ?? .yen
    }

    /// What is shown of a card's number; the manufacturer's digits are not masked.
    static func shown(_ key: String, _ options: Ledger.Options) -> String {
        options.isRedacted ? key.prefix(4) + String(repeating: "0", count: max(0, key.count - 4)) : key
    }

    /// Reads purses with their cards.
    static let select = """
        SELECT purse.id, purse.kind, purse.brand, purse.system, purse.english, purse.japanese, purse.currency, card.key,
            card.name
        FROM purse JOIN card ON card.id = purse.card
        """

    /// What people call the card: its brand, else the purse's own name.
    package var label: LocalizedText { brand?.name ?? title }

    /// The name for people: the card's, else that of the brand or the purse with the last four digits of the card's key.
    public func name(_ language: Language) -> String {
        cardName ?? "\(label[language]) …\(card.suffix(4))"
    }
}

/// One record that a ledger keeps.
public struct LedgerRecord: Hashable, Sendable, Identifiable {
    /// The number in this ledger.
    public let id: Int64
    /// The id for other programs, as in `0003.112233445566.0001e3`: system, card, serial. It never changes.
    public let uid: String
    /// The purse that the record belongs to.
    public let purse: LedgerPurse
    /// The decoded record, with the amount that the ledger worked out where the card does not state it.
    public let record: HistoryRecord
    /// Whether the amount follows from the balance of the record before.
    public let hasDerivedAmount: Bool
    /// The gap before it, or `nil`.
    public let gapBefore: LedgerGap?
    /// Its position among the records of its purse.
    let order: Int64

    /// The balance before the record, where it follows from balance and amount.
    public var balanceBefore: Int? {
        guard let balance = record.balance, let amount = record.amount else { return nil }
        let (before, overflow) = balance.subtractingReportingOverflow(amount)
        return overflow ? nil : before
    }
}

/// Reads records from the tables; places and codes are looked up once.
struct LedgerRecordReader {
    private let purses: [Int64: LedgerPurse]
    private let options: Ledger.Options
    /// With the name that the decoder itself gave, where it gave one.
    private var places: [Int64: Place] = [:]
    private var codes: [Int64: CodedValue] = [:]

    static let columns = """
        r.id, r.purse, r.ord, r.uid, r.serial, r.date, r.time, r.entryTime, r.partial, r.kind, r.terminal, r.terminalID,
        r.process, r.payment, r.gate, r.device, r.entry, r.exit, r.amount, r.balance, r.gateLog, r.warnings, r.raw,
        r.derived, gap.atLeast, gap.atMost, gap.amount, gap.coversNext, gap.reason
        """

    static let source = "record r LEFT JOIN gap ON gap.record = r.id"

    init(_ db: Database, _ options: Ledger.Options) throws {
        self.options = options
        let rows = try Row.fetchAll(db, sql: LedgerPurse.select)
        purses = try Dictionary(rows.map { try LedgerPurse($0, options) }.map { ($0.id, $0) }) { first, _ in first }
        for row in try Row.fetchAll(db, sql: "SELECT id, code, doubt, company, line, name FROM place") {
            guard let code = try LedgerCoding.place(row.value("code")) else { continue }
            let (company, line, name): (String?, String?, String?) = try (
                row.value("company"), row.value("line"), row.value("name")
            )
            let isUnnamed = company == nil && line == nil && name == nil
            try places[row.value("id")] = Place(
                code: code, name: isUnnamed ? nil : StationName(company: company, line: line, name: name),
                doubt: Doubt(rawValue: row.value("doubt")))
        }
        for row in try Row.fetchAll(db, sql: "SELECT id, code, english, japanese, doubt FROM coded") {
            let english: String = try row.value("english")
            try codes[row.value("id")] = CodedValue(
                code: UInt8(truncatingIfNeeded: row.value("code", as: Int.self)),
                name: english.isEmpty ? nil : LocalizedText(english, row.value("japanese")),
                doubt: Doubt(rawValue: row.value("doubt")))
        }
    }

    /// Every place, named as it is now.
    var allPlaces: [Place] { places.keys.compactMap { place($0, on: nil) } }

    /// The place of a number, named as on a day.
    func place(_ number: Int64, on date: CalendarDate?) -> Place? {
        guard let known = places[number] else { return nil }
        let found = Place(known.code, on: date, options.stations).name
        let name = found?.name == nil ? known.name ?? found : found
        return Place(code: known.code, name: name, doubt: known.doubt)
    }

    /// The id of a record; its second part is derived from the card's number.
    private func uid(_ uid: String) -> String {
        guard options.isRedacted else { return uid }
        let parts = uid.split(separator: ".", omittingEmptySubsequences: false)
        return parts.enumerated().map { $0 == 1 ? String(repeating: "0", count: $1.count) : String($1) }
            .joined(separator: ".")
    }

    func purse(_ number: Int64) -> LedgerPurse? { purses[number] }

    func record(_ row: Row) throws -> LedgerRecord? {
        guard let purse = try purses[row.value(1)] else { return nil }
        let date = try LedgerCoding.date(row.value(5))
        let (head, block) = try LedgerCoding.blocks(row.value(22))
        func code(_ index: Int) throws -> CodedValue? { try row.value(index, as: Int64?.self).flatMap { codes[$0] } }
        let warnings = try row.value(21, as: String.self).split(separator: " ")
            .compactMap { DecodingWarning(rawValue: String($0)) }
        let record = try HistoryRecord(
            serial: row.value(4), date: date, time: LedgerCoding.time(row.value(6)),
            entryTime: LedgerCoding.time(row.value(7)), partial: LedgerCoding.partial(row.value(8)),
            kind: RecordKind(rawValue: row.value(9)) ?? .other, terminal: code(10), terminalID: row.value(11),
            process: code(12), payment: code(13), gate: code(14),
            device: row.value(15, as: Int?.self).map { DeviceNumber(rawValue: UInt16(truncatingIfNeeded: $0)) },
            entry: place(row.value(16), on: date), exit: place(row.value(17), on: date), amount: row.value(18),
            balance: row.value(19), gateLog: LedgerCoding.gateLog(row.value(20)), warnings: warnings, rawHead: head,
            raw: block)
        return try LedgerRecord(
            id: row.value(0), uid: uid(row.value(3)), purse: purse, record: record, hasDerivedAmount: row.value(23),
            gapBefore: LedgerGap(row, from: 24), order: row.value(2))
    }
}
