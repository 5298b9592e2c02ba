// SPDX-License-Identifier: Apache-2.0

internal import ByteCodec
internal import CardCiphers
internal import CardCrypto
package import CardModel

/// The keys of one system of a virtual card: test data.
package struct VirtualKeys: Hashable, Sendable {
    /// DES keys by node, 8 bytes each; `FFFF` is the system's.
    package var des: [UInt16: [UInt8]] = [:]
    /// AES keys by node, 16 bytes each.
    package var aes: [UInt16: [UInt8]] = [:]
    /// The versions of AES keys, where they are not those of the nodes.
    package var aesVersions: [UInt16: KeyVersion] = [:]
    /// IDi and PMi, 8 bytes each.
    package var issueID = [UInt8](repeating: 0, count: 8)
    package var issueParameter = [UInt8](repeating: 0, count: 8)
    /// 16 bytes, added to the group key of AES.
    package var individual = [UInt8](repeating: 0, count: 16)

    package init() {}

    /// The byte of Request Service v2 that gives the kinds of keys.
    var encryption: UInt8 { aes.isEmpty ? 0x2F : des.isEmpty ? 0x4F : 0x41 }
}

/// A virtual card's random numbers: the prepared ones first, then those of a generator.
struct CardRandom: Hashable, Sendable {
    var prepared: [UInt8] = []
    /// The transaction number in the answer to Authentication2.
    var firstNumber: UInt16 = 0
    private var generator = SplitMix64(seed: 0x5EED)

    mutating func bytes(_ count: Int) -> [UInt8] {
        guard prepared.count < count else {
            defer { prepared.removeFirst(count) }
            return Array(prepared.prefix(count))
        }
        return (0..<count).map { _ in UInt8(truncatingIfNeeded: generator.next()) }
    }
}

/// A card's mode outside of mode 0: a mutual authentication that began, or an open session.
struct SecureMode: Hashable, Sendable {
    let scheme: StandardScheme
    /// The services, or with AES all nodes, that a Block List refers to.
    let nodes: [UInt16]
    /// The reader's proof that opens the session.
    let proof: [UInt8]
    /// DES: the session key. AES: the key of encryption, then that of MACs.
    let key: [UInt8]
    /// Six bytes of the reader's random number.
    let transaction: [UInt8]
    /// AES: three bytes of the card's.
    let nonce: [UInt8]
    /// The last transaction number; `nil` before the reader proved its keys.
    var number: UInt16?
}

/// What the card calculates with DES: written for the card alone, on blocks of eight bytes.
enum CardDES {
    static func encrypt(_ key: UInt64, _ block: UInt64) -> UInt64 { DESKey(key).encrypt(block) }
    static func decrypt(_ key: UInt64, _ block: UInt64) -> UInt64 { DESKey(key).decrypt(block) }

    /// Triple DES with the keys `one`, `two`, `one`.
    static func encrypt(_ one: UInt64, _ two: UInt64, _ block: UInt64) -> UInt64 {
        encrypt(one, decrypt(two, encrypt(one, block)))
    }

    static func decrypt(_ one: UInt64, _ two: UInt64, _ block: UInt64) -> UInt64 {
        decrypt(one, encrypt(two, decrypt(one, block)))
    }

    /// The MAC of a text of whole blocks in a frame of this length.
    static func mac(_ text: [UInt8], length: Int, code: UInt8) -> [UInt8] {
        var mac = UInt64(length) << 56 | UInt64(code) << 48
        for start in stride(from: 0, to: text.count, by: 8) {
            mac = encrypt(UInt64(block: text[start..<start + 8]), mac)
        }
        return mac.block
    }

    /// CBC from zeros.
    static func sealed(_ plain: [UInt8], _ key: UInt64) -> [UInt8] {
        var cipher: [UInt8] = []
        var last: UInt64 = 0
        for start in stride(from: 0, to: plain.count, by: 8) {
            last = encrypt(key, UInt64(block: plain[start..<start + 8]) ^ last)
            cipher += last.block
        }
        return cipher
    }

    static func opened(_ cipher: [UInt8], _ key: UInt64) -> [UInt8] {
        var plain: [UInt8] = []
        var last: UInt64 = 0
        for start in stride(from: 0, to: cipher.count, by: 8) {
            let block = UInt64(block: cipher[start..<start + 8])
            plain += (decrypt(key, block) ^ last).block
            last = block
        }
        return plain
    }
}

/// What the card calculates with AES.
enum CardAES {
    static func encrypt(_ key: [UInt8], _ block: [UInt8]) -> [UInt8]? {
        try? AESKey(SecretBytes(key)).encrypt(block)
    }

    static func decrypt(_ key: [UInt8], _ block: [UInt8]) -> [UInt8]? {
        try? AESKey(SecretBytes(key)).decrypt(block)
    }

    /// The key stream of OFB.
    static func stream(_ key: [UInt8], _ start: [UInt8], _ count: Int) -> [UInt8]? {
        var stream: [UInt8] = []
        var last = start
        while stream.count < count {
            guard let next = encrypt(key, last) else { return nil }
            stream += next
            last = next
        }
        return stream
    }

    /// The first half of the CMAC.
    static func mac(_ key: [UInt8], _ data: [UInt8]) -> [UInt8]? {
        (try? AESKey(SecretBytes(key)).cmac(data)).map { Array($0.prefix(8)) }
    }
}

/// Secure messages as the card makes and checks them.
extension SecureMode {
    /// A frame with this payload.
    package func frame(_ payload: [UInt8], code: UInt8, number: UInt16) -> [UInt8]? {
        let head = [UInt8(truncatingIfNeeded: number), UInt8(truncatingIfNeeded: number >> 8)]
        switch scheme {
        case .des:
            var text = head + transaction + payload
            while !text.count.isMultiple(of: 8) { text.append(UInt8((payload.count + 7) / 8 * 8 - payload.count)) }
            let length = text.count + 10
            guard length <= 255 else { return nil }
            let mac = CardDES.mac(text, length: length, code: code)
            return [UInt8(length), code] + CardDES.sealed(text + mac, UInt64(block: key))
        case .aes:
            let length = payload.count + 12
            guard length <= 255, let body = crypted(payload, UInt8(length), code, head), let mac = body.mac else {
                return nil
            }
            return [UInt8(length), code] + head + body.text + zip(mac, body.macStream).map { $0 ^ $1 }
        }
    }

    /// The number and payload of a frame; `nil` for one that was not made with the session's keys.
    func opened(_ frame: [UInt8]) -> (number: UInt16, payload: [UInt8])? {
        guard frame.count >= 12 else { return nil }
        let code = frame[1]
        switch scheme {
        case .des:
            let cipher = Array(frame[2...])
            guard cipher.count >= 16, cipher.count.isMultiple(of: 8) else { return nil }
            let plain = CardDES.opened(cipher, UInt64(block: key))
            let text = Array(plain.dropLast(8))
            guard CardDES.mac(text, length: frame.count, code: code) == Array(plain.suffix(8)),
                Array(text[2..<8]) == transaction
            else { return nil }
            return (UInt16(text[0]) | UInt16(text[1]) << 8, Array(text[8...]))
        case .aes:
            let head = Array(frame[2..<4])
            let cipher = Array(frame[4...].dropLast(8))
            guard let body = crypted(cipher, frame[0], code, head, decrypts: true), let mac = body.mac,
                zip(mac, body.macStream).map({ $0 ^ $1 }) == Array(frame.suffix(8))
            else { return nil }
            return (UInt16(head[0]) | UInt16(head[1]) << 8, body.text)
        }
    }

    /// The payload under AES, the MAC of the plain one, and the key stream for the MAC.
    private func crypted(
        _ payload: [UInt8], _ length: UInt8, _ code: UInt8, _ number: [UInt8], decrypts: Bool = false
    ) -> (text: [UInt8], mac: [UInt8]?, macStream: ArraySlice<UInt8>)? {
        let start = [1, length, code] + number + transaction + nonce + [0, 0]
        let macPlace = (payload.count + 15) / 16 * 16
        guard let stream = CardAES.stream(Array(key.prefix(16)), start, macPlace + 8) else { return nil }
        let text = zip(payload, stream).map { $0 ^ $1 }
        let plain = decrypts ? text : payload
        let head = [0x19] + start[1..<14] + [0, UInt8(truncatingIfNeeded: plain.count)]
        return (text, CardAES.mac(Array(key.suffix(16)), head + plain), stream[macPlace...].prefix(8))
    }
}
