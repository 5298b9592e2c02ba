// SPDX-License-Identifier: Apache-2.0

internal import CardCiphers
package import CardModel

// Every secret that is printed on a document is compared with what the chip says, here and nowhere else.

extension PassportKey {
    /// Compares number, birth date and expiry with the machine-readable zone of the chip (ICAO Doc 9303-11 §4.3: the inspector's check).
    package func match(_ zone: MachineReadableZone?) -> TypedMatch {
        guard let zone else { return .unknown }
        let own = MachineReadableZone.keyInformation(
            number: Array(zone.number.utf8), birth: Array(zone.birthDate.utf8), expiry: Array(zone.expiryDate.utf8))
        return Self.fields(own) == Self.fields(information) ? .same : .other
    }

    /// Number, birth date and expiry without check digits; fillers in a number do not count.
    private static func fields(_ information: [UInt8]) -> [[UInt8]] {
        let dates = information.suffix(14)
        return [
            information.dropLast(15).filter { $0 != 0x3C }, Array(dates.prefix(6)), Array(dates.dropFirst(7).prefix(6)),
        ]
    }
}

extension ResidenceNumber {
    /// Compares it with the number on the chip, which cards of the second generation have.
    package func match(_ number: String?) -> TypedMatch {
        number.map { Array($0.utf8) == bytes ? .same : .other } ?? .unknown
    }
}

/// 照合番号B of a My Number card: birth date, year of expiry, security code.
enum CheckNumberB {
    /// The digits that the chip says in other words: the birth date as YYMMDD and the year of expiry.
    static let length = 10

    /// Compares the first digits of a number with the dates on the chip, eight digits each.
    ///
    /// The year of birth is that of an era, or of foreigners the last two digits of the Western year.
    static func match(_ typed: SecretBytes, birth: [UInt8], expiry: [UInt8]) -> TypedMatch {
        guard let year = number(birth.prefix(4)), birth.count == 8, expiry.count == 8 else { return .other }
        let eras = [1868...1912, 1912...1926, 1926...1989, 1989...2019, 2019...9999]
        let years = [year % 100] + eras.filter { $0.contains(year) }.map { year - $0.lowerBound + 1 }
        let isSame = unsafe typed.withUnsafeBytes { digits in
            let digits = unsafe Array(digits)
            return digits.count == length && number(digits.prefix(2)).map(years.contains) ?? false
                && digits[2..<6].elementsEqual(birth.suffix(4)) && digits.suffix(4).elementsEqual(expiry.prefix(4))
        }
        return isSame ? .same : .other
    }

    private static func number(_ digits: some Collection<UInt8>) -> Int? {
        guard !digits.isEmpty, digits.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
        return digits.reduce(0) { $0 * 10 + Int($1) - 0x30 }
    }
}
