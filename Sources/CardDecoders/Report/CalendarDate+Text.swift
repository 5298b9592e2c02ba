// SPDX-License-Identifier: Apache-2.0

public import ByteCodec

extension CalendarDate {
    /// A day written `YYYY-MM-DD`; `nil` for anything else, and for days that the calendar does not have.
    public init?(_ text: some StringProtocol) {
        let parts = text.split(separator: "-", omittingEmptySubsequences: false)
        guard parts.count == 3, zip(parts, [4, 2, 2]).allSatisfy({ $0.utf8.count == $1 }),
            parts.allSatisfy({ $0.utf8.allSatisfy { (0x30...0x39).contains($0) } }), let year = Int(parts[0]),
            let month = Int(parts[1]), let day = Int(parts[2])
        else { return nil }
        self.init(year: year, month: month, day: day)
    }
}

extension CalendarDate: ASCIIText {
    /// Ten.
    public var longestCount: Int { 10 }

    /// Adds `YYYY-MM-DD`.
    public func append(to text: inout OutputSpan<UInt8>) {
        Decimal.append(year, 4, to: &text)
        text.append(UInt8(ascii: "-"))
        Decimal.append(month, 2, to: &text)
        text.append(UInt8(ascii: "-"))
        Decimal.append(day, 2, to: &text)
    }
}

extension CalendarDate: CustomStringConvertible {
    /// `YYYY-MM-DD`.
    public var description: String { text }
}
