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
    /// Adds the ten characters.
    public func append(to text: inout ByteBuffer) {
        let digits = DecimalDigits.eightDigits(UInt32(truncatingIfNeeded: year * 10_000 + month * 100 + day))
        let hyphen = UInt64(UInt8(ascii: "-"))
        text.append(digits & 0xFFFF_FFFF | hyphen << 32 | (digits >> 32 & 0xFFFF) << 40 | hyphen << 56, count: 8)
        text.append(digits >> 48, count: 2)
    }
}

extension CalendarDate: CustomStringConvertible {
    /// `YYYY-MM-DD`.
    public var description: String { text }
}
