// SPDX-License-Identifier: Apache-2.0

internal import CLibCrypto

/// Arithmetic modulo an odd number; all numbers are big-endian, and results are as long as the modulus.
package enum Modular {
    package static func sum(_ first: [UInt8], _ second: [UInt8], _ modulus: [UInt8]) throws(CryptoError) -> [UInt8] {
        try compute(KAZASU_MODULAR_ADD, first, second, modulus)
    }

    package static func difference(_ first: [UInt8], _ second: [UInt8], _ modulus: [UInt8]) throws(CryptoError)
        -> [UInt8]
    {
        try compute(KAZASU_MODULAR_SUBTRACT, first, second, modulus)
    }

    package static func product(_ first: [UInt8], _ second: [UInt8], _ modulus: [UInt8]) throws(CryptoError) -> [UInt8]
    {
        try compute(KAZASU_MODULAR_MULTIPLY, first, second, modulus)
    }

    package static func power(_ base: [UInt8], _ exponent: [UInt8], _ modulus: [UInt8]) throws(CryptoError) -> [UInt8] {
        try compute(KAZASU_MODULAR_POWER, base, exponent, modulus)
    }

    /// The inverse modulo a prime number: a power, by Fermat's little theorem.
    package static func inverse(_ number: [UInt8], _ prime: [UInt8]) throws(CryptoError) -> [UInt8] {
        try power(number, difference([0], [2], prime), prime)
    }

    private static func compute(
        _ operation: kazasu_modular, _ first: [UInt8], _ second: [UInt8], _ modulus: [UInt8]
    ) throws(CryptoError) -> [UInt8] {
        var result = [UInt8](repeating: 0, count: modulus.count)
        let answer = unsafe kazasu_modular(
            operation, first, first.count, second, second.count, modulus, modulus.count, &result)
        guard try CryptoError.answer(answer) else { throw .refused }
        return result
    }
}

extension [UInt8] {
    /// Without leading zeros.
    var withoutLeadingZeros: [UInt8] { Array(drop { $0 == 0 }) }

    /// With leading zeros up to a width; `nil` if the number is longer.
    func padded(to width: Int) -> [UInt8]? {
        let digits = withoutLeadingZeros
        return digits.count > width ? nil : [UInt8](repeating: 0, count: width - digits.count) + digits
    }
}
