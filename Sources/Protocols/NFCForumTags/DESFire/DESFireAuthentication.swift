// SPDX-License-Identifier: Apache-2.0

internal import CardCiphers
internal import CardCrypto

/// A way to authenticate; the raw values are those of `--auth`.
@nonexhaustive
public enum DESFireAuthenticationMethod: String, Hashable, Sendable, CaseIterable {
    /// Authenticate (0A), which every generation has: DES and two-key Triple DES.
    case d40
    /// AuthenticateISO (1A): DES and Triple DES.
    case iso
    /// AuthenticateAES (AA).
    case aes
    /// AuthenticateEV2First (71), since EV2: AES.
    case ev2

    /// The code of the command.
    var code: UInt8 {
        switch self {
        case .d40: 0x0A
        case .iso: 0x1A
        case .aes: 0xAA
        case .ev2: 0x71
        }
    }

    /// Whether keys of this type authenticate in this way.
    func takes(_ type: DESFireKeyType) -> Bool {
        switch self {
        case .d40: type == .des
        case .iso: type != .aes
        case .aes, .ev2: type == .aes
        }
    }
}

/// One run of an authentication: both sides prove that they have the key, and neither sends it.
struct DESFireAuthentication {
    /// The data of the second command.
    let reply: [UInt8]
    private let method: DESFireAuthenticationMethod
    private let type: DESFireKeyType
    private let cipher: DESFireCipher
    private let isSingleDES: Bool
    private let own: [UInt8]
    private let card: [UInt8]
    /// The starting value of the card's last answer.
    private let start: [UInt8]
    private let modern: EV2Authentication?

    /// The length of both random numbers in bytes, for keys of a type.
    static func randomLength(_ type: DESFireKeyType) -> Int { type == .des ? 8 : 16 }

    /// Makes the reply to the first answer.
    ///
    /// - Parameters:
    ///   - challenge: RndB, enciphered.
    ///   - random: RndA, of the same length.
    /// - Returns: `nil` if the answer is not a challenge.
    init?(
        _ method: DESFireAuthenticationMethod, challenge: [UInt8], key: DESFireKey, _ type: DESFireKeyType,
        random: [UInt8]
    ) throws(CryptoError) {
        guard challenge.count == Self.randomLength(type), random.count == challenge.count else { return nil }
        (self.method, self.type, own, isSingleDES) = (method, type, random, key.isSingleDES)
        cipher = try key.cipher(type)
        switch (method, cipher) {
        case (.ev2, .aes(let key)):
            guard let run = try EV2Authentication(challenge: challenge, key: key, random: random) else { return nil }
            (modern, reply, start, card) = (run, run.reply, [], [])
        case (.d40, _):
            card = try cipher.decrypt(challenge, after: cipher.zeros)
            reply = try cipher.prepared(random + AESExchange.turned(card))
            (modern, start) = (nil, cipher.zeros)
        default:
            card = try cipher.decrypt(challenge, after: cipher.zeros)
            let last = Array(challenge.suffix(cipher.blockLength))
            reply = try cipher.encrypt(random + AESExchange.turned(card), after: last)
            (modern, start) = (nil, Array(reply.suffix(cipher.blockLength)))
        }
    }

    /// Returns the session that begins with the card's last answer; `nil` if it does not prove that the card has the key.
    ///
    /// - Parameter earlier: the session whose identifier and counter go on (EV2, NonFirst).
    func session(_ answer: [UInt8], after earlier: DESFireEV2Session? = nil) throws(CryptoError) -> (
        any DESFireSession
    )? {
        if let modern {
            return try modern.session(answer, after: earlier?.session).map { DESFireEV2Session(session: $0) }
        }
        guard answer.count == own.count,
            try cipher.decrypt(answer, after: start) == AESExchange.turned(own)
        else { return nil }
        let session = try DESFireCipher(type, SecretBytes(sessionKey))
        return method == .d40 ? DESFireD40Session(cipher: session) : DESFireEV1Session(cipher: session)
    }

    /// Parts of both random numbers by turns.
    private var sessionKey: [UInt8] {
        func both(_ range: Range<Int>) -> [UInt8] { Array(own[range] + card[range]) }
        switch type {
        case .aes: return both(0..<4) + both(12..<16)
        case .threeKeyTripleDES: return both(0..<4) + both(6..<10) + both(12..<16)
        case .des: return both(0..<4) + (isSingleDES ? both(0..<4) : both(4..<8))
        }
    }
}

/// What ChangeKey sends behind the key's number.
enum DESFireKeyChange {
    /// The data and what follows its checksum.
    ///
    /// - Parameters:
    ///   - new: the new key, sixteen or twenty-four bytes.
    ///   - old: the key that it replaces; `nil` for the key of the session.
    ///   - version: the version of an AES key; that of others is in their parity bits.
    ///   - session: the session, whose checksum it is.
    static func parts(
        _ new: [UInt8], replacing old: [UInt8]?, version: UInt8?, _ session: any DESFireSession
    ) -> (data: [UInt8], tail: [UInt8]) {
        let sum = session is DESFireD40Session ? DESFireChecksum.short : DESFireChecksum.long
        let key = old.map { old in zip(new, old).map { $0 ^ $1 } } ?? new
        return (key + (version.map { [$0] } ?? []), old == nil ? [] : sum(new))
    }

    /// The version in the parity bits of the first eight bytes of a DES or Triple DES key, first byte highest.
    static func version(_ key: [UInt8]) -> UInt8 { key.prefix(8).reduce(0) { $0 << 1 | $1 & 1 } }
}
