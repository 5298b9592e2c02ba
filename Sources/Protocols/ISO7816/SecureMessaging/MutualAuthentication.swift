// SPDX-License-Identifier: Apache-2.0

internal import ByteCodec
internal import CardCiphers
package import CardCrypto
internal import CardModel

/// Mutual authentication with two keys that both sides know, from which a session's keys come.
///
/// Residence cards and passports (BAC) do the same: E = ENC(RND.IFD ‖ RND.ICC ‖ K.IFD), M = MAC(E); the card answers with its own
/// number first. Sources: ICAO Doc 9303-11 §4.3; the examples of the residence card's specification as quoted by public programs.
package struct MutualAuthentication {
    private let encryption: SessionCipher
    private let authentication: SessionCipher
    private let challenge: [UInt8]
    private let random: [UInt8]
    private let share: [UInt8]

    /// What a successful authentication leaves.
    package struct Outcome {
        /// K.IFD xor K.ICC.
        package let seed: [UInt8]
        /// RND.ICC, and RND.IFD.
        package let challenge: [UInt8]
        package let random: [UInt8]

        package init(seed: [UInt8], challenge: [UInt8], random: [UInt8]) {
            self.seed = seed
            self.challenge = challenge
            self.random = random
        }
    }

    /// - Parameters:
    ///   - challenge: RND.ICC, 8 bytes.
    ///   - random: RND.IFD, 8 bytes.
    ///   - share: K.IFD, 16 bytes.
    package init(
        encryption: SessionCipher, authentication: SessionCipher, challenge: [UInt8], random: [UInt8], share: [UInt8]
    ) {
        self.encryption = encryption
        self.authentication = authentication
        self.challenge = challenge
        self.random = random
        self.share = share
    }

    /// The data field of MUTUAL AUTHENTICATE: 32 bytes of cipher text and a code of 8.
    package func cryptogram() throws(CryptoError) -> [UInt8] {
        let cipher = try encryption.encrypt(random + challenge + share)
        return try cipher + authentication.code(cipher)
    }

    /// Checks the card's answer.
    package func outcome(_ answer: [UInt8]) throws(SecureMessagingError) -> Outcome {
        guard answer.count == 40 else { throw .malformed(.authenticationLength) }
        let cipher = Array(answer.prefix(32))
        let code: [UInt8]
        let plain: [UInt8]
        do throws(CryptoError) {
            code = try authentication.code(cipher)
            plain = try encryption.decrypt(cipher)
        } catch {
            throw .crypto(error)
        }
        guard code == answer.suffix(8) else { throw .malformed(.code) }
        guard plain.starts(with: challenge), plain.dropFirst(8).starts(with: random) else { throw .malformed(.random) }
        let seed = zip(share, plain.suffix(16)).map { $0 ^ $1 }
        return Outcome(seed: seed, challenge: challenge, random: random)
    }

    /// Authenticates with a card.
    ///
    /// - Parameters:
    ///   - expected: Ne of MUTUAL AUTHENTICATE.
    ///   - random: returns random bytes.
    /// - Throws: ``SecureMessagingError``; ``SecureMessagingError/wrongNumber`` if the card does not accept the cryptogram.
    package static func perform(
        in session: ISO7816Session, encryption: SessionCipher, authentication: SessionCipher, expected: Int,
        random: (Int) -> [UInt8]
    ) throws(SecureMessagingError) -> Outcome {
        let challenge: [UInt8]
        do throws(ISO7816Error) {
            challenge = try session.data(CommandAPDU(.getChallenge, ne: 8))
        } catch {
            throw .card(error)
        }
        guard challenge.count == 8 else {
            throw .card(.malformed(.getChallenge, .dataLength(expected: 8, received: challenge.count)))
        }
        let exchange = MutualAuthentication(
            encryption: encryption, authentication: authentication, challenge: challenge, random: random(8),
            share: random(16))
        let data: [UInt8]
        do throws(CryptoError) {
            data = try exchange.cryptogram()
        } catch {
            throw .crypto(error)
        }
        let response: ResponseAPDU
        do throws(ISO7816Error) {
            response = try session.transmit(CommandAPDU(.externalAuthenticate, data: data, ne: expected))
        } catch {
            throw .card(error)
        }
        switch response.status {
        case .success: return try exchange.outcome(response.data)
        // Passports answer 6300 or 6982.
        case 0x6300, .securityStatusNotSatisfied: throw .wrongNumber
        default: throw .card(.status(.externalAuthenticate, response.status))
        }
    }

    /// Random bytes of the system.
    package static func systemRandom(_ count: Int) -> [UInt8] {
        var generator = SystemRandomNumberGenerator()
        return (0..<count).map { _ in UInt8.random(in: 0...0xFF, using: &generator) }
    }
}
