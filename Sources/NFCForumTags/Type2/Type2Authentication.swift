// SPDX-License-Identifier: Apache-2.0

internal import CardCiphers

/// One run of Ultralight C's AUTHENTICATE: both sides prove that they have the key, and neither sends it.
///
/// The tag sends a random number RndB enciphered; the reader sends its own, RndA, and RndB turned by one byte, enciphered
/// together; the tag sends RndA turned by one byte. Each ciphertext starts with the last block of the one before.
/// Source: NXP MF0ICU2 data sheet §7.5.5; nfcpy `tt2_nxp.py` agrees.
struct Type2Authentication {
    /// The second part of the command.
    let reply: [UInt8]
    private let expected: [UInt8]

    /// The reply to a tag's answer to `1A 00`.
    ///
    /// - Parameters:
    ///   - challenge: `AF` and eight bytes.
    ///   - key: the tag's key.
    ///   - random: RndA.
    /// - Returns: `nil` when the answer is no challenge.
    init?(challenge: [UInt8], key: TripleDESKey, random: UInt64) {
        guard Type2Command.isChallenge(challenge) else { return nil }
        let cipher = challenge.dropFirst()
        guard let number = try? key.decrypt(cipher),
            let both = try? key.encrypt(
                random.block + UInt64(block: number).turned.block, after: UInt64(block: cipher)),
            let proof = try? key.encrypt(random.turned.block, after: UInt64(block: both.suffix(8)))
        else { return nil }
        reply = [Type2Command.more] + both
        expected = [Type2Command.done] + proof
    }

    /// Whether the tag's last answer, `00` and eight bytes, proves that it has the key.
    func isProof(_ answer: [UInt8]) -> Bool { answer == expected }
}

extension UInt64 {
    /// The first byte behind the others.
    fileprivate var turned: UInt64 { self << 8 | self >> 56 }
}
