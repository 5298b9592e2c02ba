// SPDX-License-Identifier: Apache-2.0

public import CardCiphers

/// The card access number: six digits that are printed on identity cards and some passports, for PACE.
///
/// It is personal data: it prints, reflects and dumps as `Redacted`.
public struct CardAccessNumber: SecretValue, Sendable {
    /// The digits as printed, in ASCII.
    let bytes: [UInt8]

    /// Makes a number from text: full-width digits are accepted, blanks and line ends left out.
    ///
    /// - Parameter text: six digits.
    /// - Returns: `nil` for anything else.
    public init?(_ text: some StringProtocol) {
        var bytes: [UInt8] = []
        for scalar in text.unicodeScalars {
            switch scalar.value {
            case 0x20, 0x09, 0x0A, 0x0D, 0x3000: continue
            case 0x30...0x39: bytes.append(UInt8(scalar.value))
            case 0xFF10...0xFF19: bytes.append(UInt8(scalar.value - 0xFEE0))
            default: return nil
            }
        }
        guard bytes.count == 6 else { return nil }
        self.bytes = bytes
    }
}

/// What opens a passport.
@nonexhaustive
public enum PassportPassword: Sendable {
    /// Number, birth date and expiry, from the machine-readable zone.
    case zone(PassportKey)
    /// The card access number, by PACE only.
    case accessNumber(CardAccessNumber)
}
