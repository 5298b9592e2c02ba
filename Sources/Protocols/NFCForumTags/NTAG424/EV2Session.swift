// SPDX-License-Identifier: Apache-2.0

internal import CardCiphers
internal import CardCrypto

/// A mutual authentication that was begun, and the session that follows from it.
protocol EV2Opening {
    /// The data of the second command.
    var reply: [UInt8] { get }

    /// Returns the session that begins with the tag's last answer; `nil` if it does not prove that the tag has the key.
    ///
    /// - Parameters:
    ///   - answer: 32 bytes; sixteen after NonFirst.
    ///   - earlier: the session whose identifier and counter go on (NonFirst); `nil` for a new one (First).
    func session(_ answer: [UInt8], after earlier: EV2Session?) throws(CryptoError) -> EV2Session?
}

/// One run of AuthenticateEV2First of an NTAG 424 DNA: both sides prove that they have the key, and neither sends it.
///
/// Source: NXP AN12196, whose examples are tests.
struct EV2Authentication: EV2Opening {
    let reply: [UInt8]
    private let key: AESKey
    private let own: [UInt8]
    private let tag: [UInt8]

    /// Makes the reply to the first answer.
    ///
    /// - Parameters:
    ///   - challenge: sixteen bytes.
    ///   - key: the tag's key.
    ///   - random: RndA, sixteen bytes.
    /// - Returns: `nil` if the answer is not a challenge.
    init?(challenge: [UInt8], key: AESKey, random: [UInt8]) throws(CryptoError) {
        guard challenge.count == 16 else { return nil }
        tag = try key.decrypt(challenge)
        (self.key, own) = (key, random)
        reply = try key.encrypt(random + AESExchange.turned(tag))
    }

    func session(_ answer: [UInt8], after earlier: EV2Session? = nil) throws(CryptoError) -> EV2Session? {
        guard answer.count == (earlier == nil ? 32 : 16) else { return nil }
        let plain = try key.decrypt(answer)
        let start = earlier == nil ? 4 : 0
        guard Array(plain[start..<start + 16]) == AESExchange.turned(own) else { return nil }
        return EV2Session(
            identifier: earlier?.identifier ?? Array(plain[..<4]),
            cipherKey: try AESExchange.sessionKey(.encryption, from: key, own: own, tag: tag),
            macKey: try AESExchange.sessionKey(.authentication, from: key, own: own, tag: tag),
            counter: earlier?.counter ?? 0)
    }
}

/// An authenticated session with an NTAG 424 DNA: codes and ciphers of its commands.
///
/// Source: NXP AN12196 and NT4H2421Gx data sheet, §9.1.
struct EV2Session {
    /// How a command and its answer travel; the raw values are those of a file's settings.
    enum Mode: UInt8, Hashable {
        case plain = 0
        /// With a code.
        case mac = 1
        /// Enciphered, and with a code.
        case full = 3

        /// The mode in the two low bits of a file's option; 2 is plain, too.
        init(option: UInt8) { self = Mode(rawValue: option & 0x03) ?? .plain }
    }

    /// What makes codes and enciphers.
    enum Suite {
        case aes(cipher: AESKey, mac: AESKey)
        /// The number of blocks that were enciphered so far, in both directions.
        case lrp(LeakageResilientCipher, blocks: UInt32)
    }

    /// TI, four bytes.
    let identifier: [UInt8]
    private(set) var suite: Suite
    /// The number of commands so far.
    var counter: UInt16 = 0

    init(identifier: [UInt8], suite: Suite, counter: UInt16 = 0) {
        (self.identifier, self.suite, self.counter) = (identifier, suite, counter)
    }

    init(identifier: [UInt8], cipherKey: AESKey, macKey: AESKey, counter: UInt16 = 0) {
        self.init(identifier: identifier, suite: .aes(cipher: cipherKey, mac: macKey), counter: counter)
    }

    private static func bytes(_ counter: UInt16) -> [UInt8] {
        [UInt8(truncatingIfNeeded: counter), UInt8(truncatingIfNeeded: counter >> 8)]
    }

    /// Returns the data field of a command.
    ///
    /// - Parameters:
    ///   - code: its instruction.
    ///   - header: what is never enciphered.
    ///   - data: what is enciphered in the full mode; none if empty.
    mutating func command(
        _ code: UInt8, header: [UInt8], data: [UInt8], _ mode: Mode
    ) throws(CryptoError) -> [UInt8] {
        var body = data
        if mode == .full, !data.isEmpty {
            body.append(0x80)
            while !body.count.isMultiple(of: 16) { body.append(0) }
            body = try encrypted(body)
        }
        guard mode != .plain else { return header + body }
        return header + body + (try proof([code] + Self.bytes(counter) + identifier + header + body))
    }

    /// Returns the data of an answer with status 9100 and counts the command; `nil` if its code or padding is wrong.
    mutating func answer(_ answer: [UInt8], _ mode: Mode) throws(CryptoError) -> [UInt8]? {
        counter &+= 1
        guard mode != .plain else { return answer }
        let body = Array(answer.dropLast(8))
        let code = try proof([0x00] + Self.bytes(counter) + identifier + body)
        guard answer.count >= 8, code.elementsEqual(answer.suffix(8)) else { return nil }
        guard mode == .full, !body.isEmpty else { return body }
        guard body.count.isMultiple(of: 16) else { return nil }
        let plain = try decrypted(body)
        guard let end = plain.lastIndex(where: { $0 != 0 }), plain[end] == 0x80 else { return nil }
        return Array(plain[..<end])
    }

    // MARK: Codes and ciphers

    private func proof(_ message: [UInt8]) throws(CryptoError) -> [UInt8] {
        switch suite {
        case .aes(_, let mac): AESExchange.short(try mac.cmac(message))
        case .lrp(let cipher, _): AESExchange.short(try cipher.mac(message))
        }
    }

    private mutating func encrypted(_ plain: [UInt8]) throws(CryptoError) -> [UInt8] {
        switch suite {
        case .aes(let cipher, _):
            return try cipher.encrypt(plain, after: try cipher.encrypt(start([0xA5, 0x5A])))
        case .lrp(let cipher, let blocks):
            let bytes = try cipher.encrypt(plain, counter: Self.block(blocks), key: 1)
            suite = .lrp(cipher, blocks: blocks &+ UInt32(plain.count / 16))
            return bytes
        }
    }

    private mutating func decrypted(_ bytes: [UInt8]) throws(CryptoError) -> [UInt8] {
        switch suite {
        case .aes(let cipher, _):
            return try cipher.decrypt(bytes, after: try cipher.encrypt(start([0x5A, 0xA5])))
        case .lrp(let cipher, let blocks):
            let plain = try cipher.decrypt(bytes, counter: Self.block(blocks), key: 1)
            suite = .lrp(cipher, blocks: blocks &+ UInt32(bytes.count / 16))
            return plain
        }
    }

    /// What a CBC chain's starting value is made from.
    private func start(_ label: [UInt8]) -> [UInt8] {
        label + identifier + Self.bytes(counter) + [UInt8](repeating: 0, count: 8)
    }

    /// The counter of LRP's blocks, most significant byte first.
    private static func block(_ number: UInt32) -> [UInt8] {
        (0..<4).map { UInt8(truncatingIfNeeded: number >> (24 - 8 * $0)) }
    }
}
