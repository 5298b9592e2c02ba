// SPDX-License-Identifier: Apache-2.0

/// The money that an amount is counted in; the raw values are the codes of ISO 4217.
public enum Currency: String, Hashable, Sendable {
    /// Japanese yen; the smallest unit is one yen.
    case yen = "JPY"
}
