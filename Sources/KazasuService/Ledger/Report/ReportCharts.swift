// SPDX-License-Identifier: Apache-2.0

internal import CardDecoders
internal import CardModel

/// The charts of a report as inline SVG. They hold no text: labels are HTML beside them, so that they stay readable on a phone.
enum ReportCharts {
    private static let (width, height) = (1_000.0, 240.0)

    /// A balance as steps; dashed where something is lost.
    static func balance(_ balance: ReportData.Balance, from first: Int, through last: Int, title: String) -> String {
        let points = balance.points
        let top = Double(max(1, points.map(\.balance).max() ?? 1))
        let bottom = Double(min(0, points.map(\.balance).min() ?? 0))
        let days = Double(max(1, last - first))
        func x(_ day: Int) -> String { number(Double(day - first) / days * width) }
        func y(_ value: Int) -> String { number(height - (Double(value) - bottom) / (top - bottom) * height) }
        var (solid, dashed, area) = ("", "", "")
        var older: ReportData.Point?
        for point in points {
            if let older {
                let step = "H\(x(point.day))V\(y(point.balance))"
                let start = "M\(x(older.day)) \(y(older.balance))"
                if point.isAfterGap {
                    dashed += start + step
                    solid += "M\(x(point.day)) \(y(point.balance))"
                } else {
                    solid += step
                }
                area += step
            } else {
                solid += "M\(x(point.day)) \(y(point.balance))"
                area += "M\(x(point.day)) \(number(height))V\(y(point.balance))"
            }
            older = point
        }
        if !area.isEmpty { area += "V\(number(height))Z" }
        return """
            <svg class="chart" viewBox="0 0 1000 240" preserveAspectRatio="none" role="img" aria-label="\(ReportPage.escaped(title))">
            <path class="grid" d="M0 60H1000M0 120H1000M0 180H1000M0 240H1000"/>
            <path class="area" d="\(area)"/><path class="line" d="\(solid)"/><path class="line lost" d="\(dashed)"/></svg>
            """
    }

    /// Months as columns: spent and put on beside each other.
    static func months(_ months: [LedgerSum], title: String) -> String {
        let top = Double(max(1, months.map { max(0 &- $0.spent, $0.received) }.max() ?? 1))
        let step = width / Double(max(1, months.count))
        let columns = months.enumerated().map { index, month in
            let left = Double(index) * step
            func column(_ value: Int, _ offset: Double, _ name: String) -> String {
                let size = Double(value) / top * height
                let place = "x=\"\(number(left + step * offset))\" y=\"\(number(height - size))\""
                return "<rect class=\"\(name)\" \(place) width=\"\(number(step * 0.36))\" height=\"\(number(size))\"/>"
            }
            return column(0 &- month.spent, 0.12, "spent") + column(month.received, 0.52, "received")
        }
        return """
            <svg class="chart" viewBox="0 0 1000 240" preserveAspectRatio="none" role="img" aria-label="\(ReportPage.escaped(title))">
            <path class="grid" d="M0 60H1000M0 120H1000M0 180H1000M0 240H1000"/>\(columns.joined())</svg>
            """
    }

    /// A bar as long as its share of the longest.
    static func bar(_ value: Int, of longest: Int, _ name: String) -> String {
        let share = Double(value) / Double(max(1, longest)) * 100
        return """
            <svg class="bar" viewBox="0 0 100 10" preserveAspectRatio="none" aria-hidden="true"><rect class="\(name)" \
            width="\(number(max(0.5, share)))" height="10"/></svg>
            """
    }

    /// One digit behind the point is enough.
    private static func number(_ value: Double) -> String {
        guard value.isFinite else { return "0" }
        let tenths = Int((value * 10).rounded())
        return tenths % 10 == 0
            ? String(tenths / 10) : "\(tenths < 0 ? "-" : "")\(abs(tenths) / 10).\(abs(tenths) % 10)"
    }
}
