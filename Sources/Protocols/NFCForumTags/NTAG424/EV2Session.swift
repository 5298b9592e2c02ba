// SPDX-License-Identifier: Apache-2.0

internal import CardCiphers
internal import CardCrypto

/// One run of AuthenticateEV2First of an NTAG 424 DNA: both sides prove that they have the key, and neither sends it.
///
/// Source: NXP AN12196, whose examples are tests.
struct EV2Authentication {
    /// The data of the second command.
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

    /// Returns the session that begins with the tag's last answer; `nil` if it does not prove that the tag has the key.
    ///
    /// - Parameters:
    ///   - answer: 32 bytes; sixteen after AuthenticateEV2NonFirst.
    ///   - earlier: the session whose identifier and counter go on (NonFirst); `nil` for a new one (First).
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

    /// TI, four bytes.
    let identifier: [UInt8]
    let cipherKey: AESKey
    let macKey: AESKey
    /// The number of commands so far.
    var counter: UInt16 = 0

    init(identifier: [UInt8], cipherKey: AESKey, macKey: AESKey, counter: UInt16 = 0) {
        (self.identifier, self.cipherKey, self.macKey, self.counter) = (identifier, cipherKey, macKey, counter)
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
    func command(_ code: UInt8, header: [UInt8], data: [UInt8], _ mode: Mode) throws(CryptoError) -> [UInt8] {
        var body = data
        if mode == .full, !data.isEmpty {
            body.append(0x80)
            while !body.count.isMultiple(of: 16) { body.append(0) }
            body = try cipherKey.encrypt(body, after: try start([0xA5, 0x5A], counter))
        }
        guard mode != .plain else { return header + body }
        let mac = try macKey.cmac([code] + Self.bytes(counter) + identifier + header + body)
        return header + body + AESExchange.short(mac)
    }

    /// Returns the data of an answer with status 9100 and counts the command; `nil` if its code or padding is wrong.
    mutating func answer(_ answer: [UInt8], _ mode: Mode) throws(CryptoError) -> [UInt8]? {
        counter &+= 1
        guard mode != .plain else { return answer }
        let body = Array(answer.dropLast(8))
        let mac = try macKey.cmac([0x00] + Self.bytes(counter) + identifier + body)
        guard answer.count >= 8, AESExchange.short(mac).elementsEqual(answer.suffix(8)) else { return nil }
        guard mode == .full, !body.isEmpty else { return body }
        guard body.count.isMultiple(of: 16) else { return nil }
        let plain = try cipherKey.decrypt(body, after: try start([0x5A, 0xA5], counter))
        guard let end = plain.lastIndex(where: { $0 != 0 }), plain[end] == 0x80 else { return nil }
        return Array(plain[..<end])
    }

    /// The starting value of a CBC chain.
    private func start(_ label: [UInt8], _ counter: UInt16) throws(CryptoError) -> [UInt8] {
        try cipherKey.encrypt(label + identifier + Self.bytes(counter) + [UInt8](repeating: 0, count: 8))
    }
}
