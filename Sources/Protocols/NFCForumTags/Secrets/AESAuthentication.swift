// SPDX-License-Identifier: Apache-2.0

internal import CardCiphers
internal import CardCrypto

/// What both sides of an authentication with AES have in common: the reader's and the tag's random numbers, and the keys
/// that follow from them.
///
/// Sources: NXP AN12196 and AN13452, whose examples are tests.
enum AESExchange {
    /// Which of the session's keys.
    enum Purpose {
        case encryption
        case authentication

        /// The first two bytes of the value that the key is derived from.
        fileprivate var label: [UInt8] {
            switch self {
            case .encryption: [0xA5, 0x5A]
            case .authentication: [0x5A, 0xA5]
            }
        }
    }

    /// A session's key.
    ///
    /// - Parameters:
    ///   - own: RndA, sixteen bytes.
    ///   - tag: RndB, sixteen bytes.
    static func sessionKey(
        _ purpose: Purpose, from key: AESKey, own: [UInt8], tag: [UInt8]
    ) throws(CryptoError) -> AESKey {
        guard own.count == 16, tag.count == 16 else { throw .dataLength(own.count) }
        var vector = purpose.label + [0x00, 0x01, 0x00, 0x80, own[0], own[1]]
        vector += zip(own[2..<8], tag).map { $0 ^ $1 }
        vector += tag[6...]
        vector += own[8...]
        return try AESKey(SecretBytes(try key.cmac(vector)))
    }

    /// The bytes rotated by one, so that the first comes last.
    static func turned(_ bytes: [UInt8]) -> [UInt8] { Array(bytes.dropFirst() + bytes.prefix(1)) }

    /// The eight bytes of a CMAC that are sent: those at odd places.
    static func short(_ mac: [UInt8]) -> [UInt8] { stride(from: 1, to: mac.count, by: 2).map { mac[$0] } }
}

/// One run of the authentication of an Ultralight AES: both sides prove that they have the key, and neither sends it.
///
/// The tag sends RndB, encrypted; the reader RndA and RndB rotated by one byte; the tag RndA rotated by one byte. Every
/// message begins a CBC chain of its own. Source: NXP MF0AES(H)20 data sheet and AN13452.
struct Type2AESAuthentication {
    /// The second part of the command.
    let reply: [UInt8]
    private let key: AESKey
    private let own: [UInt8]
    private let tag: [UInt8]

    /// Makes the reply to a tag's answer to `1A kk`.
    ///
    /// - Parameters:
    ///   - challenge: `AF` and sixteen bytes.
    ///   - key: the tag's key.
    ///   - random: RndA, sixteen bytes.
    /// - Returns: `nil` if the answer is not a challenge.
    init?(challenge: [UInt8], key: AESKey, random: [UInt8]) throws(CryptoError) {
        guard challenge.count == 17, challenge.first == Type2Command.more else { return nil }
        tag = try key.decrypt(challenge.dropFirst())
        (self.key, own) = (key, random)
        reply = [Type2Command.more] + (try key.encrypt(random + AESExchange.turned(tag)))
    }

    /// Returns whether the tag's last answer, `00` and sixteen bytes, proves that it has the key.
    func isProof(_ answer: [UInt8]) throws(CryptoError) -> Bool {
        guard answer.count == 17, answer.first == Type2Command.done else { return false }
        return try key.decrypt(answer.dropFirst()) == AESExchange.turned(own)
    }

    /// The codes of the session's commands and answers.
    func messaging() throws(CryptoError) -> Type2SecureMessaging {
        Type2SecureMessaging(key: try AESExchange.sessionKey(.authentication, from: key, own: own, tag: tag))
    }
}

/// Secure messaging of an Ultralight AES: each command and answer ends with eight bytes of a CMAC over a counter and
/// itself. Nothing is enciphered.
struct Type2SecureMessaging {
    let key: AESKey
    /// The number of commands and answers so far.
    private(set) var counter: UInt16 = 0

    init(key: AESKey) { self.key = key }

    private mutating func code(_ message: some Collection<UInt8>) throws(CryptoError) -> [UInt8] {
        let count = [UInt8(truncatingIfNeeded: counter), UInt8(truncatingIfNeeded: counter >> 8)]
        counter &+= 1
        return AESExchange.short(try key.cmac(count + message))
    }

    /// Returns a command with its code.
    mutating func wrapped(_ command: [UInt8]) throws(CryptoError) -> [UInt8] { command + (try code(command)) }

    /// Returns an answer without its code; `nil` if that is wrong.
    mutating func unwrapped(_ answer: [UInt8]) throws(CryptoError) -> [UInt8]? {
        let content = Array(answer.dropLast(8))
        return try code(content).elementsEqual(answer.suffix(8)) ? content : nil
    }
}
