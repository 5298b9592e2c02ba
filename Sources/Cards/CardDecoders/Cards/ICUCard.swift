// SPDX-License-Identifier: Apache-2.0

internal import ByteCodec
package import CardModel

// The student card of the International Christian University (ICU), an FCF card with money in 120F of the common area.
//
// Certain for one card (ten records in the tests of TRETJapanNFCReader v2.x: every balance is the older one and the
// amount, every day a weekday). Whether other universities use the layout is not known, and the service says nothing of
// its issuer, so a card counts as one of ICU only while all its records are in this layout and their balances chain.

extension CardKind {
    /// ICU student card.
    public static let icu = CardKind(rawValue: "icu")
}

/// Decodes the student card of ICU: balance and the last ten records.
package struct ICUDecoder: CardDecoder {
    package let kind = CardKind.icu
    package let name = LocalizedText("ICU student card", "国際基督教大学（ICU）学生証")
    /// The newest block of service 120F; the card has no open purse.
    package let balanceRead = ReadRequest(0xFE00, 0x120F)
    /// The ten blocks of service 120F.
    package var historyReads: [ReadRequest] { [historyRead] }

    private let historyRead = ReadRequest(0xFE00, 0x120F, 0..<10)

    package init() {}

    /// Returns whether the common area has the service, with records in the layout.
    package func recognizes(_ dump: CardDump) -> Bool {
        guard dump.holds(historyRead), let service = dump.opened(historyRead) else { return false }
        return history(service) != nil
    }

    /// The balance after the newest record: bytes 11 to 13, little-endian, yen.
    package func balance(_ dump: CardDump) throws(CardDecodingError) -> BalanceReport {
        let newest = try dump.block(balanceRead, kind: kind, field: "balance", offset: 11)
        guard let block = ICUHistoryBlock(newest), recognizes(dump) else { throw otherLayout }
        return BalanceReport(kind: kind, name: name, amount: block.balance, warnings: [.oneSource])
    }

    /// Decodes balance and history.
    package func decode(_ dump: CardDump, stations: any StationNames) throws(CardDecodingError) -> CardReport {
        var report = CardReport(kind: kind, name: name)
        if let service = dump.opened(historyRead) {
            guard let history = history(service) else { throw otherLayout }
            report.take(history)
        }
        try report.takeBalance(orFrom: nil) { () throws(CardDecodingError) in try balance(dump) }
        return report
    }

    /// The records, or `nil` when there are none, or when one is not in the layout.
    private func history(_ service: ServiceDump) -> LocalHistory? {
        let used = service.blocks.filter { !$0.block.isZero }
        guard !used.isEmpty, used.allSatisfy({ ICUHistoryBlock($0.block) != nil }) else { return nil }
        var history = LocalHistory(service) { ICUHistoryBlock($0)?.record }
        history.checkAmounts()
        let chains = history.records.allSatisfy { !$0.warnings.contains(.amountDiffersFromBalances) }
        return chains ? history : nil
    }

    private var otherLayout: CardDecodingError {
        CardDecodingError(
            kind: kind, field: "balance", system: balanceRead.system, service: balanceRead.service, block: 0, offset: 0,
            reason: .otherLayout)
    }
}

/// One block of service 120F; all numbers are little-endian.
///
/// Days since 2000-01-01 (0, 1), hour and minute in binary-coded decimal, kind (4), kind of terminal (5), a number at the
/// terminal (6, 7), amount (8 to 10), balance (11 to 13), and a number that counts the payments only (14, 15; FFFF at a
/// top-up), so it is not a serial of the records.
struct ICUHistoryBlock {
    private static let kinds = DecoderTables.purseKinds["icu"] ?? [:]

    private let raw: Block
    private let time: ClockTime
    private let kind: PurseKind

    /// Creates a record, or `nil` when the block is not in the layout.
    init?(_ block: Block) {
        guard let kind = Self.kinds[block[4]], let time = ClockTime(decimalHour: block[2], minute: block[3]),
            block.uint16(at: 0, .little) != 0
        else { return nil }
        self.kind = kind
        self.time = time
        raw = block
    }

    var balance: Int { Int(raw.uint24(at: 11, .little)) }

    var record: HistoryRecord {
        HistoryRecord(
            serial: nil, date: CalendarDate(daysSince2000: raw.uint16(at: 0, .little)), time: time,
            kind: kind.recordKind, terminal: CodedValue(code: raw[5], name: nil), process: kind.value,
            amount: kind.signed(Int(raw.uint24(at: 8, .little))), balance: balance, raw: raw)
    }
}
