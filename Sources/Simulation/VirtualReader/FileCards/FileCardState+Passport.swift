// SPDX-License-Identifier: Apache-2.0

internal import CardCiphers
internal import CardCrypto

/// What makes a virtual card a passport: what of its machine-readable zone opens it by BAC.
package struct VirtualPassport: Hashable, Sendable {
    /// Number, birth date and expiry, each with its check digit. It is test data.
    package var information: [UInt8]

    package init(information: [UInt8]) {
        self.information = information
    }

    /// The name that the access rules of files have for a session that BAC opened.
    static let right = "mrz"
}

/// The keys and the counter of a session.
struct PassportSession: Sendable {
    var encryption: [UInt8]
    var codes: [UInt8]
    /// Eight bytes, big-endian; it overflows to zero.
    var counter: [UInt8]

    mutating func count() {
        for place in counter.indices.reversed() {
            counter[place] &+= 1
            if counter[place] != 0 { return }
        }
    }
}

/// Everything here is written by hand from the examples of ICAO Doc 9303-11, so that a mistake of the reading side shows.
extension FileCardState {
    private static func derived(_ seed: [UInt8], _ number: UInt8) -> [UInt8]? {
        (try? Digest.sha1.hash(seed + [0, 0, 0, number])).map { Array($0.prefix(16)) }
    }

    /// MUTUAL AUTHENTICATE of BAC: 32 bytes of cipher text and a code of 8; the same of the passport's own as the answer.
    mutating func authenticate(
        _ command: CommandAPDU, _ passport: VirtualPassport, after challenge: [UInt8]?
    ) -> FileCardReply {
        guard command.parameters == 0 else { return FileCardReply(StatusWord.wrongParameters) }
        guard command.data.count == 40, command.expected != nil else { return FileCardReply(StatusWord.wrongLength) }
        let cipher = VirtualResidence.Cipher.tripleDES
        guard let challenge, challenge.count == 8, let whole = try? Digest.sha1.hash(passport.information),
            let encryption = Self.derived(Array(whole[0..<16]), 1), let codes = Self.derived(Array(whole[0..<16]), 2)
        else { return FileCardReply(StatusWord.mismatch) }
        let cipherText = Array(command.data[0..<32])
        guard cipher.code(codes, cipherText) == Array(command.data[32..<40]),
            let plain = cipher.decrypt(encryption, cipherText), Array(plain[8..<16]) == challenge
        else { return FileCardReply(StatusWord.mismatch) }
        let share = (0..<16).map { _ in UInt8.random(in: 0...0xFF, using: &random) }
        guard let answer = cipher.encrypt(encryption, challenge + Array(plain[0..<8]) + share),
            let code = cipher.code(codes, answer)
        else { return FileCardReply(StatusWord.mismatch) }
        let seed = (0..<16).map { plain[16 + $0] ^ share[$0] }
        guard let first = Self.derived(seed, 1), let second = Self.derived(seed, 2) else {
            return FileCardReply(StatusWord.mismatch)
        }
        passportSession = PassportSession(
            encryption: first, codes: second, counter: Array(challenge[4..<8]) + Array(plain[4..<8]))
        verified.insert(VirtualPassport.right)
        return FileCardReply(answer + code)
    }

    /// What a protected command is about.
    private struct Protected {
        var data: [UInt8] = []
        var expected: Int?
    }

    /// A command of class 0C. Anything wrong with its protection ends the session.
    mutating func securePassportReply(_ command: CommandAPDU) -> FileCardReply {
        guard var session = passportSession else { return FileCardReply(StatusWord.securityNotSatisfied) }
        session.count()
        let opened: Protected
        switch Self.opened(command, session) {
        case .failure(let refusal):
            passportSession = nil
            verified.remove(VirtualPassport.right)
            return FileCardReply(refusal.status)
        case .success(let plain): opened = plain
        }
        var inner = command
        inner.data = opened.data
        inner.expected = opened.expected
        inner.isExtended = false
        let reply: FileCardReply =
            switch command.instruction {
            case 0xA4: select(inner)
            case 0xB0, 0xB1: securePart(inner)
            default: FileCardReply(StatusWord.unknownInstruction)
            }
        session.count()
        passportSession = session
        return Self.protected(reply, odd: command.instruction & 1 == 1, session)
    }

    private struct Refusal: Error {
        var status: UInt16
    }

    /// Objects 85 or 87, 97 and 8E, in this order, each once.
    private static func opened(_ command: CommandAPDU, _ session: PassportSession) -> Result<Protected, Refusal> {
        var rest = command.data[...]
        var (signed, cipherText, wanted, code) = ([UInt8](), [UInt8]?.none, [UInt8]?.none, [UInt8]?.none)
        while let tag = rest.first, rest.count >= 2 {
            let start = rest.startIndex
            var (length, size) = (Int(rest[start + 1]), 2)
            if length == 0x81, rest.count >= 3 { (length, size) = (Int(rest[start + 2]), 3) }
            guard length < 0x100, rest.count >= size + length else { return .failure(Refusal(status: 0x6988)) }
            let value = Array(rest[(start + size)..<(start + size + length)])
            switch tag {
            case 0x87 where cipherText == nil && wanted == nil && code == nil && value.first == 1:
                cipherText = Array(value.dropFirst())
            case 0x85 where cipherText == nil && wanted == nil && code == nil: cipherText = value
            case 0x97 where wanted == nil && code == nil && value.count == 1: wanted = value
            case 0x8E where code == nil && value.count == 8: code = value
            default: return .failure(Refusal(status: 0x6988))
            }
            if tag != 0x8E { signed += rest[start..<(start + size + length)] }
            rest = rest.dropFirst(size + length)
        }
        guard rest.isEmpty, let code else { return .failure(Refusal(status: 0x6987)) }
        let header: [UInt8] = [0x0C, command.instruction, command.p1, command.p2, 0x80, 0, 0, 0]
        let cipher = VirtualResidence.Cipher.tripleDES
        guard cipher.code(session.codes, session.counter + header + signed) == code else {
            return .failure(Refusal(status: 0x6988))
        }
        var plain = Protected(expected: wanted.map { $0[0] == 0 ? 256 : Int($0[0]) })
        if let cipherText {
            guard !cipherText.isEmpty, cipherText.count % 8 == 0,
                let padded = cipher.decrypt(session.encryption, cipherText),
                let end = padded.lastIndex(where: { $0 != 0 }), padded[end] == 0x80
            else { return .failure(Refusal(status: 0x6988)) }
            plain.data = Array(padded[0..<end])
        }
        return .success(plain)
    }

    private static func protected(_ reply: FileCardReply, odd: Bool, _ session: PassportSession) -> FileCardReply {
        let cipher = VirtualResidence.Cipher.tripleDES
        var objects: [UInt8] = []
        if !reply.data.isEmpty {
            var padded = reply.data + [0x80]
            while padded.count % 8 != 0 { padded.append(0) }
            guard let text = cipher.encrypt(session.encryption, padded) else { return FileCardReply(0x6988) }
            let value = odd ? text : [1] + text
            let count = value.count
            let (high, low) = (UInt8(count >> 8 & 0xFF), UInt8(count & 0xFF))
            let length: [UInt8] = count < 0x80 ? [low] : count < 0x100 ? [0x81, low] : [0x82, high, low]
            objects += [odd ? 0x85 : 0x87] + length + value
        }
        objects += [0x99, 2, UInt8(reply.status >> 8), UInt8(reply.status & 0xFF)]
        guard let code = cipher.code(session.codes, session.counter + objects) else { return FileCardReply(0x6988) }
        return FileCardReply(objects + [0x8E, 8] + code, reply.status)
    }

    /// READ BINARY; with an odd instruction the offset comes in an object 54, and the data goes in an object 53.
    private mutating func securePart(_ command: CommandAPDU) -> FileCardReply {
        guard let expected = command.expected else { return FileCardReply(StatusWord.wrongLength) }
        var place = command
        var (far, room) = (Int?.none, expected)
        if command.instruction == 0xB1 {
            guard command.data.count >= 3, command.data[0] == 0x54, Int(command.data[1]) == command.data.count - 2,
                command.data.count <= 6, command.parameters == 0
            else { return FileCardReply(StatusWord.wrongLength) }
            far = command.data[2...].reduce(0) { $0 << 8 | Int($1) }
            room = expected - (expected < 0x82 ? 2 : 3)
            (place.p1, place.p2) = (0, 0)
        }
        switch content(place, isSecure: true) {
        case .refused(let status): return FileCardReply(status)
        case .content(let bytes, let near):
            let offset = far ?? near
            guard offset < bytes.count, room > 0 else { return FileCardReply(StatusWord.wrongOffset) }
            let part = Array(bytes[offset..<min(bytes.count, offset + room)])
            guard far != nil else { return FileCardReply(part) }
            let length: [UInt8] = part.count < 0x80 ? [UInt8(part.count)] : [0x81, UInt8(part.count)]
            return FileCardReply([0x53] + length + part)
        }
    }
}
