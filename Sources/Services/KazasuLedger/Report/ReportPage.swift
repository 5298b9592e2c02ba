// SPDX-License-Identifier: Apache-2.0

internal import CardDecoders
internal import CardModel

struct ReportPage {
    let data: ReportData
    let language: Language

    /// The whole document.
    var text: String {
        let title = escaped(heading)
        let body = data.balances.isEmpty ? nothing : sections
        return """
            <!DOCTYPE html>
            <html lang="\(language.rawValue)">
            <head>
            <meta charset="utf-8">
            <meta name="viewport" content="width=device-width, initial-scale=1">
            <meta name="color-scheme" content="light dark">
            <meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
            <title>\(title)</title>
            <style>\(ReportStyle.css)</style>
            </head>
            <body>
            <header><h1>\(title)</h1><p>\(period)</p><p>\(origin)</p></header>
            <main>
            \(body)
            </main>
            <footer>\(footnote)</footer>
            </body>
            </html>

            """
    }

    /// The name of the only card, else the kind of page.
    private var heading: String {
        data.balances.count == 1 ? data.balances.first?.purse.name(language) ?? "" : tr("Card ledger", "ICカードの利用記録")
    }

    private var sections: String {
        [figures, warning, balances, periods, kinds, places, gaps].joined(separator: "\n")
    }

    /// Shown instead of sums when no record is chosen; records may still be missing.
    private var nothing: String {
        let (since, until) = (data.chosen.since.map(date), data.chosen.until.map(date))
        let words =
            switch (since, until) {
            case (let since?, let until?):
                tr("There are no records from \(since) to \(until).", "\(since)～\(until)の記録はありません。")
            case (let since?, nil): tr("There are no records from \(since) on.", "\(since)以降の記録はありません。")
            case (nil, let until?): tr("There are no records up to \(until).", "\(until)までの記録はありません。")
            case (nil, nil): tr("There are no records.", "記録はありません。")
            }
        return "<p>\(words)</p>" + (data.gaps.isEmpty ? "" : warning + gaps)
    }

    private var period: String {
        guard let first = data.first, let last = data.last else { return "" }
        return tr("\(date(first)) to \(date(last))", "\(date(first))～\(date(last))")
    }

    /// When the page was made, from which cards, and when these were last read.
    private var origin: String {
        let offset = Self.clock(data.madeAt).dropFirst(19)
        let zone = "UTC" + (offset == "Z" || offset == "+00:00" ? "" : offset)
        let made = date(Self.day(data.madeAt)) + tr(" (\(zone))", "（\(zone)）")
        guard !data.balances.isEmpty else { return tr("Made on \(made)", "\(made) 作成") }
        let reads = data.balances.map { balance in
            balance.readAt.map { tr(" (last read \(date(Self.day($0))))", "（最終読み取り \(date(Self.day($0)))）") } ?? ""
        }
        // What is the same for all cards is said once.
        let isSame = Set(reads).count == 1
        let cards = zip(data.balances, reads).map { balance, read in
            escaped(balance.purse.name(language)) + (isSame ? "" : read)
        }.joined(separator: tr(", ", "、"))
        let all = cards + (isSame ? reads.first ?? "" : "")
        return tr("Made on \(made) from \(all)", "\(made) 作成。対象: \(all)")
    }

    private var footnote: String {
        let others = data.others.map(\.rawValue).joined(separator: tr(", ", "、"))
        return tr(
            "Made by Kazasu. Unknown amounts are in no sum.",
            "Kazasu で作成。金額が不明な履歴は合計に含みません。")
            + (others.isEmpty
                ? ""
                : tr(
                    " Sums are in \(data.currency.rawValue) only, without \(others).",
                    "合計は \(data.currency.rawValue) だけの集計で、\(others) は含みません。"))
    }

    // MARK: Parts

    private var figures: String {
        let isAlone = data.balances.count == 1
        let cards = data.balances.compactMap { balance in
            balance.now.map { now in
                let name = isAlone ? tr("Balance", "残高") : escaped(balance.purse.name(language))
                return tile(
                    name, text(now, balance.purse.currency), tr("on \(date(balance.last))", "\(date(balance.last)) 現在"),
                    "now")
            }
        }
        let rides = data.kinds.filter { $0.key == "rail" || $0.key == "bus" }.reduce(0) { $0 &+ $1.records }
        let sums = [
            tile(tr("Spent", "利用額"), money(0 &- (data.total?.spent ?? 0))),
            tile(tr("Topped up", "チャージ額"), money(data.total?.received ?? 0)),
            tile(tr("Rides", "乗車"), tr(count(rides), "\(count(rides))回")),
            tile(
                tr("Gaps", "欠落"), tr(count(data.missing.gaps), "\(count(data.missing.gaps))か所"), "",
                data.missing.gaps > 0 ? "alert" : ""),
        ]
        guard isAlone else {
            return [cards, sums].filter { !$0.isEmpty }.map { "<dl class=\"figures\">\($0.joined())</dl>" }.joined()
        }
        return "<dl class=\"figures\">\((cards + sums).joined())</dl>"
    }

    private func tile(_ name: String, _ value: String, _ note: String = "", _ style: String = "") -> String {
        "<div\(style.isEmpty ? "" : " class=\"\(style)\"")><dt>\(name)</dt><dd>\(value)</dd>"
            + (note.isEmpty ? "" : "<dd class=\"note\">\(note)</dd>") + "</div>"
    }

    /// Notes about missing records beside the affected sums.
    private var warning: String {
        let missing = data.missing
        guard missing.gaps > 0 else { return "" }
        let lost =
            switch missing.atMost {
            case 0?: tr("the balances differ, though no record is lost", "履歴はそろっていますが、残高が合いません")
            case missing.atLeast?: tr("\(missing.atLeast) records are lost", "履歴が\(missing.atLeast)件失われています")
            case let most?:
                tr("\(missing.atLeast) to \(most) records are lost", "履歴が\(missing.atLeast)～\(most)件失われています")
            case nil: tr("at least \(missing.atLeast) records are lost", "履歴が\(missing.atLeast)件以上失われています")
            }
        return "<p class=\"warning\">"
            + tr(
                "Totals are incomplete: \(lost). <a href=\"#gaps\">See the gaps</a>",
                "合計は実際より少なくなっています（\(lost)）。<a href=\"#gaps\">欠落の一覧</a>")
            + "</p>"
    }

    private var balances: String {
        let isAlone = data.balances.count == 1
        let charts = data.balances.compactMap { balance in
            chart(balance).map { chart in
                let caption =
                    isAlone
                    ? ""
                    : "<b>\(escaped(balance.purse.name(language)))</b> <span>\(balance.now.map { text($0, balance.purse.currency) } ?? "")</span>"
                return
                    "<figure><figcaption>\(caption)</figcaption>\(chart.html { text($0, balance.purse.currency) })</figure>"
            }
        }
        guard !charts.isEmpty else { return "" }
        let hasBands = data.balances.contains { $0.unit != .day }
        let hasGaps = data.balances.contains { $0.bins.contains { $0.gap != nil } }
        let units = Set(data.balances.map(\.unit))
        let ends = [
            units.contains(.week) ? tr("end of the week", "週末時点") : nil,
            units.contains(.month) ? tr("end of the month", "月末時点") : nil,
        ].compactMap(\.self)
        let keys = [
            hasBands ? "<span class=\"key thin\">\(ends.joined(separator: tr(" or ", "・")))</span>" : "",
            hasBands ? "<span class=\"key area\">\(tr("lowest to highest", "最低～最高"))</span>" : "",
            hasGaps ? "<span class=\"key lost\">\(tr("records are missing", "履歴の欠落"))</span>" : "",
        ].filter { !$0.isEmpty }
        let key = keys.isEmpty ? "" : "<p class=\"keys\">\(keys.joined(separator: " "))</p>"
        return section(tr("Balance", "残高の推移"), key + charts.joined(separator: "\n"))
    }

    private var periods: String {
        guard !data.periods.isEmpty else { return "" }
        // A period with gaps has lost records, so its sums are too low.
        let hasGaps = data.periods.contains { $0.gaps ?? 0 > 0 }
        let (title, head): (String, String) =
            switch data.unit {
            case .day: (tr("Days", "日別"), tr("Day", "日"))
            case .year: (tr("Years", "年別"), tr("Year", "年"))
            default: (tr("Months", "月別"), tr("Month", "月"))
            }
        let rows = data.periods.reversed().filter { $0.records > 0 || $0.gaps ?? 0 > 0 || data.unit != .day }.map {
            period in
            [
                "<span id=\"p\(period.key)\">\(label(period.key))</span>", count(period.records),
                money(0 &- period.spent), money(period.received),
            ] + (hasGaps ? [period.gaps.flatMap { $0 > 0 ? count($0) : nil } ?? ""] : [])
        }
        let columns =
            [head, tr("Records", "件数"), tr("Spent", "利用額"), tr("Topped up", "チャージ額")]
            + (hasGaps ? [tr("Gaps", "欠落")] : [])
        let lost = hasGaps ? " <span class=\"key lost\">\(tr("records are missing", "履歴の欠落"))</span>" : ""
        return section(
            title,
            """
            <p class="keys"><span class="key spent">\(tr("spent", "利用額"))</span> <span class="key received">\(tr("topped up", "チャージ額"))</span>\(lost)</p>
            <figure>\(periodChart.html(money))</figure>
            <details><summary>\(tr("As a table", "表で見る"))</summary>\(table(columns, rows))</details>
            """)
    }

    private var kinds: String {
        // A bar is as long as the number beside it.
        let longest = data.kinds.map { abs(clamped($0.amount)) }.max() ?? 0
        let rows = data.kinds.map { kind in
            [
                escaped(kind.label[language]), count(kind.records), money(kind.amount),
                ReportChart.bar(abs(clamped(kind.amount)), of: longest, kind.amount < 0 ? "spent" : "received"),
            ]
        }
        return section(tr("Kinds", "種別"), table([tr("Kind", "種別"), tr("Records", "件数"), tr("Sum", "差引"), ""], rows))
    }

    private var places: String {
        let parts = [
            (tr("Stations", "よく使う駅"), tr("Station", "駅"), data.stations),
            (tr("Lines", "よく使う路線"), tr("Line", "路線"), data.lines),
        ].map { title, name, sums in
            let shown = sums.prefix(10)
            guard !shown.isEmpty else { return "" }
            let longest = shown.map(\.records).max() ?? 0
            let rows = shown.map { sum in
                [
                    escaped(sum.title[language]), money(0 &- sum.spent),
                    tr(count(sum.records), "\(count(sum.records))回"),
                    ReportChart.bar(sum.records, of: longest, "count"),
                ]
            }
            return section(title, table([name, tr("Spent", "利用額"), tr("Rides", "乗車"), ""], rows))
        }
        guard !parts.joined().isEmpty else { return "" }
        let note = tr(
            "A ride counts at both of its stations, so that the stations add up to more than was spent.",
            "1 回の乗車を乗車駅と降車駅の両方で数えるため、駅ごとの金額を足すと利用額より多くなります。")
        return "<div class=\"pair\">\(parts.joined(separator: "\n"))</div><p class=\"small\">\(note)</p>"
    }

    private var gaps: String {
        guard !data.gaps.isEmpty else {
            return section(tr("Gaps", "履歴の欠落"), "<p>\(tr("Nothing is lost.", "欠落はありません。"))</p>")
        }
        let (known, isAlone) = (Set(data.periods.map(\.key)), data.balances.count == 1)
        let rows = data.gaps.map { report in
            let gap = report.gap
            let lost =
                gap.missing.map { tr(count($0), "\(count($0))件") }
                ?? gap.atMost.map { tr("\(gap.atLeast) to \($0)", "\(gap.atLeast)～\($0)件") } ?? tr("unknown", "不明")
            let days = [report.before, report.after].map { end -> String in
                let day = "<span class=\"date\">\(date(end.record.date))</span>"
                guard let period = end.record.date.flatMap(data.unit.period), known.contains(period) else {
                    return day
                }
                return "<a href=\"#p\(period)\">\(day)</a>"
            }.joined(separator: tr(" to ", "～"))
            let amount =
                gap.amount.map { text($0, report.after.purse.currency) + (gap.coversNext ? "*" : "") }
                ?? tr("unknown", "不明")
            return [days] + (isAlone ? [] : [escaped(report.after.purse.name(language))]) + [lost, amount]
        }
        let head =
            [tr("Between", "期間")] + (isAlone ? [] : [tr("Card", "カード")])
            + [tr("Lost records", "欠落件数"), tr("Money moved", "増減額")]
        let rest = data.missing.gaps - data.gaps.count
        let more = rest > 0 ? "<p class=\"small\">\(tr("and \(count(rest)) more", "ほか \(count(rest)) か所"))</p>" : ""
        let note = tr("* with the record after the gap, whose own amount is unknown", "* 次の履歴（金額不明）の分を含みます")
        let hasNote = data.gaps.contains { $0.gap.coversNext && $0.gap.amount != nil }
        return "<div id=\"gaps\"></div>"
            + section(
                tr("Gaps", "履歴の欠落"), table(head, rows) + (hasNote ? "<p class=\"small\">\(note)</p>" : "") + more)
    }

    // MARK: Days

    /// A moment by the clock of the computer, as in `2026-11-25T21:31:00+09:00`.
    private static func clock(_ time: Int) -> String { Timestamp(milliseconds: time &* 1_000).text(.local, .seconds) }

    private static func day(_ time: Int) -> CalendarDate? { CalendarDate(String(clock(time).prefix(10))) }

    /// A day as people write it.
    func date(_ date: CalendarDate?) -> String {
        guard let date else { return "?" }
        return tr("\(date.day) \(monthName(date.month)) \(date.year)", "\(date.year)年\(date.month)月\(date.day)日")
    }

    /// A period as people write it.
    func label(_ key: String) -> String {
        let parts = key.split(separator: "-")
        switch parts.count {
        case 1: return year(parts.first)
        case 2: return tr("\(monthName(parts[1])) \(parts[0])", "\(parts[0])年\(monthName(parts[1]))")
        default: return date(CalendarDate(key))
        }
    }

    func year(_ digits: (some StringProtocol)?) -> String { digits.map { tr("\($0)", "\($0)年") } ?? "" }

    func monthName(_ digits: Substring?) -> String { digits.flatMap { Int($0) }.map(monthName) ?? "" }

    func monthName(_ month: Int) -> String {
        let names = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
        return tr(names.indices.contains(month - 1) ? names[month - 1] : "", "\(month)月")
    }

    /// A sum whose negation exists.
    private func clamped(_ amount: Int) -> Int { max(amount, 0 - .max) }

    // MARK: Text

    private func section(_ title: String, _ content: String) -> String {
        "<section><h2>\(title)</h2>\n\(content)\n</section>"
    }

    /// A table whose cells are HTML; the first column is text, the others are numbers.
    private func table(_ head: [String], _ rows: [[String]]) -> String {
        let header = head.map { "<th scope=\"col\">\($0)</th>" }.joined()
        let body = rows.map { row in
            "<tr><th scope=\"row\">\(row.first ?? "")</th>" + row.dropFirst().map { "<td>\($0)</td>" }.joined()
                + "</tr>"
        }
        return
            "<div class=\"scroll\"><table><thead><tr>\(header)</tr></thead><tbody>\(body.joined(separator: "\n"))</tbody></table></div>"
    }

    func tr(_ english: String, _ japanese: String) -> String { language == .japanese ? japanese : english }

    func money(_ amount: Int) -> String { text(amount, data.currency) }

    func text(_ amount: Int, _ currency: Currency) -> String {
        let text = currency.text(amount)
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        let digits = grouped(parts.first.map(String.init) ?? "0") + (parts.count > 1 ? "." + parts[1] : "")
        guard currency == .yen else { return "\(digits) \(currency.rawValue)" }
        let sign = digits.prefix { $0 == "\u{2212}" }
        return tr("\(sign)¥\(digits.dropFirst(sign.count))", "\(digits)円")
    }

    private func count(_ number: Int) -> String { grouped(String(number)) }

    /// Digits in groups of three, with a true minus sign.
    private func grouped(_ digits: String) -> String {
        let isNegative = digits.hasPrefix("-")
        var text = ""
        for (index, digit) in digits.drop(while: { $0 == "-" }).reversed().enumerated() {
            if index > 0, index % 3 == 0 { text.append(",") }
            text.append(digit)
        }
        return (isNegative ? "\u{2212}" : "") + String(text.reversed())
    }

    private func escaped(_ text: String) -> String { ReportPage.escaped(text) }

    static func escaped(_ text: String) -> String { OFXExport.escaped(text, quotes: true) }
}
