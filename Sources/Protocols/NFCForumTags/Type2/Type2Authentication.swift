// SPDX-License-Identifier: Apache-2.0

package import CardCiphers
internal import NDEF
internal import ReaderCore

extension Type2Tag {
    /// Whether the tag is authenticated with a key.
    package var isAuthenticated: Bool { key != nil }

    /// Authenticates with the key of an Ultralight C, and again each time the tag has to be reselected.
    ///
    /// The key has sixteen bytes in the order of the data sheet (factory default `49454D4B41455242214E4143554F5946`).
    /// It is proved and not sent. There is no limit of tries that a wrong one could use up.
    ///
    /// - Throws: ``TagError``; ``TagError/takesNoKey``, ``TagError/keyRefused``.
    package func authenticate(_ key: TripleDESKey) throws(TagError) {
        guard try product() == .ultralightC else { throw .takesNoKey }
        self.key = key
        do throws(TagError) {
            try select()
        } catch {
            self.key = nil
            throw error
        }
    }

    /// Runs AUTHENTICATE once with the tag that was just selected.
    ///
    /// - Returns: `false` if an answer did not arrive, or not completely.
    /// - Throws: ``TagError/keyRefused``, ``TagError/transport(_:)``, ``TagError/cancelled``.
    func proves(_ key: TripleDESKey) throws(TagError) -> Bool {
        let answer: [UInt8]
        let run: Type2Authentication
        do throws(TransportError) {
            let challenge = try reader.transceive(Type2Command.authenticate, timeout: Type2Tag.timeout)
            guard let begun = Type2Authentication(challenge: challenge, key: key, random: random()) else {
                return false
            }
            run = begun
            answer = try reader.transceive(run.reply, timeout: Type2Tag.timeout)
        } catch {
            switch error {
            case .noAnswer, .cardReleased: return false
            case .cancelled: throw .cancelled
            default:
                guard error.isTransient else { throw .transport(error) }
                return false
            }
        }
        guard run.isProof(answer) else { throw .keyRefused }
        return true
    }
}

/// One run of Ultralight C's AUTHENTICATE: both sides prove that they have the key, and neither sends it.
///
/// The tag sends an encrypted random number RndB; the reader sends its own, RndA, and RndB rotated by one byte,
/// encrypted together; the tag sends RndA rotated by one byte. Each ciphertext is chained to the last block of the
/// previous one. Source: NXP MF0ICU2 data sheet §7.5.5; nfcpy `tt2_nxp.py` agrees.
struct Type2Authentication {
    /// The second part of the command.
    let reply: [UInt8]
    private let expected: [UInt8]

    /// Makes the reply to a tag's answer to `1A 00`.
    ///
    /// - Parameters:
    ///   - challenge: `AF` and eight bytes.
    ///   - key: the tag's key.
    ///   - random: RndA.
    /// - Returns: `nil` if the answer is not a challenge.
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

    /// Returns whether the tag's last answer, `00` and eight bytes, proves that it has the key.
    func isProof(_ answer: [UInt8]) -> Bool { answer == expected }
}

extension UInt64 {
    /// The bytes rotated by one, so that the first comes last.
    fileprivate var turned: UInt64 { self << 8 | self >> 56 }
}
