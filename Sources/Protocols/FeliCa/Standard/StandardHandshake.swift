// SPDX-License-Identifier: Apache-2.0

internal import ByteCodec
internal import CardCiphers
internal import CardCrypto
internal import CardModel

/// One mutual authentication: the reader's challenge, the card's proof and challenge, and the reader's proof.
protocol StandardHandshake {
    /// The reader's challenge, enciphered.
    var challenge: [UInt8] { get }

    /// Checks the card's proof.
    ///
    /// - Parameter answer: what follows the IDm in the answer to Authentication1.
    /// - Returns: the reader's proof and the messages of the session; `nil` unless the card proved that it has the same
    ///   keys: then nothing more may be sent.
    func session(answer: [UInt8]) throws(CryptoError) -> (proof: [UInt8], messaging: any StandardMessaging)?
}

/// Mutual authentication with DES: each side's random number under Triple DES of one pair of keys, and back under another.
///
/// Sources: the unofficial user's manual, felica-rs; nfcf-info names the same pairs after Sony's patents.
struct DESHandshake: StandardHandshake {
    /// The length of the answer: the card's proof and its challenge.
    static let answerLength = 16

    private let keys: (alpha: DESKey, link: DESKey, beta: DESKey)
    private let random: [UInt8]

    /// - Parameter random: eight bytes.
    init(_ key: StandardGroupKey, idm: IDm, random: [UInt8]) {
        self.random = random
        keys = key.withBytes { bytes in
            let link = UInt64(block: bytes.prefix(8)) ^ idm.rawValue
            let alpha = DESKey(link).encrypt(UInt64(block: bytes.suffix(8)))
            return (DESKey(alpha), DESKey(link), DESKey(DESKey(alpha).encrypt(link)))
        }
    }

    var challenge: [UInt8] { Self.encrypt(UInt64(block: random), keys.alpha, keys.link).block }

    func session(answer: [UInt8]) -> (proof: [UInt8], messaging: any StandardMessaging)? {
        guard answer.count == Self.answerLength else { return nil }
        let expected = Self.encrypt(UInt64(block: random), keys.link, keys.beta).block
        guard ConstantTime.areEqual(expected, answer.prefix(8)) else { return nil }
        let own = Self.decrypt(UInt64(block: answer.suffix(8)), keys.link, keys.beta)
        let messaging = DESMessaging(key: DESKey(own), transaction: Array(random[2..<8]))
        return (Self.encrypt(own, keys.alpha, keys.link).block, messaging)
    }

    private static func encrypt(_ block: UInt64, _ outer: DESKey, _ inner: DESKey) -> UInt64 {
        outer.encrypt(inner.decrypt(outer.encrypt(block)))
    }

    private static func decrypt(_ block: UInt64, _ outer: DESKey, _ inner: DESKey) -> UInt64 {
        outer.decrypt(inner.encrypt(outer.decrypt(block)))
    }
}

/// Mutual authentication with AES-128. Sources: the unofficial user's manual, felica-rs.
struct AESHandshake: StandardHandshake {
    /// The length of the answer: the card's proof, its challenge and four more bytes that it chose.
    static let answerLength = 36

    let challenge: [UInt8]
    private let alpha: AESKey
    private let beta: [UInt8]
    private let random: [UInt8]

    /// - Parameter random: sixteen bytes.
    init(_ key: StandardGroupKey, idm: IDm, random: [UInt8]) throws(CryptoError) {
        self.random = random
        let bytes = key.withBytes { SecretBytes($0) }
        let group = try AESKey(bytes)
        var id = ByteWriter([0, 0, 0, 0])
        id.write(idm.rawValue, .big)
        alpha = try AESKey(SecretBytes(try group.encrypt([1, 2] + id.bytes + [1, 0])))
        beta = try group.encrypt([2, 2] + id.bytes + [1, 0])
        challenge = try alpha.encrypt(random)
    }

    func session(answer: [UInt8]) throws(CryptoError) -> (proof: [UInt8], messaging: any StandardMessaging)? {
        guard answer.count == Self.answerLength else { return nil }
        let nonce = Array(answer[32...])
        var bytes = beta
        defer { bytes.wipe() }
        for (index, byte) in nonce.enumerated() { bytes[index] ^= byte }
        let back = try AESKey(SecretBytes(bytes))
        guard ConstantTime.areEqual(try back.encrypt(random), answer[..<16]) else { return nil }
        var own = try back.decrypt(answer[16..<32])
        defer { own.wipe() }
        let session = try AESKey(SecretBytes(own))
        let rest = [0x03] + [UInt8](repeating: 0, count: 12) + [1, 0]
        let messaging = AESMessaging(
            encryption: try AESKey(SecretBytes(try session.encrypt([1] + rest))),
            authentication: try AESKey(SecretBytes(try session.encrypt([2] + rest))),
            transaction: Array(random[2..<8]), nonce: Array(nonce[1...]))
        return (try alpha.encrypt(own), messaging)
    }
}
