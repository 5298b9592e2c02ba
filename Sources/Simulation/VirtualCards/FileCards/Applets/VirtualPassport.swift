// SPDX-License-Identifier: Apache-2.0

internal import ByteCodec
internal import CardCiphers
internal import CardCrypto
package import CardModel

/// What makes a virtual card a passport: what opens it, and the private keys that a copy would not have.
package struct VirtualPassport: VirtualApplet {
    package static let name = "passport"
    /// The name that the access rules of files have for a session.
    static let right = "mrz"
    package static let rights = [right]

    /// A private key of chip authentication.
    struct AgreementKey: Sendable {
        /// Its number, where it has one.
        var id: [UInt8]?
        /// The number of its group in ICAO Doc 9303-11.
        var parameters: Int
        var key: [UInt8]
    }

    /// The private key of active authentication.
    enum Signer: Sendable {
        case rsa(modulus: [UInt8], exponent: [UInt8], Digest)
        /// The number of the curve, and the key.
        case curve(Int, [UInt8], Digest)
    }

    /// Number, birth date and expiry, each with its check digit. It is test data.
    package let information: [UInt8]
    /// Its deviations from the standard.
    package var quirks = PassportQuirks()
    /// The card access number, six digits in ASCII; `nil` when there is none.
    var accessNumber: [UInt8]?
    /// The tries left for a password of PACE, 1 to 15; `nil` when the chip does not count.
    var triesLeft: Int?
    /// The status word with which it refuses BAC; `nil` when it does not.
    var refusal: UInt16?
    var agreementKeys: [AgreementKey] = []
    var signer: Signer?
    /// The keys and the counter of the session, while there is one.
    var session: PassportSession?
    /// What it knows of an exchange of PACE, while there is one.
    var pace: ChipPACE?
    /// The protocol of chip authentication that was chosen, and the number of its key.
    var chosenProtocol: (cipher: UInt8, key: [UInt8]?)?
    /// Whether the READ that is carried out reaches the end of a file.
    private var reachesEnd = false

    init(information: [UInt8]) {
        self.information = information
    }

    package mutating func losePower() {
        session = nil
        pace = nil
        chosenProtocol = nil
    }

    /// A step of PACE has the class of a link, all but the last.
    package func takesLink(_ command: CommandAPDU) -> Bool { command.instruction == 0x86 && command.parameters == 0 }

    package mutating func answer(_ command: CommandAPDU, on card: inout FileCardState) -> FileCardReply? {
        if let reply = paceReply(command, on: &card) { return reply }
        switch command.classByte {
        case 0x0C: return secureReply(command, on: &card)
        case 0x00:
            // A command in the clear ends the session.
            endSession(on: &card)
            guard command.instruction == 0x82 else { return nil }
            let reply = authenticate(command, on: &card)
            return card.fit(reply, to: command)
        default: return nil
        }
    }

    mutating func endSession(on card: inout FileCardState) {
        session = nil
        card.verified.remove(VirtualPassport.right)
    }
}

/// Everything here is written by hand from the examples of ICAO Doc 9303-11, so that a mistake of the reading side shows.
extension VirtualPassport {
    private static func derived(_ seed: [UInt8], _ number: UInt8) -> [UInt8]? {
        (try? Digest.sha1.hash(seed + [0, 0, 0, number])).map { Array($0.prefix(16)) }
    }

    /// MUTUAL AUTHENTICATE of BAC: 32 bytes of cipher text and a code of 8; the same of the passport's own as the answer.
    private mutating func authenticate(_ command: CommandAPDU, on card: inout FileCardState) -> FileCardReply {
        guard command.parameters == 0 else { return FileCardReply(StatusWord.wrongParameters) }
        guard command.data.count == 40, command.expected != nil else { return FileCardReply(StatusWord.wrongLength) }
        func refused() -> FileCardReply {
            FileCardReply(quirks.refuse())
        }
        guard !quirks.isBlocked else { return refused() }
        let cipher = ChipCipher.tripleDES
        if let refusal { return FileCardReply(refusal) }
        guard let challenge = card.challenge, challenge.count == 8, let whole = try? Digest.sha1.hash(information),
            let encryption = Self.derived(Array(whole[0..<16]), 1), let codes = Self.derived(Array(whole[0..<16]), 2)
        else { return refused() }
        let cipherText = Array(command.data[0..<32])
        guard cipher.code(codes, cipherText) == Array(command.data[32..<40]),
            let plain = cipher.decrypt(encryption, cipherText), Array(plain[8..<16]) == challenge
        else { return refused() }
        quirks.used = 0
        let share = card.randomBytes(16)
        guard let answer = cipher.encrypt(encryption, challenge + Array(plain[0..<8]) + share),
            let code = cipher.code(codes, answer)
        else { return FileCardReply(StatusWord.mismatch) }
        let seed = (0..<16).map { plain[16 + $0] ^ share[$0] }
        guard let first = Self.derived(seed, 1), let second = Self.derived(seed, 2) else {
            return FileCardReply(StatusWord.mismatch)
        }
        session = PassportSession(
            encryption: first, codes: second, counter: Array(challenge[4..<8]) + Array(plain[4..<8]))
        card.verified.insert(VirtualPassport.right)
        return FileCardReply(answer + code)
    }

    /// What a protected command is about.
    private struct Protected {
        var data: [UInt8] = []
        var expected: Int?
    }

    /// A command of class 0C. Anything wrong with its protection ends the session.
    private mutating func secureReply(_ command: CommandAPDU, on card: inout FileCardState) -> FileCardReply {
        guard var session else { return FileCardReply(StatusWord.securityNotSatisfied) }
        session.count()
        let opened: Protected
        switch Self.opened(command, session) {
        case .failure(let refusal):
            endSession(on: &card)
            return FileCardReply(refusal.status)
        case .success(let plain): opened = plain
        }
        var inner = command
        inner.data = opened.data
        inner.expected = opened.expected
        inner.isExtended = false
        let refusal = command.instruction & 0xFE == 0xB0 ? quirks.refusal(ofRead: opened.expected) : nil
        if let refusal, !quirks.keepsSession {
            endSession(on: &card)
            return FileCardReply(refusal)
        }
        var next: PassportSession?
        var reply: FileCardReply =
            switch command.instruction {
            case 0xA4: card.select(inner)
            case 0xB0, 0xB1: refusal.map { FileCardReply($0) } ?? securePart(inner, on: &card)
            case 0x22: chooseProtocol(inner, &next, on: card)
            case 0x86: agree(inner, &next)
            case 0x88: sign(inner, on: &card)
            default: FileCardReply(StatusWord.unknownInstruction)
            }
        session.count()
        // The answer is still under the old keys.
        self.session = next ?? session
        let isEnd = reachesEnd
        reachesEnd = false
        if isEnd { reply = quirks.atEnd(reply) }
        var answer = Self.protected(reply, odd: command.instruction & 1 == 1, session)
        if isEnd, quirks.spoilsLastCode, let last = answer.data.indices.last { answer.data[last] ^= 1 }
        return answer
    }

    private struct Refusal: Error {
        var status: UInt16
    }

    /// Objects 85 or 87, 97 and 8E, in this order, each once.
    private static func opened(_ command: CommandAPDU, _ session: PassportSession) -> Result<Protected, Refusal> {
        guard let objects = ChipObject.all(command.data) else { return .failure(Refusal(status: 0x6988)) }
        var (signed, cipherText, wanted, code) = ([UInt8](), [UInt8]?.none, [UInt8]?.none, [UInt8]?.none)
        for object in objects {
            switch object.tag {
            case 0x87 where cipherText == nil && wanted == nil && code == nil && object.value.first == 1:
                cipherText = Array(object.value.dropFirst())
            case 0x85 where cipherText == nil && wanted == nil && code == nil: cipherText = object.value
            case 0x97 where wanted == nil && code == nil && (1...2).contains(object.value.count): wanted = object.value
            case 0x8E where code == nil && object.value.count == 8: code = object.value
            default: return .failure(Refusal(status: 0x6988))
            }
            if object.tag != 0x8E { signed += object.whole }
        }
        guard let code else { return .failure(Refusal(status: 0x6987)) }
        let header: [UInt8] = [0x0C, command.instruction, command.p1, command.p2]
        guard session.code(signed.isEmpty ? header : session.padded(header) + signed) == code else {
            return .failure(Refusal(status: 0x6988))
        }
        var plain = Protected(
            expected: wanted.map { digits in
                let number = digits.reduce(0) { $0 << 8 | Int($1) }
                return number == 0 ? digits.count == 1 ? 256 : 65_536 : number
            })
        if let cipherText {
            guard !cipherText.isEmpty, cipherText.count % session.block == 0, let padded = session.decrypt(cipherText),
                let end = padded.lastIndex(where: { $0 != 0 }), padded[end] == 0x80
            else { return .failure(Refusal(status: 0x6988)) }
            plain.data = Array(padded[0..<end])
        }
        return .success(plain)
    }

    private static func protected(_ reply: FileCardReply, odd: Bool, _ session: PassportSession) -> FileCardReply {
        var objects: [UInt8] = []
        if !reply.data.isEmpty {
            guard let text = session.encrypt(session.padded(reply.data)) else { return FileCardReply(0x6988) }
            objects += ChipObject.encoded([odd ? 0x85 : 0x87], odd ? text : [1] + text)
        }
        objects += [0x99, 2, UInt8(reply.status >> 8), UInt8(reply.status & 0xFF)]
        guard let code = session.code(objects) else { return FileCardReply(0x6988) }
        return FileCardReply(objects + [0x8E, 8] + code, reply.status)
    }

    /// READ BINARY; with an odd instruction the offset comes in an object 54, and the data goes in an object 53.
    private mutating func securePart(_ command: CommandAPDU, on card: inout FileCardState) -> FileCardReply {
        guard let expected = command.expected else { return FileCardReply(StatusWord.wrongLength) }
        var place = command
        var (far, room) = (Int?.none, expected)
        if command.instruction == 0xB1 {
            guard command.data.count >= 3, command.data[0] == 0x54, Int(command.data[1]) == command.data.count - 2,
                command.data.count <= 6, command.parameters == 0
            else { return FileCardReply(StatusWord.wrongLength) }
            far = command.data[2...].reduce(0) { $0 << 8 | Int($1) }
            room = expected - (expected < 0x82 ? 2 : expected < 0x103 ? 3 : 4)
            (place.p1, place.p2) = (0, 0)
        }
        switch card.content(place, isSecure: true) {
        case .refused(let status): return FileCardReply(status)
        case .content(let bytes, let near):
            let offset = far ?? near
            guard offset < bytes.count, room > 0 else { return FileCardReply(StatusWord.wrongOffset) }
            let part = Array(bytes[offset..<min(bytes.count, offset + room)])
            reachesEnd = offset + part.count == bytes.count
            guard far != nil else { return FileCardReply(part) }
            return FileCardReply(ChipObject.encoded([0x53], part))
        }
    }
}

extension VirtualPassport {
    package init(json: JSONCursor, of card: JSONCursor) throws(DocumentError) {
        try json.allowOnly(["information", "quirks", "can", "triesLeft", "bac", "chipKeys", "signer", "comment"])
        let information = try json.required("information")
        let bytes = Array(try information.text().utf8)
        guard (24...40).contains(bytes.count) else { throw information.malformed(.passportInformation) }
        self.init(information: bytes)
        if let quirks = try json.optional("quirks") { self.quirks = try PassportQuirks(json: quirks) }
        accessNumber = try json.optional("can").map { number throws(DocumentError) in
            let digits = Array(try number.text().utf8)
            guard digits.count == 6, digits.allSatisfy({ (0x30...0x39).contains($0) }) else {
                throw number.malformed(.accessNumber)
            }
            return digits
        }
        triesLeft = try json.optional("triesLeft")?.integer(in: 1...15)
        refusal = try json.optional("bac")?.code(FileIdentifier.self).rawValue
        agreementKeys =
            try json.optional("chipKeys")?.list { key throws(DocumentError) in
                try key.allowOnly(["id", "parameters", "key", "comment"])
                return AgreementKey(
                    id: try key.optional("id")?.bytes(atMost: 8),
                    parameters: try key.required("parameters").integer(in: 0...18),
                    key: try key.required("key").bytes(atMost: 512))
            } ?? []
        signer = try json.optional("signer").map { json throws(DocumentError) in try Signer(json: json) }
    }
}

extension VirtualPassport.Signer {
    /// Reads `signer`: of RSA with `modulus`, else of the curve with the number `parameters`.
    fileprivate init(json: JSONCursor) throws(DocumentError) {
        try json.allowOnly(["parameters", "modulus", "key", "digest", "comment"])
        let key = try json.required("key").bytes(atMost: 512)
        let digest = try json.required("digest").word(
            Dictionary(uniqueKeysWithValues: Digest.allCases.map { ($0.rawValue, $0) }))
        if let modulus = try json.optional("modulus") {
            self = .rsa(modulus: try modulus.bytes(atMost: 512), exponent: key, digest)
        } else {
            self = .curve(try json.required("parameters").integer(in: 8...18), key, digest)
        }
    }
}

extension VirtualPassport {
    /// Lets number, birth date and expiry open a passport; without DG1 it stays open.
    package static func close(_ tree: inout VirtualFileTree, as dump: CardDump) {
        guard let group = dump.application(PassportFile.application)?.file(PassportFile.machineReadableZone.id),
            let value = BERTLVList(tolerant: group.data)[0x61]?[0x5F1F]?.value, let zone = MachineReadableZone(value)
        else { return }
        tree.applets.append(
            VirtualPassport(
                information: MachineReadableZone.keyInformation(
                    number: Array(zone.number.utf8), birth: Array(zone.birthDate.utf8),
                    expiry: Array(zone.expiryDate.utf8))))
        tree.close(VirtualPassport.right, true, PassportFile.application) { $0.name == PassportFile.application }
    }
}
