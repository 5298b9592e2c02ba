// SPDX-License-Identifier: Apache-2.0

public import CardCiphers

/// The number that is printed at the top right of a residence card: two letters, eight digits, two letters.
///
/// The card compares it, but counts no wrong ones. It is still personal data: it prints, reflects and dumps as `Redacted`.
public struct ResidenceNumber: SecretValue, Sendable {
    /// Twelve capital letters and digits in ASCII.
    let bytes: [UInt8]

    /// Makes a number from text: lower-case and full-width characters are accepted, blanks and hyphens left out.
    ///
    /// - Returns: `nil` for anything else than such a number.
    public init?(_ text: some StringProtocol) {
        var bytes: [UInt8] = []
        for scalar in text.unicodeScalars {
            // FF01 to FF5E are the full-width forms of 21 to 7E, 3000 is the full-width blank.
            let value = (0xFF01...0xFF5E).contains(scalar.value) ? scalar.value - 0xFEE0 : scalar.value
            switch value {
            case 0x20, 0x2D, 0x3000, 0x2010...0x2015, 0x2212: continue
            case 0x61...0x7A: bytes.append(UInt8(value - 0x20))
            case 0x30...0x39, 0x41...0x5A: bytes.append(UInt8(value))
            default: return nil
            }
        }
        let letters: ClosedRange<UInt8> = 0x41...0x5A
        guard bytes.count == 12, bytes.prefix(2).allSatisfy(letters.contains),
            bytes.suffix(2).allSatisfy(letters.contains),
            bytes[2..<10].allSatisfy({ $0 < 0x41 })
        else { return nil }
        self.bytes = bytes
    }
}
