// SPDX-License-Identifier: Apache-2.0

internal import CardCiphers
internal import CardCrypto

/// The card's half of a DESFire session, written by hand from the data sheets' wording and other people's recordings. It
/// shares nothing but ciphers with the reading side.
struct DESFireChipSession: Sendable {
    enum Kind: Sendable {
        case d40
        case ev1
        case ev2
    }

    let kind: Kind
    /// The number of the key.
    let key: Int
    /// The session's key; with EV2 that for the cipher.
    let cipherKey: DESFireChipKey
    /// With EV2 the key of codes.
    var macKey: DESFireChipKey?
    /// With EV2 TI, four bytes.
    var identifier: [UInt8] = []
    var count: UInt16 = 0
    /// With EV1 the starting value of the next message.
    var vector: [UInt8]

    init(_ kind: Kind, key: Int, cipherKey: DESFireChipKey) {
        (self.kind, self.key, self.cipherKey) = (kind, key, cipherKey)
        vector = [UInt8](repeating: 0, count: cipherKey.block)
    }

    private var counter: [UInt8] { [UInt8(truncatingIfNeeded: count), UInt8(truncatingIfNeeded: count >> 8)] }

    /// The number of bytes that a command has behind its header for so many bytes of data.
    func length(_ count: Int, mode: UInt8) -> Int {
        let block = cipherKey.block
        switch (kind, mode) {
        case (.d40, 1): return count + 4
        case (.d40, 3): return (count + 2 + 7) / 8 * 8
        case (.ev1, 1): return count + 8
        case (.ev1, 3): return (count + 4 + block - 1) / block * block
        case (.ev2, 1): return count + 8
        case (.ev2, 3): return (count + 16) / 16 * 16 + 8
        default: return count
        }
    }

    /// The data of a command; `nil` if its code, checksum or padding is wrong.
    ///
    /// - Parameters:
    ///   - header: how many bytes are never enciphered.
    ///   - count: the length of the data.
    ///   - tail: how many bytes follow the checksum of enciphered data, which are returned with it.
    mutating func open(
        _ code: UInt8, _ field: [UInt8], header: Int, mode: UInt8, count: Int, tail: Int = 0
    ) -> [UInt8]? {
        guard field.count >= header else { return nil }
        let (head, body) = (Array(field[..<header]), Array(field[header...]))
        switch kind {
        case .d40: return openOld(body, mode, count, tail)
        case .ev1: return openMiddle(code, head, body, mode, count, tail)
        case .ev2: return openNew(code, head, body, mode)
        }
    }

    private func openOld(_ body: [UInt8], _ mode: UInt8, _ count: Int, _ tail: Int) -> [UInt8]? {
        if mode == 0 { return body }
        if mode == 1 {
            guard body.count >= 4 else { return nil }
            let data = Array(body.dropLast(4))
            return oldCode(data) == Array(body.suffix(4)) ? data : nil
        }
        guard body.count % 8 == 0, body.count >= count + 2 + tail else { return nil }
        // The card only encrypts: each block of the reader's was decrypted by it.
        var plain: [UInt8] = []
        var last = [UInt8](repeating: 0, count: 8)
        for place in stride(from: 0, to: body.count, by: 8) {
            let block = Array(body[place..<place + 8])
            guard let whole = cipherKey.encrypt(block, after: [UInt8](repeating: 0, count: 8)) else { return nil }
            for index in 0..<8 { plain.append(whole[index] ^ last[index]) }
            last = block
        }
        let data = Array(plain[..<count])
        guard Array(plain[count..<count + 2]) == Self.crc16(data) else { return nil }
        guard plain[(count + 2 + tail)...].allSatisfy({ $0 == 0 }) else { return nil }
        return data + plain[(count + 2)..<(count + 2 + tail)]
    }

    private mutating func openMiddle(
        _ code: UInt8, _ head: [UInt8], _ body: [UInt8], _ mode: UInt8, _ count: Int, _ tail: Int
    ) -> [UInt8]? {
        if mode == 0 {
            guard let mac = cipherKey.cmac([code] + head + body, after: vector) else { return nil }
            vector = mac
            return body
        }
        if mode == 1 {
            guard body.count >= 8 else { return nil }
            let data = Array(body.dropLast(8))
            guard let mac = cipherKey.cmac([code] + head + data, after: vector) else { return nil }
            vector = mac
            return Array(mac[..<8]) == Array(body.suffix(8)) ? data : nil
        }
        guard !body.isEmpty, body.count % cipherKey.block == 0, body.count >= count + 4 + tail,
            let plain = cipherKey.decrypt(body, after: vector)
        else { return nil }
        vector = Array(body.suffix(cipherKey.block))
        let data = Array(plain[..<count])
        guard Array(plain[count..<count + 4]) == Self.crc32([code] + head + data) else { return nil }
        guard plain[(count + 4 + tail)...].allSatisfy({ $0 == 0 }) else { return nil }
        return data + plain[(count + 4)..<(count + 4 + tail)]
    }

    private func openNew(_ code: UInt8, _ head: [UInt8], _ body: [UInt8], _ mode: UInt8) -> [UInt8]? {
        if mode == 0 { return body }
        guard body.count >= 8 else { return nil }
        let data = Array(body.dropLast(8))
        guard newCode([code] + counter + identifier + head + data) == Array(body.suffix(8)) else { return nil }
        guard mode == 3, !data.isEmpty else { return data }
        guard data.count % 16 == 0, let first = start([0xA5, 0x5A]), let plain = cipherKey.decrypt(data, after: first),
            let end = plain.lastIndex(where: { $0 != 0 }), plain[end] == 0x80
        else { return nil }
        return Array(plain[..<end])
    }

    /// The data of an answer with status 00.
    mutating func close(_ data: [UInt8], mode: UInt8) -> [UInt8] {
        switch (kind, mode) {
        case (.d40, 0): return data
        case (.d40, 1): return data + oldCode(data)
        case (.d40, _):
            let body = Self.filled(data + Self.crc16(data), 8)
            return cipherKey.encrypt(body, after: [UInt8](repeating: 0, count: 8)) ?? []
        case (.ev1, 3):
            let body = Self.filled(data + Self.crc32(data + [0x00]), cipherKey.block)
            let cipher = cipherKey.encrypt(body, after: vector) ?? []
            vector = Array(cipher.suffix(cipherKey.block))
            return cipher
        case (.ev1, _):
            let mac = cipherKey.cmac(data + [0x00], after: vector) ?? []
            vector = mac
            return data + mac.prefix(8)
        case (.ev2, _):
            count &+= 1
            if mode == 0 { return data }
            var body = data
            if mode == 3, !data.isEmpty {
                body = cipherKey.encrypt(Self.filled(data + [0x80], 16), after: start([0x5A, 0xA5]) ?? []) ?? []
            }
            return body + newCode([0x00] + counter + identifier + body)
        }
    }

    private func oldCode(_ data: [UInt8]) -> [UInt8] {
        let chain = cipherKey.encrypt(Self.filled(data, 8), after: [UInt8](repeating: 0, count: 8)) ?? []
        return Array(chain.suffix(8).prefix(4))
    }

    private func newCode(_ message: [UInt8]) -> [UInt8] {
        let mac = macKey?.cmac(message, after: [UInt8](repeating: 0, count: 16)) ?? []
        return mac.indices.filter { $0 % 2 == 1 }.map { mac[$0] }
    }

    private func start(_ label: [UInt8]) -> [UInt8]? {
        cipherKey.encrypt(
            label + identifier + counter + [UInt8](repeating: 0, count: 8),
            after: [UInt8](repeating: 0, count: 16))
    }

    private static func filled(_ data: [UInt8], _ block: Int) -> [UInt8] {
        data + [UInt8](repeating: 0, count: (block - data.count % block) % block)
    }

    static func crc16(_ data: [UInt8]) -> [UInt8] {
        var value: UInt16 = 0x6363
        for byte in data {
            var mixed = byte ^ UInt8(truncatingIfNeeded: value)
            mixed ^= mixed << 4
            value = value >> 8 ^ UInt16(mixed) << 8 ^ UInt16(mixed) << 3 ^ UInt16(mixed) >> 4
        }
        return [UInt8(truncatingIfNeeded: value), UInt8(truncatingIfNeeded: value >> 8)]
    }

    static func crc32(_ data: [UInt8]) -> [UInt8] {
        var value: UInt32 = 0xFFFF_FFFF
        for byte in data {
            value ^= UInt32(byte)
            for _ in 0..<8 { value = value & 1 == 1 ? value >> 1 ^ 0xEDB8_8320 : value >> 1 }
        }
        return (0..<4).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) }
    }
}

/// A key of a virtual DESFire: 16 bytes with AES, else 16 or 24. It is test data.
package struct DESFireChipKey: Hashable, Sendable {
    package enum Kind: String, Hashable, Sendable, CaseIterable {
        case des
        case three = "3k3des"
        case aes

        /// The bits of the number of keys.
        package var bits: UInt8 {
            switch self {
            case .des: 0x00
            case .three: 0x40
            case .aes: 0x80
            }
        }

        package var length: Int { self == .three ? 24 : 16 }
    }

    package let kind: Kind
    package let bytes: [UInt8]

    package init(_ kind: Kind, _ bytes: [UInt8]) { (self.kind, self.bytes) = (kind, bytes) }

    package var block: Int { kind == .aes ? 16 : 8 }

    private var triple: TripleDESKey? {
        kind == .three ? try? TripleDESKey(long: SecretBytes(bytes)) : try? TripleDESKey(SecretBytes(bytes))
    }

    func encrypt(_ data: [UInt8], after start: [UInt8]) -> [UInt8]? {
        guard kind == .aes else { return try? triple?.encrypt(data, after: UInt64(block: start)) }
        return try? AESKey(SecretBytes(bytes)).encrypt(data, after: start)
    }

    func decrypt(_ data: [UInt8], after start: [UInt8]) -> [UInt8]? {
        guard kind == .aes else { return try? triple?.decrypt(data, after: UInt64(block: start)) }
        return try? AESKey(SecretBytes(bytes)).decrypt(data, after: start)
    }

    /// The CMAC, a whole block.
    func cmac(_ data: [UInt8], after start: [UInt8]) -> [UInt8]? {
        let zeros = [UInt8](repeating: 0, count: block)
        guard var mask = encrypt(zeros, after: zeros) else { return nil }
        var message = data
        let isWhole = !data.isEmpty && data.count % block == 0
        if !isWhole { message.append(0x80) }
        while message.count % block != 0 { message.append(0) }
        for _ in 0..<(isWhole ? 1 : 2) {
            let isHigh = mask[0] & 0x80 != 0
            for place in 0..<block { mask[place] = mask[place] << 1 | (place + 1 < block ? mask[place + 1] >> 7 : 0) }
            if isHigh { mask[block - 1] ^= block == 16 ? 0x87 : 0x1B }
        }
        let base = message.count - block
        for place in 0..<block { message[base + place] ^= mask[place] }
        return encrypt(message, after: start).map { Array($0.suffix(block)) }
    }
}
