// SPDX-License-Identifier: Apache-2.0

internal import CardCiphers
internal import CardCrypto

/// One run of AuthenticateLRPFirst or NonFirst of an NTAG 424 DNA in LRP mode: both sides prove that they have the key by
/// codes over both random numbers, which travel in plain text.
///
/// Source: NT4H2421Gx data sheet, §9.2; NXP AN12321, whose example is a test.
struct LRPAuthentication: EV2Opening {
    let reply: [UInt8]
    private let cipher: LeakageResilientCipher
    private let own: [UInt8]
    private let tag: [UInt8]

    /// The length of a tag's first answer.
    static let challengeLength = 17

    /// Whether this is the first answer of a tag in LRP mode: the mode, 01, and RndB.
    static func isChallenge(_ answer: [UInt8]) -> Bool { answer.count == challengeLength && answer.first == 0x01 }

    /// What AuthenticateLRPFirst sends behind the key's number: six bytes of capabilities, of which the first asks for LRP.
    static let capabilities: [UInt8] = [0x06, 0x02, 0x00, 0x00, 0x00, 0x00, 0x00]

    /// Makes the reply to the first answer.
    ///
    /// - Parameters:
    ///   - challenge: 01 and sixteen bytes.
    ///   - random: RndA, sixteen bytes.
    /// - Returns: `nil` if the answer is not a challenge.
    init?(challenge: [UInt8], key: SecretBytes, random: [UInt8]) throws(CryptoError) {
        guard Self.isChallenge(challenge), random.count == 16 else { return nil }
        (own, tag) = (random, Array(challenge.dropFirst()))
        cipher = try Self.session(key, own: own, tag: tag)
        reply = own + (try cipher.mac(own + tag))
    }

    /// The session's cipher: both of its keys follow from one code over the random numbers.
    static func session(_ key: SecretBytes, own: [UInt8], tag: [UInt8]) throws(CryptoError) -> LeakageResilientCipher {
        guard own.count == 16, tag.count == 16 else { throw .dataLength(own.count) }
        var vector: [UInt8] = [0x00, 0x01, 0x00, 0x80, own[0], own[1]]
        vector += zip(own[2..<8], tag).map { $0 ^ $1 }
        vector += tag[6...]
        vector += own[8...] + [0x96, 0x69]
        return try LeakageResilientCipher(SecretBytes(try LeakageResilientCipher(key).mac(vector)))
    }

    func session(_ answer: [UInt8], after earlier: EV2Session?) throws(CryptoError) -> EV2Session? {
        let data = Array(answer.dropLast(16))
        guard answer.count == (earlier == nil ? 32 : 16),
            try cipher.mac(tag + own + data).elementsEqual(answer.suffix(16))
        else { return nil }
        if let earlier {
            return EV2Session(
                identifier: earlier.identifier, suite: .lrp(cipher, blocks: 0), counter: earlier.counter)
        }
        let plain = try cipher.decrypt(data, counter: [0, 0, 0, 0], key: 1)
        return EV2Session(identifier: Array(plain[..<4]), suite: .lrp(cipher, blocks: 1))
    }
}
