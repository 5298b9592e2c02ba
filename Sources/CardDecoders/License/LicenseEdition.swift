// SPDX-License-Identifier: Apache-2.0

internal import ByteCodec

/// What MF/EF01 tells without a PIN: the edition of the specification, and the days of issue and expiry.
public struct LicenseEdition: Hashable, Sendable {
    /// 仕様書バージョン番号, as in `008`; `nil` when it is no text.
    public let version: String?
    /// 交付年月日; `nil` when the digits are no day.
    public let issued: CalendarDate?
    /// 有効期間の末日; `nil` when the digits are no day.
    public let expires: CalendarDate?

    /// Three characters of ASCII, then two days of four bytes each in decimal digits, or `nil` for another length.
    init?(_ value: [UInt8]) {
        guard value.count == 11 else { return nil }
        version = LicenseText.jisX0201(value.prefix(3))
        issued = LicenseEdition.day(value.dropFirst(3).prefix(4))
        expires = LicenseEdition.day(value.dropFirst(7))
    }

    private static func day(_ bytes: ArraySlice<UInt8>) -> CalendarDate? {
        let pairs = bytes.map { BCD.value($0) ?? -1 }
        guard pairs.count == 4, !pairs.contains(-1) else { return nil }
        return CalendarDate(
            year: (pairs.element(at: 0) ?? 0) * 100 + (pairs.element(at: 1) ?? 0), month: pairs.element(at: 2) ?? 0,
            day: pairs.element(at: 3) ?? 0)
    }
}
