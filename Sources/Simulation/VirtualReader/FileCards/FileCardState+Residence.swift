// SPDX-License-Identifier: Apache-2.0

internal import CardCiphers
internal import CardCrypto

/// What makes a virtual card a residence card: the number that opens it, and the cipher of its generation.
package struct VirtualResidence: Hashable, Sendable {
    /// Triple DES with two keys in the first generation, AES-128 in the second.
    package enum Cipher: String, Hashable, Sendable, CaseIterable {
        case tripleDES
        case aes
    }

    /// The twelve characters that are printed on it. It is test data.
    package var number: [UInt8]
    package var cipher: Cipher

    package init(number: [UInt8], cipher: Cipher) {
        self.number = number
        self.cipher = cipher
    }

    /// The name that the access rules of files have for the verified number.
    static let right = "number"
}

/// Everything here is written by hand from the specification's examples, so that a mistake of the reading side shows.
extension FileCardState {
    /// MUTUAL AUTHENTICATE: 32 bytes of cipher text and a code of 8; the same of the card's own as the answer.
    mutating func authenticate(_ command: CommandAPDU, after challenge: [UInt8]?) -> FileCardReply {
        guard let residence = tree.residence else { return FileCardReply(StatusWord.unknownInstruction) }
        guard command.parameters == 0 else { return FileCardReply(StatusWord.wrongParameters) }
        guard command.data.count == 40, command.expected != nil else { return FileCardReply(StatusWord.wrongLength) }
        sessionKey = nil
        verified.remove(VirtualResidence.right)
        guard let challenge, let key = (try? Digest.sha1.hash(residence.number)).map({ Array($0.prefix(16)) }) else {
            return FileCardReply(StatusWord.mismatch)
        }
        let cipherText = Array(command.data[0..<32])
        guard residence.cipher.code(key, cipherText) == Array(command.data[32..<40]),
            let plain = residence.cipher.decrypt(key, cipherText), Array(plain[8..<16]) == challenge
        else { return FileCardReply(StatusWord.mismatch) }
        let share = (0..<16).map { _ in UInt8.random(in: 0...0xFF, using: &random) }
        guard let answer = residence.cipher.encrypt(key, challenge + Array(plain[0..<8]) + share),
            let code = residence.cipher.code(key, answer)
        else { return FileCardReply(StatusWord.mismatch) }
        let common = (0..<16).map { plain[16 + $0] ^ share[$0] }
        sessionKey = (try? Digest.sha1.hash(common + [0, 0, 0, 1])).map { Array($0.prefix(16)) }
        return FileCardReply(answer + code)
    }

    /// A command of class 08.
    mutating func secureReply(_ command: CommandAPDU, _ residence: VirtualResidence) -> FileCardReply {
        guard let key = sessionKey else { return FileCardReply(0x6982) }
        switch command.instruction {
        case 0x20: return verifyNumber(command, residence, key)
        case 0xB0: return secureRead(command, residence, key)
        default: return FileCardReply(StatusWord.noSecureMessaging)
        }
    }

    private mutating func verifyNumber(
        _ command: CommandAPDU, _ residence: VirtualResidence, _ key: [UInt8]
    ) -> FileCardReply {
        guard command.p1 == 0, command.p2 == 0x86 else { return FileCardReply(StatusWord.wrongParameters) }
        guard command.data.count == 19, command.data.starts(with: [0x86, 0x11, 0x01]) else {
            return FileCardReply(0x6988)
        }
        guard residence.cipher.decrypt(key, Array(command.data[3...])) == residence.number + [0x80, 0, 0, 0] else {
            verified.remove(VirtualResidence.right)
            return FileCardReply(StatusWord.mismatch)
        }
        verified.insert(VirtualResidence.right)
        return FileCardReply(StatusWord.success)
    }

    /// READ BINARY with the wanted number of bytes in an object 96, 0000 for the whole file.
    private mutating func secureRead(
        _ command: CommandAPDU, _ residence: VirtualResidence, _ key: [UInt8]
    ) -> FileCardReply {
        guard command.data.count == 4, command.data[0] == 0x96, command.data[1] == 2 else {
            return FileCardReply(0x6988)
        }
        guard command.expected != nil else { return FileCardReply(StatusWord.wrongLength) }
        let wanted = Int(command.data[2]) << 8 | Int(command.data[3])
        let bytes: [UInt8]
        let offset: Int
        switch content(command, isSecure: true) {
        case .refused(let status): return FileCardReply(status)
        case .content(let found, let place): (bytes, offset) = (found, place)
        }
        guard offset < bytes.count else { return FileCardReply(StatusWord.wrongOffset) }
        let part = Array(bytes[offset..<(wanted == 0 ? bytes.count : min(bytes.count, offset + wanted))])
        let block = residence.cipher == .aes ? 16 : 8
        var padded = part + [0x80]
        while padded.count % block != 0 { padded.append(0) }
        guard let cipherText = residence.cipher.encrypt(key, padded) else { return FileCardReply(0x6988) }
        let count = cipherText.count + 1
        let (high, low) = (UInt8(count >> 8 & 0xFF), UInt8(count & 0xFF))
        let head: [UInt8] = count < 0x80 ? [0x86, low] : count < 0x100 ? [0x86, 0x81, low] : [0x86, 0x82, high, low]
        let answer = head + [0x01] + cipherText
        guard answer.count <= command.expected ?? 0 else { return FileCardReply(StatusWord.wrongLength) }
        return FileCardReply(answer)
    }
}

extension VirtualResidence.Cipher {
    private func triple(_ first: ArraySlice<UInt8>, _ second: ArraySlice<UInt8>) -> TripleDESKey? {
        try? TripleDESKey(SecretBytes(Array(first) + Array(second)))
    }

    func encrypt(_ key: [UInt8], _ data: [UInt8]) -> [UInt8]? {
        switch self {
        case .tripleDES: try? triple(key[0..<8], key[8..<16])?.encrypt(data)
        case .aes: try? AESKey(SecretBytes(key)).encrypt(data)
        }
    }

    func decrypt(_ key: [UInt8], _ data: [UInt8]) -> [UInt8]? {
        switch self {
        case .tripleDES: try? triple(key[0..<8], key[8..<16])?.decrypt(data)
        case .aes: try? AESKey(SecretBytes(key)).decrypt(data)
        }
    }

    /// The first eight bytes of the CMAC; with Triple DES single DES in CBC mode, and the last block with all of the key.
    func code(_ key: [UInt8], _ data: [UInt8]) -> [UInt8]? {
        guard self == .tripleDES else {
            return (try? AESKey(SecretBytes(key)).cmac(data)).map { Array($0.prefix(8)) }
        }
        var padded = data + [0x80]
        while padded.count % 8 != 0 { padded.append(0) }
        guard let single = triple(key[0..<8], key[0..<8]), let whole = triple(key[0..<8], key[8..<16]),
            let chain = try? single.encrypt(padded.dropLast(8))
        else { return nil }
        return try? whole.encrypt(padded.suffix(8), after: UInt64(block: chain.suffix(8)))
    }
}
