// SPDX-License-Identifier: Apache-2.0

internal import CardDecoders
internal import CardModel

/// The page of a report.
struct ReportPage {
    let data: ReportData
    let language: Language

    /// The whole document.
    var text: String {
        let title = tr("Card ledger", "ICカードの利用記録")
        let body = data.balances.isEmpty ? "<p>\(tr("There are no records.", "記録がありません。"))</p>" : sections
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
            <header><h1>\(title)</h1><p>\(period)</p></header>
            <main>
            \(body)
            </main>
            <footer>\(footnote)</footer>
            </body>
            </html>

            """
    }

    private var sections: String {
        [figures, balances, months, kinds, places, gaps].joined(separator: "\n")
    }

    private var period: String {
        guard let first = data.first, let last = data.last else { return "" }
        return tr("\(first) to \(last)", "\(first) ～ \(last)")
    }

    private var footnote: String {
        let others = data.others.map(\.rawValue).joined(separator: tr(", ", "、"))
        return tr(
            "Made by Kazasu. Unknown amounts are in no sum; dashed lines show where records are lost.",
            "Kazasu で作成。金額が不明な履歴は合計に含みません。破線は履歴が欠けている区間です。")
            + (others.isEmpty
                ? ""
                : tr(
                    " Sums and months are in \(data.currency.rawValue) alone, without \(others).",
                    "合計と月別は \(data.currency.rawValue) だけの集計で、\(others) は含みません。"))
    }

    // MARK: Parts

    private var figures: String {
        let (spent, received) = (data.months.reduce(0) { $0 &+ $1.spent }, data.months.reduce(0) { $0 &+ $1.received })
        let records = data.kinds.reduce(0) { $0 &+ $1.records }
        let rides = data.kinds.filter { $0.key == "rail" || $0.key == "bus" }.reduce(0) { $0 &+ $1.records }
        let values = [
            (tr("Spent", "利用額"), money(0 &- spent)), (tr("Put on", "入金額"), money(received)),
            (tr("Rides", "乗車"), count(rides)), (tr("Records", "履歴"), count(records)),
            (tr("Gaps", "欠落"), count(data.gapCount)),
        ]
        let tiles = values.map { "<div><dt>\($0.0)</dt><dd>\($0.1)</dd></div>" }
        return "<dl class=\"figures\">\(tiles.joined())</dl>"
    }

    private var balances: String {
        let days = data.balances.flatMap { $0.points.map(\.day) }
        guard let first = days.min(), let last = days.max() else { return "" }
        let charts = data.balances.filter { !$0.points.isEmpty }.map { balance in
            let name = balance.purse.name(language)
            let amount: (Int) -> String = { text($0, balance.purse.currency) }
            let (top, now) = (balance.points.map(\.balance).max() ?? 0, balance.points.last?.balance ?? 0)
            let label = tr("Balance of \(name): \(amount(now))", "\(name)の残高: \(amount(now))")
            let chart = ReportCharts.balance(balance, from: first, through: last, title: label)
            return """
                <figure><figcaption><b>\(escaped(name))</b> <span>\(amount(now))</span></figcaption>
                <div class="axis"><span>\(amount(max(1, top)))</span><span>0</span></div>\(chart)
                <div class="ends"><span>\(data.first?.description ?? "")</span><span>\(data.last?.description ?? "")</span></div></figure>
                """
        }
        return section(tr("Balance", "残高の推移"), charts.joined(separator: "\n"))
    }

    private var months: String {
        guard !data.months.isEmpty else { return "" }
        let shown = Array(data.months.suffix(36))
        // A month with gaps has lost records, so its sums are too low.
        let hasGaps = data.months.contains { $0.gaps ?? 0 > 0 }
        let title = tr("Spent and put on, month by month", "月ごとの利用額と入金額")
        let chart = ReportCharts.months(shown, title: title)
        let top = shown.map { max(0 &- $0.spent, $0.received) }.max() ?? 0
        let rows = data.months.reversed().map { month in
            [escaped(month.label[language]), count(month.records), money(0 &- month.spent), money(month.received)]
                + (hasGaps ? [month.gaps.flatMap { $0 > 0 ? count($0) : nil } ?? ""] : [])
        }
        let head =
            [tr("Month", "月"), tr("Records", "件数"), tr("Spent", "利用額"), tr("Put on", "入金額")]
            + (hasGaps ? [tr("Gaps", "欠落")] : [])
        return section(
            tr("Months", "月別"),
            """
            <figure><figcaption><span class="key spent">\(tr("spent", "利用"))</span> <span class="key received">\(tr("put on", "入金"))</span></figcaption>
            <div class="axis"><span>\(money(top))</span><span>0</span></div>\(chart)
            <div class="ends"><span>\(shown.first?.key ?? "")</span><span>\(shown.last?.key ?? "")</span></div></figure>
            \(table(head, rows))
            """)
    }

    private var kinds: String {
        let longest = data.kinds.map { 0 &- $0.spent }.max() ?? 0
        let rows = data.kinds.map { kind in
            [
                escaped(kind.label[language]), count(kind.records), money(kind.amount),
                ReportCharts.bar(0 &- kind.spent, of: longest, "spent"),
            ]
        }
        return section(tr("Kinds", "種別"), table([tr("Kind", "種別"), tr("Records", "件数"), tr("Amount", "金額"), ""], rows))
    }

    private var places: String {
        let parts = [(tr("Stations", "よく使う駅"), data.stations), (tr("Lines", "よく使う路線"), data.lines)].map { title, sums in
            let shown = sums.prefix(10)
            guard !shown.isEmpty else { return "" }
            let longest = shown.map(\.records).max() ?? 0
            let rows = shown.map { sum in
                [
                    escaped(sum.label[language]), count(sum.records), money(0 &- sum.spent),
                    ReportCharts.bar(sum.records, of: longest, "count"),
                ]
            }
            let name = title == tr("Stations", "よく使う駅") ? tr("Station", "駅") : tr("Line", "路線")
            return section(title, table([name, tr("Rides", "回数"), tr("Spent", "利用額"), ""], rows))
        }
        return "<div class=\"pair\">\(parts.joined(separator: "\n"))</div>"
    }

    private var gaps: String {
        guard !data.gaps.isEmpty else {
            return section(tr("Gaps", "履歴の欠落"), "<p>\(tr("Nothing is lost.", "欠落はありません。"))</p>")
        }
        let rows = data.gaps.map { report in
            let gap = report.gap
            let lost =
                gap.missing.map { count($0) }
                ?? gap.atMost.map { tr("\(gap.atLeast) to \($0)", "\(gap.atLeast)～\($0)") } ?? tr("unknown", "不明")
            let days = [report.before, report.after].map { end in
                "<span class=\"date\">\(end.record.date?.description ?? "?")</span>"
            }.joined(separator: tr(" to ", " ～ "))
            let amount = gap.amount.map { text($0, report.after.purse.currency) } ?? tr("unknown", "不明")
            return [days, escaped(report.after.purse.name(language)), lost, amount]
        }
        let head = [tr("Between", "期間"), tr("Card", "カード"), tr("Lost records", "欠落件数"), tr("Money moved", "増減額")]
        return section(tr("Gaps", "履歴の欠落"), table(head, rows))
    }

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

    private func tr(_ english: String, _ japanese: String) -> String { language == .japanese ? japanese : english }

    private func money(_ amount: Int) -> String { text(amount, data.currency) }

    private func text(_ amount: Int, _ currency: Currency) -> String {
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

/// How a report looks.
enum ReportStyle {
    static let css = """
        :root{--back:#fff;--card:#f6f7f9;--ink:#1b1f24;--soft:#5b6570;--rule:#d9dee4;--spent:#2563a8;--received:#3f8f5b;--count:#8a6d1f;--area:#2563a822}
        @media (prefers-color-scheme:dark){:root{--back:#14171a;--card:#1e2328;--ink:#e8ebee;--soft:#a3adb8;--rule:#363d45;--spent:#6aa9ea;--received:#6cc08a;--count:#d3b35a;--area:#6aa9ea2a}}
        *{box-sizing:border-box}
        body{margin:0 auto;padding:1.5rem 1rem 3rem;max-width:60rem;background:var(--back);color:var(--ink);font:16px/1.5 system-ui,"Noto Sans","Noto Sans JP","Hiragino Sans",sans-serif;font-variant-numeric:tabular-nums}
        h1{font-size:1.6rem;margin:0}h2{font-size:1.15rem;margin:0 0 .6rem}
        header p,footer,figcaption span,.axis,.ends{color:var(--soft)}
        header p{margin:.2rem 0 1rem}footer{margin-top:2rem;font-size:.85rem}
        section{margin-top:1.8rem;min-width:0}
        .figures{display:grid;grid-template-columns:repeat(auto-fit,minmax(8rem,1fr));gap:.6rem;margin:0}
        .figures div{background:var(--card);border-radius:.5rem;padding:.6rem .8rem}
        dt{font-size:.85rem;color:var(--soft)}dd{margin:0;font-size:1.25rem;font-weight:600}
        figure{margin:0 0 1.2rem;position:relative}figcaption{display:flex;justify-content:space-between;gap:1rem;margin-bottom:.3rem}
        .chart{display:block;width:100%;height:11rem;overflow:visible}
        .chart path,.chart rect{vector-effect:non-scaling-stroke}
        .grid{stroke:var(--rule);stroke-width:1;fill:none}
        .line{stroke:var(--spent);stroke-width:1.25;fill:none}.lost{stroke-dasharray:4 4}.area{fill:var(--area)}
        .spent{fill:var(--spent)}.received{fill:var(--received)}.count{fill:var(--count)}
        .axis{position:absolute;right:0;top:1.9rem;height:11rem;display:flex;flex-direction:column;justify-content:space-between;font-size:.75rem;pointer-events:none;text-shadow:0 0 3px var(--back),0 0 3px var(--back)}
        .axis span:last-child{visibility:hidden}
        .ends{display:flex;justify-content:space-between;font-size:.8rem;margin-top:.2rem}
        .key::before{content:"";display:inline-block;width:.8em;height:.8em;margin-right:.35em;border-radius:.15em;background:currentColor}
        figcaption .key.spent::before{color:var(--spent)}figcaption .key.received::before{color:var(--received)}
        figcaption:has(.key){justify-content:flex-start}
        .scroll{overflow-x:auto}table{width:100%;border-collapse:collapse;font-size:.95rem}
        th,td{padding:.3rem .5rem;border-bottom:1px solid var(--rule);text-align:right;white-space:nowrap}
        .date{white-space:nowrap}th:first-child{text-align:left;font-weight:400;white-space:normal}thead th{color:var(--soft);font-weight:400;font-size:.85rem}
        .bar{display:block;width:100%;min-width:4rem;height:.7rem}td:last-child:has(.bar){width:35%}
        .pair{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(100%,26rem),1fr));gap:0 2rem}
        @media print{:root{--back:#fff;--card:#fff;--ink:#000;--soft:#444;--rule:#bbb;--spent:#2563a8;--received:#3f8f5b;--count:#8a6d1f;--area:#2563a822}
        body{max-width:none;padding:0;font-size:11pt;-webkit-print-color-adjust:exact;print-color-adjust:exact}.figures div{border:1px solid var(--rule)}
        figure,tr,.figures{break-inside:avoid}h2{break-after:avoid}}
        """
}
