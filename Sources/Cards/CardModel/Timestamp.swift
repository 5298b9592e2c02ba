// SPDX-License-Identifier: Apache-2.0

internal import ByteCodec

/// A moment with a precision of milliseconds; its text is that of RFC 3339.
public struct Timestamp: Hashable, Sendable {
    /// Milliseconds since 1970-01-01T00:00:00Z, without leap seconds.
    public let milliseconds: Int

    /// Creates a moment from milliseconds since 1970.
    public init(milliseconds: Int) { self.milliseconds = milliseconds }

    /// The current time of the system's clock.
    public static var now: Timestamp {
        let time = Platform.clock
        return Timestamp(milliseconds: time.seconds * 1000 + time.nanoseconds / 1_000_000)
    }
}

extension Timestamp: Comparable, CustomStringConvertible {
    /// The text of RFC 3339 in UTC: `2026-11-20T03:34:56Z`, with milliseconds unless they are zero.
    public var description: String { utcText }

    /// Compares by time.
    public static func < (left: Timestamp, right: Timestamp) -> Bool { left.milliseconds < right.milliseconds }
}

extension Timestamp {
    /// Creates a moment from whole seconds since 1970; one that cannot be represented wraps around.
    package init(seconds: Int) { self.init(milliseconds: seconds &* 1000) }

    /// The offset that a text is written with.
    package enum Zone: Sendable {
        /// The machine's time zone, as in `2026-11-20T12:34:56.789+09:00`.
        case local
        /// `2026-11-20T03:34:56.789Z`.
        case utc
    }

    /// The smallest unit that a text shows.
    package enum Precision: Sendable {
        /// `12:34:56`; the milliseconds are dropped.
        case seconds
        /// `12:34:56.789`.
        case milliseconds
    }

    /// The text of RFC 3339; empty if the C library cannot represent the year.
    package func text(_ zone: Zone = .local, _ precision: Precision = .milliseconds) -> String {
        var (seconds, fraction) = milliseconds.quotientAndRemainder(dividingBy: 1000)
        if fraction < 0 { (seconds, fraction) = (seconds - 1, fraction + 1000) }
        guard let parts = Platform.parts(of: seconds, isLocal: zone == .local) else { return "" }
        let date = [(parts.year, 4), (parts.month, 2), (parts.day, 2)]
        let time = [(parts.hour, 2), (parts.minute, 2), (parts.second, 2)]
        var text = date.map(Timestamp.padded).joined(separator: "-") + "T"
        text += time.map(Timestamp.padded).joined(separator: ":")
        if precision == .milliseconds { text += "." + Timestamp.padded(fraction, 3) }
        guard zone == .local else { return text + "Z" }
        let offset = parts.offset / 60
        let (hours, minutes) = abs(offset).quotientAndRemainder(dividingBy: 60)
        return text + (offset < 0 ? "-" : "+") + Timestamp.padded(hours, 2) + ":" + Timestamp.padded(minutes, 2)
    }

    /// The text in UTC, with milliseconds unless they are zero: `2026-11-20T03:34:56Z`.
    package var utcText: String { text(.utc, milliseconds.isMultiple(of: 1000) ? .seconds : .milliseconds) }

    private static func padded(_ number: Int, _ digits: Int) -> String {
        let text = String(number)
        return String(repeating: "0", count: max(0, digits - text.utf8.count)) + text
    }
}

extension Timestamp {
    /// Reads a text of RFC 3339 with `T`, one to nine digits of a fraction or none, and `Z` or an offset of less than 15
    /// hours; `nil` for anything else, dates that do not exist and leap seconds. Digits after the milliseconds are dropped.
    package init?(_ text: String) {
        var rest = Array(text.utf8)[...]
        func skip(_ character: Unicode.Scalar) -> Bool {
            guard rest.first == UInt8(ascii: character) else { return false }
            rest.removeFirst()
            return true
        }
        func number(_ digits: Int, below limit: Int) -> Int? {
            let text = rest.prefix(digits)
            guard text.count == digits, text.allSatisfy(Timestamp.isDigit) else { return nil }
            rest.removeFirst(digits)
            let number = text.reduce(0) { $0 * 10 + Int($1 - UInt8(ascii: "0")) }
            return number < limit ? number : nil
        }
        guard let year = number(4, below: 10_000), skip("-"), let month = number(2, below: 13), skip("-"),
            let day = number(2, below: 32), skip("T"), let hour = number(2, below: 24), skip(":"),
            let minute = number(2, below: 60), skip(":"), let second = number(2, below: 60), year > 0, month > 0,
            day > 0
        else { return nil }
        var fraction = 0
        if skip(".") {
            let digits = rest.prefix(while: Timestamp.isDigit)
            guard (1...9).contains(digits.count) else { return nil }
            rest.removeFirst(digits.count)
            fraction = (Array(digits) + [0x30, 0x30]).prefix(3).reduce(0) { $0 * 10 + Int($1 - UInt8(ascii: "0")) }
        }
        var offset = 0
        if !skip("Z") {
            let isWest = skip("-")
            guard isWest || skip("+"), let hours = number(2, below: 15), skip(":"), let minutes = number(2, below: 60)
            else { return nil }
            offset = (hours * 60 + minutes) * (isWest ? -60 : 60)
        }
        guard rest.isEmpty else { return nil }
        let parts = Platform.SplitTime(
            year: year, month: month, day: day, hour: hour, minute: minute, second: second, offset: 0)
        guard let seconds = Platform.seconds(of: parts) else { return nil }
        milliseconds = (seconds - offset) * 1000 + fraction
    }

    private static func isDigit(_ byte: UInt8) -> Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) }
}
