// SPDX-License-Identifier: Apache-2.0

/// The money that an amount is counted in; the raw values are the codes of ISO 4217.
///
/// Amounts are whole numbers of the smallest unit in use, which is ``minorDigits`` decimal places of the currency.
public enum Currency: String, Hashable, Sendable, CaseIterable {
    /// Japanese yen; amounts are yen.
    case yen = "JPY"
    /// Hong Kong dollar; amounts are cents.
    case hongKongDollar = "HKD"
    /// Chinese yuan renminbi; amounts are fen.
    case yuan = "CNY"
    /// Indonesian rupiah; amounts are rupiah, since the sen that ISO 4217 names is no longer in use.
    case rupiah = "IDR"
    /// Bangladeshi taka; amounts are poisha.
    case taka = "BDT"
    /// Vietnamese dong; amounts are dong.
    case dong = "VND"

    /// How many of an amount's digits stand behind the decimal point when it is written for people: 0 or 2.
    public var minorDigits: Int {
        switch self {
        case .yen, .rupiah, .dong: 0
        case .hongKongDollar, .yuan, .taka: 2
        }
    }
}
