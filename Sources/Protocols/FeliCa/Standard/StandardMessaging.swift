// SPDX-License-Identifier: Apache-2.0

internal import ByteCodec
package import CardCiphers
package import CardCrypto

/// The secure messages of one session: commands and answers with a transaction number, enciphered and with a MAC.
package protocol StandardMessaging {
    /// Returns a whole frame, LEN first; `nil` if it does not fit into 255 bytes.
    func seal(_ payload: [UInt8], code: UInt8, number: UInt16) throws(CryptoError) -> [UInt8]?

    /// Reads a whole frame, LEN first; `nil` unless every byte is what the card with the session's key sends.
    ///
    /// The payload of DES may have up to seven bytes of padding, of any value.
    func open(_ frame: [UInt8], code: UInt8) throws(CryptoError) -> StandardMessage?
}

/// The contents of a secure message.
package struct StandardMessage: Hashable, Sendable {
    /// The transaction number, which grows with each command and answer.
    package let number: UInt16
    package let payload: [UInt8]
}

/// Secure messages of DES.
///
/// The text is number, transaction ID, payload and padding; each group of eight bytes enciphers the MAC as a **key**. Text
/// and MAC are enciphered together in CBC mode from zeros. Source: the unofficial user's manual; see the vectors in the
/// tests.
package struct DESMessaging: StandardMessaging {
    private let key: DESKey
    /// Six bytes of the reader's random number.
    private let transaction: [UInt8]

    package init(key: DESKey, transaction: [UInt8]) { (self.key, self.transaction) = (key, transaction) }

    package func seal(_ payload: [UInt8], code: UInt8, number: UInt16) -> [UInt8]? {
        var text = ByteWriter()
        text.write(number, .little)
        text.write(transaction + payload)
        let padding = (8 - text.bytes.count % 8) % 8
        text.write([UInt8](repeating: UInt8(padding), count: padding))
        guard let length = UInt8(exactly: text.bytes.count + 10) else { return nil }
        var last: UInt64 = 0
        let blocks = Self.blocks(text.bytes)
        let cipher = (blocks + [Self.mac(blocks, length, code)]).flatMap { block in
            last = key.encrypt(block ^ last)
            return last.block
        }
        return [length, code] + cipher
    }

    package func open(_ frame: [UInt8], code: UInt8) -> StandardMessage? {
        let cipher = frame.dropFirst(2)
        // Number and transaction ID, and the MAC, are one block each.
        guard let length = frame.first, Int(length) == frame.count, frame[1...].first == code, cipher.count >= 16,
            cipher.count.isMultiple(of: 8)
        else { return nil }
        var last: UInt64 = 0
        var text = Self.blocks(Array(cipher)).map { block in
            defer { last = block }
            return key.decrypt(block) ^ last
        }
        guard let code = text.popLast() else { return nil }
        let isRight = ConstantTime.areEqual(Self.mac(text, length, frame[1]).block, code.block)
        let bytes = text.flatMap(\.block)
        guard isRight, ConstantTime.areEqual(bytes[2..<8], transaction) else { return nil }
        return StandardMessage(number: UInt16(bytes[0]) | UInt16(bytes[1]) << 8, payload: Array(bytes[8...]))
    }

    /// The MAC of a text: LEN, code and six zeros, enciphered with each of its blocks in turn.
    package static func mac(_ text: [UInt64], _ length: UInt8, _ code: UInt8) -> UInt64 {
        text.reduce(UInt64(length) << 56 | UInt64(code) << 48) { DESKey($1).encrypt($0) }
    }

    static func blocks(_ bytes: [UInt8]) -> [UInt64] {
        stride(from: 0, to: bytes.count, by: 8).map { UInt64(block: bytes[$0...].prefix(8)) }
    }
}

/// Secure messages of AES: the payload in OFB mode, and half a CMAC of it, enciphered from the next whole block on.
///
/// Source: the unofficial user's manual and felica-rs; see the vectors in the tests.
package struct AESMessaging: StandardMessaging {
    private let encryption: AESKey
    private let authentication: AESKey
    /// Six bytes of the reader's random number.
    private let transaction: [UInt8]
    /// Three bytes that the card chose.
    private let nonce: [UInt8]

    /// Takes the two keys of a session.
    package init(encryption: AESKey, authentication: AESKey, transaction: [UInt8], nonce: [UInt8]) {
        (self.encryption, self.authentication) = (encryption, authentication)
        (self.transaction, self.nonce) = (transaction, nonce)
    }

    /// LEN, code, number and MAC.
    private static let overhead = 12

    package func seal(_ payload: [UInt8], code: UInt8, number: UInt16) throws(CryptoError) -> [UInt8]? {
        guard let length = UInt8(exactly: payload.count + Self.overhead) else { return nil }
        let start = start(length, code, number)
        let body = try crypt(payload + mac(payload, start), start)
        return [length, code, UInt8(truncatingIfNeeded: number), UInt8(truncatingIfNeeded: number >> 8)] + body
    }

    package func open(_ frame: [UInt8], code: UInt8) throws(CryptoError) -> StandardMessage? {
        guard let length = frame.first, Int(length) == frame.count, frame.count >= Self.overhead, frame[1] == code
        else { return nil }
        let number = UInt16(frame[2]) | UInt16(frame[3]) << 8
        let start = start(length, code, number)
        let body = try crypt(Array(frame[4...]), start)
        let payload = Array(body.dropLast(8))
        guard ConstantTime.areEqual(try mac(payload, start), body.suffix(8)) else { return nil }
        return StandardMessage(number: number, payload: payload)
    }

    /// The starting value, which contains all that is not enciphered.
    private func start(_ length: UInt8, _ code: UInt8, _ number: UInt16) -> [UInt8] {
        var start = ByteWriter([0x01, length, code])
        start.write(number, .little)
        start.write(transaction + nonce + [0, 0])
        return start.bytes
    }

    private func mac(_ payload: [UInt8], _ start: [UInt8]) throws(CryptoError) -> [UInt8] {
        let length = UInt16(truncatingIfNeeded: payload.count)
        let head = [0x19] + start[1...13] + [UInt8(length >> 8), UInt8(truncatingIfNeeded: length)]
        return Array(try authentication.cmac(head + payload).prefix(8))
    }

    /// Enciphers or deciphers a payload and its MAC of eight bytes.
    private func crypt(_ bytes: [UInt8], _ start: [UInt8]) throws(CryptoError) -> [UInt8] {
        let count = bytes.count - 8
        let whole = (count + 15) / 16 * 16
        // OFB is CBC of zeros.
        let stream = try encryption.encrypt([UInt8](repeating: 0, count: whole + 16), after: start)
        return zip(bytes, stream[..<count] + stream[whole...]).map { $0 ^ $1 }
    }
}
