// SPDX-License-Identifier: Apache-2.0

internal import ByteCodec
internal import CardDecoders
internal import CardModel

extension LedgerFormat {
    /// OFX 1.0.2.
    public static let ofx = LedgerFormat(
        "ofx", LocalizedText("OFX 1.0.2, for GnuCash and others", "OFX 1.0.2、GnuCash など"), needsBalance: true,
        write: OFXExport.write)
}

/// OFX 1.0.2, each purse a bank account.
///
/// `ENCODING:UNICODE` with `CHARSET:NONE` is the one header with which ofxtools and ofxparse both read UTF-8 (measured with ofxtools
/// 1.1.1 and ofxparse 0.21). Each tag has a line of its own, since some importers read no other form.
enum OFXExport {
    static func write(_ chains: [ExportChain], _ options: LedgerExportOptions, _ sink: ExportSink) throws {
        func write(_ lines: [String]) { sink.write(lines, newline: "\r\n") }
        let last = chains.compactMap(\.closing?.date).max()
        write([
            "OFXHEADER:100", "DATA:OFXSGML", "VERSION:102", "SECURITY:NONE", "ENCODING:UNICODE", "CHARSET:NONE",
            "COMPRESSION:NONE", "OLDFILEUID:NONE", "NEWFILEUID:NONE", "", "<OFX>", "<SIGNONMSGSRSV1>", "<SONRS>",
        ])
        write(status + ["<DTSERVER>\(last.map { day($0) } ?? "19700101120000")"])
        write([
            "<LANGUAGE>\(options.language == .japanese ? "JPN" : "ENG")", "</SONRS>", "</SIGNONMSGSRSV1>",
            "<BANKMSGSRSV1>",
        ])
        for (number, chain) in chains.enumerated() {
            // A statement must state a balance: `LEDGERBAL` is required.
            guard let closing = chain.closing, let days = chain.days else { continue }
            write(["<STMTTRNRS>", "<TRNUID>\(number + 1)"] + status)
            write(["<STMTRS>", "<CURDEF>\(chain.purse.currency.rawValue)", "<BANKACCTFROM>"])
            write(["<BANKID>\(chain.purse.system)", "<ACCTID>\(chain.purse.card.suffix(22))"])
            write(["<ACCTTYPE>CHECKING", "</BANKACCTFROM>", "<BANKTRANLIST>"])
            write(["<DTSTART>\(day(days.lowerBound))", "<DTEND>\(day(days.upperBound))"])
            try chain.forEachItem(to: sink) { item in
                write(transaction(item, chain.purse, options))
            }
            write(["</BANKTRANLIST>", "<LEDGERBAL>"])
            write(["<BALAMT>\(chain.purse.currency.text(closing.balance))", "<DTASOF>\(day(closing.date))"])
            write(["</LEDGERBAL>", "</STMTRS>", "</STMTTRNRS>"])
        }
        write(["</BANKMSGSRSV1>", "</OFX>"])
    }

    private static let status = ["<STATUS>", "<CODE>0", "<SEVERITY>INFO", "</STATUS>"]

    private static func transaction(
        _ item: ExportChain.Item, _ purse: LedgerPurse, _ options: LedgerExportOptions
    ) -> [String] {
        switch item {
        case .opening: return []
        case .gap(let gap, let record, let date):
            return transaction(
                gap.amount ?? 0 < 0 ? "DEBIT" : "CREDIT", day(date), gap.amount ?? 0, ExportText.id(of: record),
                ExportText.title(gap, options.language), "", purse)
        case .record(let record, let amount, let date), .late(let record, let amount, let date, _):
            let type =
                switch record.record.kind {
                case .charge, .issue: "XFER"
                case .purchase: "POS"
                default: amount < 0 ? "DEBIT" : "CREDIT"
                }
            return transaction(
                type, moment(date, record), amount, record.uid, ExportText.title(record, options.language),
                ExportText.memo(record, options.language), purse)
        }
    }

    /// `NAME` holds 32 characters; a longer text goes on in `MEMO`.
    private static func transaction(
        _ type: String, _ moment: String, _ amount: Int, _ id: String, _ title: String, _ memo: String,
        _ purse: LedgerPurse
    ) -> [String] {
        let rest = title.count > 32 ? [title, memo] : [memo]
        let text = rest.filter { !$0.isEmpty }.joined(separator: "; ")
        return ["<STMTTRN>", "<TRNTYPE>\(type)", "<DTPOSTED>\(moment)", "<TRNAMT>\(purse.currency.text(amount))"]
            + ["<FITID>\(id)", "<NAME>\(escaped(String(title.prefix(32))))"]
            + (text.isEmpty ? [] : ["<MEMO>\(escaped(String(text.prefix(255))))"]) + ["</STMTTRN>"]
    }

    /// Noon in Greenwich stands for a day without a time: it is the same day wherever a program reads it. libofx warns of a bare day.
    private static func day(_ date: CalendarDate) -> String { ExportText.date(date, "") + "120000" }

    /// The time of Japan, where the card keeps one.
    private static func moment(_ date: CalendarDate, _ record: LedgerRecord) -> String {
        guard let time = record.record.time, record.purse.currency == .yen else { return day(date) }
        func two(_ number: Int) -> String { DecimalDigits(number, width: 2).text }
        return ExportText.date(date, "") + two(time.hour) + two(time.minute) + two(time.second ?? 0) + "[+9:JST]"
    }

    /// A text between tags. SGML's entities are three: libofx stops at `&quot;`, which HTML needs within attributes.
    static func escaped(_ text: String, quotes: Bool = false) -> String {
        ExportText.line(text).unicodeScalars.map { scalar in
            switch scalar {
            case "&": "&amp;"
            case "<": "&lt;"
            case ">": "&gt;"
            case "\"" where quotes: "&quot;"
            default: String(scalar)
            }
        }.joined()
    }
}
