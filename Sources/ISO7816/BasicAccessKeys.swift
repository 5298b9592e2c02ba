// SPDX-License-Identifier: Apache-2.0

package import CardCiphers

/// The keys of an e-passport's Basic Access Control, out of what is printed in it.
///
/// For programs that are built on this library: the program `kazasu` recognises e-passports and reads none. Newer ones
/// refuse Basic Access Control and ask for PACE. Source: ICAO Doc 9303 part 11, §4.3, §9.7 and appendix D.
package struct BasicAccessKeys {
    /// Kenc, which enciphers.
    package let encryption: TripleDESKey
    /// Kmac, which signs.
    package let mac: TripleDESKey

    /// How many characters MRZ information has when the document number is no longer than nine.
    static let informationLength = 24

    /// The keys of a document.
    ///
    /// - Parameter mrzInformation: the characters of the machine readable zone in ASCII: document number (nine, filled
    ///   with `<`; longer ones whole), its check digit, date of birth `YYMMDD`, its check digit, date of expiry
    ///   `YYMMDD`, its check digit.
    /// - Throws: ``CipherError/keyLength(expected:given:)`` for less than 24 characters.
    package init(mrzInformation: some Collection<UInt8>) throws(CipherError) {
        guard mrzInformation.count >= BasicAccessKeys.informationLength else {
            throw .keyLength(expected: BasicAccessKeys.informationLength, given: mrzInformation.count)
        }
        let seed = BasicAccessKeys.seed(mrzInformation)
        encryption = try TripleDESKey(SecretBytes(BasicAccessKeys.keyBytes(seed, counter: 1)))
        mac = try TripleDESKey(SecretBytes(BasicAccessKeys.keyBytes(seed, counter: 2)))
    }

    /// The data of EXTERNAL AUTHENTICATE (`00 82 00 00 28`), 40 bytes: E.IFD, which is RND.IFD, RND.IC and K.IFD
    /// enciphered, and M.IFD, its MAC.
    ///
    /// - Parameters:
    ///   - challenge: RND.IC, what the document gave to GET CHALLENGE, big-endian.
    ///   - random: RND.IFD, a random number, big-endian.
    ///   - keyMaterial: K.IFD, sixteen random bytes; the keys of the session come of it.
    /// - Throws: ``CipherError/keyLength(expected:given:)`` for key material that is not sixteen bytes.
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

    /// A key out of a seed: the digest of seed and counter (four bytes, big-endian), each byte made of odd parity.
    static func keyBytes(_ seed: [UInt8], counter: UInt8) -> [UInt8] {
        SHA1.digest(of: seed + [0, 0, 0, counter]).prefix(TripleDESKey.length).map { byte in
            let bits = byte & 0xFE
            return bits | UInt8(truncatingIfNeeded: 1 - bits.nonzeroBitCount % 2)
        }
    }
}
