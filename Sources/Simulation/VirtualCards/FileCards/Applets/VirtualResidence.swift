// SPDX-License-Identifier: Apache-2.0

internal import ByteCodec
internal import CardCiphers
internal import CardCrypto
package import CardModel

/// What makes a virtual card a residence card: the number that opens it, and the cipher of its generation.
package struct VirtualResidence: VirtualApplet {
    package static let name = "residence"
    /// The name that the access rules of files have for the verified number.
    static let right = "number"
    package static let rights = [right]

    /// The twelve characters that are printed on it. It is test data.
    private let number: [UInt8]
    /// Triple DES in the first generation, AES-128 in the second.
    private let cipher: ChipCipher
    /// The key of secure messaging, while there is one.
    private var sessionKey: [UInt8]?

    init(number: [UInt8], cipher: ChipCipher) {
        (self.number, self.cipher) = (number, cipher)
    }

    package init(json: JSONCursor, of card: JSONCursor) throws(DocumentError) {
        try json.allowOnly(["number", "cipher", "comment"])
        let number = try json.required("number")
        let bytes = Array(try number.text().utf8)
        guard bytes.count == 12 else { throw number.malformed(.residenceNumber) }
        self.init(
            number: bytes,
            cipher: try json.required("cipher").word(
                Dictionary(uniqueKeysWithValues: ChipCipher.allCases.map { ($0.rawValue, $0) })))
    }

    package mutating func losePower() { sessionKey = nil }

    package mutating func answer(_ command: CommandAPDU, on card: inout FileCardState) -> FileCardReply? {
        switch (command.classByte, command.instruction) {
        case (0x00, 0x82):
            let reply = authenticate(command, on: &card)
            return card.fit(reply, to: command)
        case (0x08, _): return secureReply(command, on: &card)
        default: return nil
        }
    }

    /// MUTUAL AUTHENTICATE: 32 bytes of cipher text and a code of 8; the same of the card's own as the answer.
    private mutating func authenticate(_ command: CommandAPDU, on card: inout FileCardState) -> FileCardReply {
        guard command.parameters == 0 else { return FileCardReply(StatusWord.wrongParameters) }
        guard command.data.count == 40, command.expected != nil else { return FileCardReply(StatusWord.wrongLength) }
        sessionKey = nil
        card.verified.remove(VirtualResidence.right)
        guard let challenge = card.challenge, let key = (try? Digest.sha1.hash(number)).map({ Array($0.prefix(16)) })
        else {
            return FileCardReply(StatusWord.mismatch)
        }
        let cipherText = Array(command.data[0..<32])
        guard cipher.code(key, cipherText) == Array(command.data[32..<40]),
            let plain = cipher.decrypt(key, cipherText), Array(plain[8..<16]) == challenge
        else { return FileCardReply(StatusWord.mismatch) }
        let share = card.randomBytes(16)
        guard let answer = cipher.encrypt(key, challenge + Array(plain[0..<8]) + share),
            let code = cipher.code(key, answer)
        else { return FileCardReply(StatusWord.mismatch) }
        let common = (0..<16).map { plain[16 + $0] ^ share[$0] }
        sessionKey = (try? Digest.sha1.hash(common + [0, 0, 0, 1])).map { Array($0.prefix(16)) }
        return FileCardReply(answer + code)
    }

    /// A command of class 08.
    private func secureReply(_ command: CommandAPDU, on card: inout FileCardState) -> FileCardReply {
        guard let key = sessionKey else { return FileCardReply(0x6982) }
        switch command.instruction {
        case 0x20: return verifyNumber(command, key, on: &card)
        case 0xB0: return secureRead(command, key, on: &card)
        default: return FileCardReply(StatusWord.noSecureMessaging)
        }
    }

    private func verifyNumber(
        _ command: CommandAPDU, _ key: [UInt8], on card: inout FileCardState
    ) -> FileCardReply {
        guard command.p1 == 0, command.p2 == 0x86 else { return FileCardReply(StatusWord.wrongParameters) }
        guard command.data.count == 19, command.data.starts(with: [0x86, 0x11, 0x01]) else {
            return FileCardReply(0x6988)
        }
        guard cipher.decrypt(key, Array(command.data[3...])) == number + [0x80, 0, 0, 0] else {
            card.verified.remove(VirtualResidence.right)
            return FileCardReply(StatusWord.mismatch)
        }
        card.verified.insert(VirtualResidence.right)
        return FileCardReply(StatusWord.success)
    }

    /// READ BINARY with the wanted number of bytes in an object 96, 0000 for the whole file.
    private func secureRead(
        _ command: CommandAPDU, _ key: [UInt8], on card: inout FileCardState
    ) -> FileCardReply {
        guard command.data.count == 4, command.data[0] == 0x96, command.data[1] == 2 else {
            return FileCardReply(0x6988)
        }
        guard command.expected != nil else { return FileCardReply(StatusWord.wrongLength) }
        let wanted = Int(command.data[2]) << 8 | Int(command.data[3])
        let bytes: [UInt8]
        let offset: Int
        switch card.content(command, isSecure: true) {
        case .refused(let status): return FileCardReply(status)
        case .content(let found, let place): (bytes, offset) = (found, place)
        }
        guard offset < bytes.count else { return FileCardReply(StatusWord.wrongOffset) }
        let part = Array(bytes[offset..<(wanted == 0 ? bytes.count : min(bytes.count, offset + wanted))])
        let block = cipher == .aes ? 16 : 8
        var padded = part + [0x80]
        while padded.count % block != 0 { padded.append(0) }
        guard let cipherText = cipher.encrypt(key, padded) else { return FileCardReply(0x6988) }
        let count = cipherText.count + 1
        let (high, low) = (UInt8(count >> 8 & 0xFF), UInt8(count & 0xFF))
        let head: [UInt8] = count < 0x80 ? [0x86, low] : count < 0x100 ? [0x86, 0x81, low] : [0x86, 0x82, high, low]
        let answer = head + [0x01] + cipherText
        guard answer.count <= command.expected ?? 0 else { return FileCardReply(StatusWord.wrongLength) }
        return FileCardReply(answer)
    }
}

extension VirtualResidence {
    /// Lets the number open a residence card. The first generation has it only in a picture: its dump stays open.
    package static func close(_ tree: inout VirtualFileTree, as dump: CardDump) {
        guard let name = ResidenceFile.type.content(dump), let length = name.element(at: 1),
            let type = ResidenceType(
                rawValue: String(decoding: name.dropFirst(2).prefix(Int(length)), as: UTF8.self))
        else { return }
        let number = type.generation == 2 ? ResidenceFile.number.content(dump) : nil
        if let number, number.count >= 14, number.starts(with: [0xC2, 0x0C]) {
            tree.applets.append(VirtualResidence(number: Array(number[2..<14]), cipher: .aes))
        }
        let applications = Set(ResidenceFile.files(of: type).compactMap(\.application))
        tree.close(VirtualResidence.right, !tree.applets.isEmpty, ResidenceFile.numberApplication) {
            $0.name.map(applications.contains) ?? false
        }
    }
}

extension ResidenceFile {
    /// What a dump has of the file, if it was read.
    fileprivate func content(_ dump: CardDump) -> [UInt8]? {
        let directory = dump.applications.first { $0.aid == application }
        return directory?.file(id).flatMap { $0.state == .read ? $0.data : nil }
    }
}
