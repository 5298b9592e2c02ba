// SPDX-License-Identifier: Apache-2.0

internal import CardDecoders
internal import CardModel

/// A chart with its axes: SVG for what is drawn, which stretches, and HTML for the labels, which stay readable on a phone.
struct ReportChart {
    /// A label on the time axis.
    struct Tick {
        /// Between 0 and 1.
        let place: Double
        var text: String
        /// A second line, as for a year.
        var below = ""
        /// Whether a narrow screen leaves it out.
        var isMinor = false
    }

    private static let (width, height) = (1_000.0, 240.0)

    let title: String
    /// The drawing, in a plane of 1,000 by 240.
    var drawing = ""
    /// The values with a line and a label; the last is the top of the chart.
    let values: [Int]
    var ticks: [Tick] = []

    private var bottom: Int { values.first ?? 0 }
    private var top: Int { max(bottom + 1, values.last ?? 1) }

    /// - Parameters:
    ///   - low: the lowest value of the axis; never above zero.
    ///   - high: the highest value of the axis.
    init(title: String, from low: Int, to high: Int) {
        self.title = title
        values = ReportChart.steps(min(0, low), max(1, high))
    }

    /// Round values from below `low` to above `high`, at most six.
    private static func steps(_ low: Int, _ high: Int) -> [Int] {
        let span = Double(high) - Double(low)
        var step = 1.0
        let factors = [2.0, 2.5, 2.0]
        for factor in (0..<60).lazy.map({ factors[$0 % 3] }) where span / step > 4 { step *= factor }
        // 2.5 comes as 1, 2, 5, 10; in whole units.
        let whole = max(1, Int(step.rounded()))
        let first = Int((Double(low) / Double(whole)).rounded(.down))
        let last = Int((Double(high) / Double(whole)).rounded(.up))
        guard last > first, last - first < 100 else { return [low, high] }
        return (first...last).map { $0 &* whole }
    }

    func x(_ place: Double) -> Double { place * ReportChart.width }

    func y(_ value: Int) -> Double {
        ReportChart.height - (Double(value) - Double(bottom)) / (Double(top) - Double(bottom)) * ReportChart.height
    }

    /// A rectangle between two places and two values, with a text that shows where the pointer rests.
    func rectangle(_ name: String, _ from: Double, _ through: Double, _ low: Int, _ high: Int, _ text: String) -> String
    {
        let (top, bottom) = (y(high), y(low))
        return "<rect class=\"\(name)\" x=\"\(ReportChart.number(x(from)))\" y=\"\(ReportChart.number(top))\" "
            + "width=\"\(ReportChart.number(max(1, x(through) - x(from))))\" "
            + "height=\"\(ReportChart.number(max(0, bottom - top)))\">\(ReportChart.title(text))</rect>"
    }

    /// A column over the whole height.
    func band(_ name: String, _ from: Double, _ through: Double, _ text: String) -> String {
        rectangle(name, from, through, bottom, top, text)
    }

    private static func title(_ text: String) -> String {
        text.isEmpty ? "" : "<title>\(ReportPage.escaped(text))</title>"
    }

    /// The chart.
    ///
    /// - Parameter money: writes a value of the axis.
    func html(_ money: (Int) -> String) -> String {
        let share: (Int) -> Double = { (Double($0) - Double(bottom)) / (Double(top) - Double(bottom)) * 100 }
        let labels = values.map {
            // The values of an axis are round.
            "<span style=\"bottom:\(ReportChart.number(share($0)))%\">\(money($0).replacing(/\.0+\b/, with: ""))</span>"
        }
        let grid = values.map { "M0 \(ReportChart.number(y($0)))H1000" }.joined()
        let times = ticks.map { tick in
            let below = tick.below.isEmpty ? "" : "<br>\(ReportPage.escaped(tick.below))"
            let place = ReportChart.number(tick.place * 100) + "%"
            // The label of the last one stays within the page.
            let left = tick.place > 0.9 ? "min(\(place),100% - 1rem)" : place
            return
                "<span\(tick.isMinor ? " class=\"minor\"" : "") style=\"left:\(left)\">"
                + "\(ReportPage.escaped(tick.text))\(below)</span>"
        }
        let name = ReportPage.escaped(title)
        return """
            <div class="plot"><div class="values">\(labels.joined())</div>
            <svg viewBox="0 0 1000 240" preserveAspectRatio="none" role="img" aria-label="\(name)"><path class="grid" d="\(grid)"/>\(drawing)</svg>
            <div class="times">\(times.joined())</div></div>
            """
    }

    /// One digit behind the point is enough.
    static func number(_ value: Double) -> String {
        guard value.isFinite, abs(value) < 1e12 else { return "0" }
        let tenths = Int((value * 10).rounded())
        return tenths % 10 == 0
            ? String(tenths / 10) : "\(tenths < 0 ? "-" : "")\(abs(tenths) / 10).\(abs(tenths) % 10)"
    }

    /// A bar as long as its share of the longest.
    static func bar(_ value: Int, of longest: Int, _ name: String) -> String {
        let share = Double(value) / Double(max(1, longest)) * 100
        return """
            <svg class="bar" viewBox="0 0 100 10" preserveAspectRatio="none" aria-hidden="true"><rect class="\(name)" \
            width="\(number(max(0, share)))" height="10"/></svg>
            """
    }
}

extension LedgerGrouping {
    /// How many days a part of time has, at most.
    fileprivate var days: Int {
        switch self {
        case .week: 7
        case .month: 31
        case .year: 366
        default: 1
        }
    }
}

extension ReportPage {
    /// A balance: a band from the lowest to the highest of each part of time, the last one as a line, and bands where something is lost.
    func chart(_ balance: ReportData.Balance) -> ReportChart? {
        guard let first = balance.bins.first, let last = balance.bins.last else { return nil }
        let name = balance.purse.name(language)
        let money: (Int) -> String = { text($0, balance.purse.currency) }
        var chart = ReportChart(
            title: tr("Balance of \(name)", "\(name)の残高"), from: balance.bins.map(\.low).min() ?? 0,
            to: balance.bins.map(\.high).max() ?? 0)
        let days = Double(max(1, last.through - first.first))
        func place(_ day: Int) -> Double { Double(day - first.first) / days }
        func point(_ day: Int, _ value: Int) -> String {
            "\(ReportChart.number(chart.x(place(day)))) \(ReportChart.number(chart.y(value)))"
        }
        var (line, upper, lower, lost, bands): (String, [String], [String], String, String) = ("", [], [], "", "")
        var older: ReportData.Bin?
        func endBand() {
            if upper.count > 1 { bands += "M" + (upper + lower.reversed()).joined(separator: "L") + "Z" }
            (upper, lower) = ([], [])
        }
        for bin in balance.bins {
            if let gap = bin.gap, let older {
                endBand()
                let days = [older.through, bin.first].map { date(CalendarDays.date($0)) }
                lost += chart.band(
                    "lost", place(older.through), place(bin.first),
                    "\(days[0])\(tr(" to ", "～"))\(days[1]): \(gap.words[language])")
            }
            let start = older == nil || bin.gap != nil ? "M" : "L"
            // A balance stays until the next record: a slope over a long time without one would be a lie.
            let isSparse =
                balance.unit != .day && start == "L"
                && bin.first - (older?.through ?? bin.first) > balance.unit.days
            if isSparse {
                line += "H\(ReportChart.number(chart.x(place(bin.first))))"
                endBand()
                upper.append(point(bin.first, bin.high))
                lower.append(point(bin.first, bin.low))
            }
            line +=
                balance.unit == .day && start == "L"
                ? "H\(ReportChart.number(chart.x(place(bin.first))))V\(ReportChart.number(chart.y(bin.last)))"
                : start + point(balance.unit == .day ? bin.first : bin.through, bin.last)
            upper.append(point(bin.through, bin.high))
            lower.append(point(bin.through, bin.low))
            older = bin
        }
        endBand()
        if balance.unit == .day { bands = "" }
        let targets = balance.bins.enumerated().map { index, bin in
            let next = index + 1 < balance.bins.count ? balance.bins[index + 1].first : last.through
            let days = [bin.first, bin.through].map { date(CalendarDays.date($0)) }
            let when = days[0] == days[1] ? days[0] : "\(days[0])\(tr(" to ", "～"))\(days[1])"
            let range =
                bin.low == bin.high
                ? ""
                : tr(
                    ", between \(money(bin.low)) and \(money(bin.high))", "（\(money(bin.low))～\(money(bin.high))）")
            return chart.band(
                "target", place(bin.first), max(place(next), place(bin.first)), "\(when): \(money(bin.last))\(range)")
        }
        chart.drawing =
            lost
            + "<path class=\"area\" d=\"\(bands)\"/><path class=\"\(balance.unit == .day ? "line" : "line thin")\" d=\"\(line)\"/>"
            + targets.joined()
        chart.ticks = ticks(from: first.first, through: last.through)
        return chart
    }

    /// Spent and charged amounts side by side.
    var periodChart: ReportChart {
        let periods = data.periods
        var chart = ReportChart(
            title: tr("Spent and topped up", "利用額とチャージ額"), from: 0,
            to: periods.map { max(0 &- $0.spent, $0.received) }.max() ?? 0)
        let count = Double(max(1, periods.count))
        for (index, period) in periods.enumerated() {
            let left = Double(index) / count
            func place(_ share: Double) -> Double { left + share / count }
            let lost = period.gaps ?? 0
            var note = "\(label(period.key)): \(tr("spent", "利用")) \(money(0 &- period.spent))"
            if period.received > 0 { note += tr(", topped up ", "、チャージ ") + money(period.received) }
            if lost > 0 { note += tr("; records are missing", "（履歴の欠落あり）") }
            if lost > 0 { chart.drawing += chart.band("lost", place(0.02), place(0.98), note) }
            chart.drawing += chart.rectangle("spent", place(0.14), place(0.5), 0, 0 &- period.spent, note)
            chart.drawing += chart.rectangle("received", place(0.52), place(0.88), 0, period.received, note)
            chart.drawing += chart.band("target", place(0), place(1), note)
        }
        let step = max(1, (periods.count + 11) / 12)
        let narrow = max(step, (periods.count + 5) / 6)
        for (index, period) in periods.enumerated() {
            let isYear = data.unit == .month && (index == 0 || period.key.hasSuffix("-01"))
            guard index % step == 0 || data.unit == .month && isYear && step == 1 else { continue }
            let parts = period.key.split(separator: "-")
            var tick = ReportChart.Tick(
                place: (Double(index) + 0.5) / count, text: period.key, isMinor: index % (narrow - narrow % step) != 0)
            switch data.unit {
            case .month:
                tick.text = monthName(parts.last)
                if isYear || index % 12 == 0 { tick.below = year(parts.first) }
            case .day:
                tick.text = parts.last.flatMap { Int($0) }.map(String.init) ?? ""
                if index == 0 || period.key.hasSuffix("-01") { tick.below = monthName(parts.dropFirst().first) }
            default: break
            }
            chart.ticks.append(tick)
        }
        return chart
    }

    /// Labels for a span of days: days for a short one, months for others, at most a dozen.
    private func ticks(from first: Int, through last: Int) -> [ReportChart.Tick] {
        let days = max(1, last - first)
        var ticks: [ReportChart.Tick] = []
        func place(_ day: Int) -> Double { Double(day - first) / Double(days) }
        if days <= 70 {
            let step = max(1, (days + 7) / 8)
            for (index, day) in stride(from: first, through: last, by: step).enumerated() {
                guard let date = CalendarDays.date(day) else { continue }
                // The year stands below its first day.
                let isYear = index == 0 || CalendarDays.date(day - step)?.year != date.year
                ticks.append(
                    ReportChart.Tick(
                        place: place(day),
                        text: tr("\(monthName(date.month)) \(date.day)", "\(date.month)/\(date.day)"),
                        below: isYear ? year("\(date.year)") : "", isMinor: index % 2 == 1 && !isYear))
            }
            return ticks
        }
        let months = days / 30
        let step = [1, 2, 3, 6, 12, 24, 60].first { months / $0 <= 12 } ?? 120
        for day in first...last {
            guard let date = CalendarDays.date(day), date.day == 1, (date.year * 12 + date.month - 1) % step == 0 else {
                continue
            }
            let isYear = ticks.isEmpty || date.month == 1
            ticks.append(
                ReportChart.Tick(
                    place: place(day), text: monthName(date.month), below: isYear ? year("\(date.year)") : "",
                    isMinor: ticks.count % 2 == 1))
        }
        return ticks
    }
}
