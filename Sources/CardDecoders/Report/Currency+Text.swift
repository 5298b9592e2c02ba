// SPDX-License-Identifier: Apache-2.0

extension Currency {
    /// An amount as people write it, as `-14.40` for -1440 cents and `1440` for 1440 yen.
    ///
    /// - Parameter amount: in the smallest unit in use.
    public func text(_ amount: Int) -> String {
        guard minorDigits > 0 else { return String(amount) }
        let digits = String(amount.magnitude)
        let padded = String(repeating: "0", count: max(0, minorDigits + 1 - digits.count)) + digits
        return (amount < 0 ? "-" : "") + padded.dropLast(minorDigits) + "." + padded.suffix(minorDigits)
    }
}
