// SPDX-License-Identifier: Apache-2.0

internal import CardModel
internal import Glibc
internal import Synchronization

/// The time as the header `Date` has it (RFC 9110, 5.6.7), formatted once a second.
enum HTTPDate {
    private static let last = Mutex<(second: Int, text: String)>((.min, ""))
    private static let days = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"]
    private static let months = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ]

    static var now: String {
        let second = Timestamp.now.milliseconds / 1000
        return last.withLock { last in
            if last.second != second { last = (second, text(second)) }
            return last.text
        }
    }

    /// - Parameter second: seconds since 1970.
    /// - Returns: as in `Fri, 20 Nov 2026 03:34:56 GMT`; empty if the C library cannot represent the year.
    static func text(_ second: Int) -> String {
        var (second, parts) = unsafe (second, tm())
        guard unsafe gmtime_r(&second, &parts) != nil else { return "" }
        let (day, month) = unsafe (Int(parts.tm_wday), Int(parts.tm_mon))
        guard days.indices.contains(day), months.indices.contains(month) else { return "" }
        let time = unsafe [parts.tm_hour, parts.tm_min, parts.tm_sec].map(padded).joined(separator: ":")
        return unsafe "\(days[day]), \(padded(parts.tm_mday)) \(months[month]) \(Int(parts.tm_year) + 1900) \(time) GMT"
    }

    private static func padded(_ number: Int32) -> String { number < 10 ? "0\(number)" : "\(number)" }
}
