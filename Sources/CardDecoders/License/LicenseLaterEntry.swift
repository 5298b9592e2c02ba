// SPDX-License-Identifier: Apache-2.0

/// 追記: what was changed after a licence was issued.
///
/// One byte for the character set, the date in seven digits of JIS X 0208, the text, and the name of the commission in
/// five characters. A new commission has no text: its name is the last five characters.
///
/// Source: soft-studio/NFC_DriversLicenseReader; that the date has the form of all others is an inference from it.
public struct LicenseLaterEntry: Hashable, Sendable {
    /// JIS X 0208 制定年番号.
    public let characterSet: UInt8
    /// When it was written.
    public let date: LicenseDate
    /// The new text; for a new commission its name.
    public let text: JISText
    /// 公安委員会名: who wrote it.
    public let commission: JISText

    /// The fixed parts have 25 bytes; `nil` for less.
    init?(_ value: [UInt8], isCommission: Bool) {
        guard let first = value.first, value.count >= 25 else { return nil }
        characterSet = first
        date = LicenseDate(fullWidth: value[1..<15])
        commission = JISText(decoding: value.suffix(10))
        let middle = JISText(decoding: value[15..<value.count - 10])
        text = isCommission && middle.isEmpty ? commission : middle
    }
}
