// SPDX-License-Identifier: Apache-2.0

internal import ByteCodec
internal import CardDecoders
internal import CardModel

/// OFX 1.0.2, each purse a bank account.
///
/// `ENCODING:UNICODE` with `CHARSET:NONE` is the one header with which ofxtools and ofxparse both read UTF-8 (measured with ofxtools
/// 1.1.1 and ofxparse 0.21). Each tag has a line of its own, since some importers read no other form.
enum OFXExport {
    static func write(_ chains: [ExportChain], _ options: LedgerExportOptions) -> [UInt8] {
        let last = chains.compactMap(\.closing?.date).max()
        var lines = [
            "OFXHEADER:100", "DATA:OFXSGML", "VERSION:102", "SECURITY:NONE", "ENCODING:UNICODE", "CHARSET:NONE",
            "COMPRESSION:NONE", "OLDFILEUID:NONE", "NEWFILEUID:NONE", "", "<OFX>", "<SIGNONMSGSRSV1>", "<SONRS>",
        ]
        lines += status + ["<DTSERVER>\(last.map { day($0) } ?? "19700101120000")"]
        lines += [
            "<LANGUAGE>\(options.language == .japanese ? "JPN" : "ENG")", "</SONRS>", "</SIGNONMSGSRSV1>",
            "<BANKMSGSRSV1>",
        ]
        for (number, chain) in chains.enumerated() {
            guard let closing = chain.closing, !chain.items.isEmpty else { continue }
            lines += ["<STMTTRNRS>", "<TRNUID>\(number + 1)"] + status
            lines += ["<STMTRS>", "<CURDEF>\(chain.purse.currency.rawValue)", "<BANKACCTFROM>"]
            lines += ["<BANKID>\(chain.purse.system)", "<ACCTID>\(chain.purse.card.suffix(22))"]
            lines += ["<ACCTTYPE>CHECKING", "</BANKACCTFROM>", "<BANKTRANLIST>"]
            let transactions = chain.items.flatMap { transaction($0, chain.purse, options) }
            let dates = chain.items.map(\.date)
            lines += ["<DTSTART>\(day(dates.min() ?? closing.date))", "<DTEND>\(day(dates.max() ?? closing.date))"]
            lines += transactions + ["</BANKTRANLIST>", "<LEDGERBAL>"]
            lines += ["<BALAMT>\(chain.purse.currency.text(closing.balance))", "<DTASOF>\(day(closing.date))"]
            lines += ["</LEDGERBAL>", "</STMTRS>", "</STMTTRNRS>"]
        }
        lines += ["</BANKMSGSRSV1>", "</OFX>"]
        return Array((lines.joined(separator: "\r\n") + "\r\n").utf8)
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
            guard record.record.date != nil else { return [] }
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
        text.unicodeScalars.map { scalar in
            switch scalar {
            case "&": "&amp;"
            case "<": "&lt;"
            case ">": "&gt;"
            case "\"" where quotes: "&quot;"
            default: scalar.value < 0x20 ? " " : String(scalar)
            }
        }.joined()
    }
}

/// Quicken Interchange Format; days are year/month/day, charges are transfers.
enum QIFExport {
    static func write(_ chains: [ExportChain], _ options: LedgerExportOptions) -> [UInt8] {
        var lines: [String] = []
        for chain in chains {
            let name = line(chain.purse.name(options.language))
            lines += ["!Account", "N\(name)", "TBank", "^", "!Type:Bank"]
            let money = chain.purse.currency.text
            for item in chain.items {
                switch item {
                case .opening(let balance, let date):
                    lines += [
                        "D\(ExportText.date(date, "/"))", "T\(money(balance))", "POpening Balance", "L[\(name)]", "^",
                    ]
                case .gap(let gap, let record, let date):
                    lines += ["D\(ExportText.date(date, "/"))", "T\(money(gap.amount ?? 0))"]
                    lines += ["P\(ExportText.title(gap, options.language))", "M\(ExportText.id(of: record))", "^"]
                case .record(let record, let amount, let date), .late(let record, let amount, let date, _):
                    guard record.record.date != nil else { continue }
                    lines += ["D\(ExportText.date(date, "/"))", "T\(money(amount))"]
                    if let serial = record.record.serial { lines.append("N\(serial)") }
                    lines.append("P\(line(ExportText.title(record, options.language)))")
                    lines.append("M\(line(record.uid + " " + ExportText.memo(record, options.language)))")
                    if record.record.kind == .charge {
                        lines.append("L[\(options.language == .japanese ? "チャージ" : "Charges")]")
                    }
                    lines.append("^")
                }
            }
        }
        return Array(lines.map { $0 + "\n" }.joined().utf8)
    }

    private static func line(_ text: String) -> String {
        String(String.UnicodeScalarView(text.unicodeScalars.map { $0.value < 0x20 ? " " : $0 }))
    }
}

extension ExportChain.Item {
    /// The day of the line.
    var date: CalendarDate {
        switch self {
        case .opening(_, let date), .gap(_, _, let date), .record(_, _, let date), .late(_, _, let date, _): date
        }
    }
}
