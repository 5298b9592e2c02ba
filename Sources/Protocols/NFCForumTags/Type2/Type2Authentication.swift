// SPDX-License-Identifier: Apache-2.0

internal import CardCiphers
internal import CardCrypto
internal import NDEF
internal import ReaderCore

extension Type2Tag {
    /// The credential, used again after each reselection.
    enum Proof {
        case tripleDES(TripleDESKey)
        case aes(AESKey, number: UInt8)
    }

    /// Whether the tag is authenticated with a key.
    package var isAuthenticated: Bool { proof != nil }

    /// Authenticates with the key of an Ultralight C or Ultralight AES, and again each time the tag has to be reselected.
    ///
    /// The key has sixteen bytes in the order of the data sheet (factory default of Ultralight C
    /// `49454D4B41455242214E4143554F5946`). It is proved and not sent. An Ultralight C has no limit of tries that a wrong one
    /// could use up; that of an Ultralight AES is read first, and the key is tried once.
    ///
    /// - Throws: ``TagError``; ``TagError/takesNoKey``, ``TagError/keyRefused``, ``TagError/key(_:)``.
    package func authenticate(_ key: TagKey, _ rules: TagSecretRules = TagSecretRules()) throws(TagError) {
        guard let product = try product() else { throw .takesNoKey }
        if product.hasAESKey { return try authenticateAES(key, product, rules) }
        guard product == .ultralightC, let key = key.tripleDES() else { throw .takesNoKey }
        proof = .tripleDES(key)
        do throws(TagError) {
            try select()
        } catch {
            proof = nil
            throw error
        }
    }

    private func authenticateAES(
        _ key: TagKey, _ product: Type2Product, _ rules: TagSecretRules
    ) throws(TagError) {
        let configuration = try configuration()
        let limit = configuration?.passwordTries
        guard limit == 0 || rules.allowsLastTry else { throw .key(.lastTry(limit: limit)) }
        let aes = try key.aes()
        usesMessaging = configuration?.usesSecureMessaging ?? false
        try select()
        try rules.attempt(key, uid: target.uid) { () throws(TagError) in
            do throws(TagError) {
                guard try proves(aes, number: key.number, isFirst: true) else { throw .key(.interrupted(.noAnswer)) }
            } catch {
                // Selected again, so that what needs no key can still be read.
                try? select()
                throw error
            }
        }
        proof = .aes(aes, number: key.number)
    }

    /// Runs the authentication once with the tag that was just selected.
    ///
    /// - Returns: `false` if an answer did not arrive, or not completely.
    /// - Throws: ``TagError/keyRefused``, ``TagError/transport(_:)``, ``TagError/cancelled``.
    func proves(_ proof: Proof) throws(TagError) -> Bool {
        switch proof {
        case .tripleDES(let key): try proves(key)
        case .aes(let key, let number): try proves(key, number: number, isFirst: false)
        }
    }

    private func proves(_ key: TripleDESKey) throws(TagError) -> Bool {
        guard let challenge = try authenticationAnswer(to: Type2Command.authenticate),
            let run = Type2Authentication(challenge: challenge, key: key, random: random()),
            let answer = try authenticationAnswer(to: run.reply)
        else { return false }
        guard run.isProof(answer) else { throw .keyRefused }
        return true
    }

    /// - Parameter isFirst: whether the key was not accepted before: no answer to the proof may then count as a wrong key.
    private func proves(_ key: AESKey, number: UInt8, isFirst: Bool) throws(TagError) -> Bool {
        guard let challenge = try authenticationAnswer(to: Type2Command.authenticate(number)) else { return false }
        guard challenge.count != 1 else { throw .key(.noSuchKey(number)) }
        let own = random().block + random().block
        let run = try crypto { () throws(CryptoError) in
            try Type2AESAuthentication(challenge: challenge, key: key, random: own)
        }
        guard let run, let answer = try authenticationAnswer(to: run.reply, mayCount: isFirst) else { return false }
        guard try crypto({ () throws(CryptoError) in try run.isProof(answer) }) else { throw .keyRefused }
        messaging = usesMessaging ? try crypto { () throws(CryptoError) in try run.messaging() } : nil
        return true
    }

    /// Sends a part of an authentication once.
    ///
    /// - Parameter mayCount: whether no answer may count as a wrong key.
    /// - Returns: `nil` if the answer did not arrive, or not completely.
    private func authenticationAnswer(to frame: [UInt8], mayCount: Bool = false) throws(TagError) -> [UInt8]? {
        do throws(TransportError) {
            return try reader.transceive(frame, timeout: Type2Tag.timeout)
        } catch .cancelled {
            throw mayCount ? .key(.interrupted(.cancelled)) : .cancelled
        } catch {
            if mayCount { throw .key(.interrupted(error)) }
            guard error == .noAnswer || error == .cardReleased || error.isTransient else { throw .transport(error) }
            return nil
        }
    }

    private func crypto<Value>(_ body: () throws(CryptoError) -> Value) throws(TagError) -> Value {
        do throws(CryptoError) {
            return try body()
        } catch {
            throw .crypto(error)
        }
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
