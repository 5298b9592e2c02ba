// SPDX-License-Identifier: Apache-2.0

internal import CardModel

extension JSONCursor {
    /// The speed that a number of kilobits a second names.
    func bitRate() throws(DocumentError) -> FeliCaBitRate {
        guard let rate = FeliCaBitRate(rawValue: try integer()) else { throw malformed("212 or 424") }
        return rate
    }

    /// A number 0 to 255.
    func byte() throws(DocumentError) -> UInt8 {
        UInt8(clamping: try integer(in: 0...255))
    }

    /// A length of time of at most some 31 years.
    func milliseconds() throws(DocumentError) -> Duration {
        let milliseconds: Double? =
            switch value {
            case .integer(let number): Double(number)
            case .number(let number): number
            default: nil
            }
        guard let milliseconds, milliseconds >= 0, milliseconds < 1e12 else { throw malformed("milliseconds") }
        return .microseconds(Int64((milliseconds * 1000).rounded()))
    }

    /// The member `technology`.
    func technology() throws(DocumentError) -> Technology {
        let word = try required("technology")
        guard let technology = Technology(rawValue: try word.text()) else {
            throw word.malformed(Technology.allCases.map(\.rawValue).joined(separator: ", "))
        }
        return technology
    }
}

extension JSONValue {
    /// A length of time in milliseconds, to the microsecond; whole milliseconds without a point, negative ones as 0.
    static func milliseconds(_ duration: Duration) -> JSONValue {
        let (seconds, attoseconds) = max(duration, .zero).components
        let (scaled, overflow) = seconds.multipliedReportingOverflow(by: 1_000_000)
        let microseconds = overflow ? Int64.max / 2 : scaled &+ attoseconds / 1_000_000_000_000
        return microseconds % 1000 == 0 ? .integer(microseconds / 1000) : .number(Double(microseconds) / 1000)
    }
}
