// SPDX-License-Identifier: Apache-2.0

package import CardCiphers

/// The keys of an e-passport's Basic Access Control, derived from data printed in it.
///
/// For programs built on this library: the program `kazasu` recognises e-passports and does not read them. Newer ones
/// refuse Basic Access Control and require PACE. Source: ICAO Doc 9303 part 11, §4.3, §9.7 and appendix D.
package struct BasicAccessKeys {
    /// Kenc, the encryption key.
    package let encryption: TripleDESKey
    /// Kmac, the MAC key.
    package let mac: TripleDESKey

    /// The number of characters in MRZ information if the document number is no longer than nine.
    static let informationLength = 24

    /// Derives the keys of a document.
    ///
    /// - Parameter mrzInformation: the characters of the machine readable zone in ASCII: document number (nine, padded
    ///   with `<`; longer ones complete), its check digit, date of birth `YYMMDD`, its check digit, date of expiry
    ///   `YYMMDD`, its check digit.
    /// - Throws: ``CipherError/keyLength(expected:given:)`` for fewer than 24 characters.
    package init(mrzInformation: some Collection<UInt8>) throws(CipherError) {
        guard mrzInformation.count >= BasicAccessKeys.informationLength else {
            throw .keyLength(expected: BasicAccessKeys.informationLength, given: mrzInformation.count)
        }
        let seed = BasicAccessKeys.seed(mrzInformation)
        encryption = try TripleDESKey(SecretBytes(BasicAccessKeys.keyBytes(seed, counter: 1)))
        mac = try TripleDESKey(SecretBytes(BasicAccessKeys.keyBytes(seed, counter: 2)))
    }

    /// Returns the data of EXTERNAL AUTHENTICATE (`00 82 00 00 28`), 40 bytes.
    ///
    /// It consists of E.IFD, which is the encryption of RND.IFD, RND.IC and K.IFD, and M.IFD, its MAC.
    ///
    /// - Parameters:
    ///   - challenge: RND.IC, the document's answer to GET CHALLENGE, big-endian.
    ///   - random: RND.IFD, a random number, big-endian.
    ///   - keyMaterial: K.IFD, sixteen random bytes; the session keys are derived from it.
    /// - Throws: ``CipherError/keyLength(expected:given:)`` if the key material is not sixteen bytes long.
    package func mutualAuthentication(
        challenge: UInt64, random: UInt64, keyMaterial: [UInt8]
    ) throws(CipherError) -> [UInt8] {
        guard keyMaterial.count == TripleDESKey.length else {
            throw .keyLength(expected: TripleDESKey.length, given: keyMaterial.count)
        }
        let enciphered = try encryption.encrypt(random.block + challenge.block + keyMaterial)
        return enciphered + mac.retailMAC(of: enciphered)
    }

    /// Kseed: the first sixteen bytes of the digest of the MRZ information.
    static func seed(_ mrzInformation: some Collection<UInt8>) -> [UInt8] {
        Array(SHA1.digest(of: mrzInformation).prefix(TripleDESKey.length))
    }

    /// Derives a key from a seed: the digest of seed and counter (four bytes, big-endian), with odd parity per byte.
    static func keyBytes(_ seed: [UInt8], counter: UInt8) -> [UInt8] {
        SHA1.digest(of: seed + [0, 0, 0, counter]).prefix(TripleDESKey.length).map { byte in
            let bits = byte & 0xFE
            return bits | UInt8(truncatingIfNeeded: 1 - bits.nonzeroBitCount % 2)
        }
    }
}
