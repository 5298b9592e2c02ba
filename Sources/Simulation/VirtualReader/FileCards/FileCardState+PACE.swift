// SPDX-License-Identifier: Apache-2.0

internal import CardCiphers
internal import CardCrypto
internal import CardModel

/// A data object with a tag of one byte.
struct ChipObject {
    var tag: UInt8
    var value: [UInt8]
    /// With tag and length, as they were sent.
    var whole: [UInt8]

    /// The objects that these bytes consist of; `nil` if they do not.
    static func all(_ bytes: [UInt8]) -> [ChipObject]? {
        var rest = bytes[...]
        var found: [ChipObject] = []
        while let tag = rest.first {
            guard rest.count >= 2 else { return nil }
            let start = rest.startIndex
            var (length, size) = (Int(rest[start + 1]), 2)
            if length == 0x81, rest.count >= 3 {
                (length, size) = (Int(rest[start + 2]), 3)
            } else if length == 0x82, rest.count >= 4 {
                (length, size) = (Int(rest[start + 2]) << 8 | Int(rest[start + 3]), 4)
            } else if length >= 0x80 {
                return nil
            }
            guard rest.count >= size + length else { return nil }
            let whole = Array(rest[start..<(start + size + length)])
            found.append(ChipObject(tag: tag, value: Array(whole.dropFirst(size)), whole: whole))
            rest = rest.dropFirst(size + length)
        }
        return found
    }

    static func encoded(_ tag: [UInt8], _ value: [UInt8]) -> [UInt8] {
        let (high, low) = (UInt8(value.count >> 8 & 0xFF), UInt8(value.count & 0xFF))
        return tag + (value.count < 0x80 ? [low] : value.count < 0x100 ? [0x81, low] : [0x82, high, low]) + value
    }
}

/// A group of a chip, by the formulas of ICAO Doc 9303-11. Points are 04, x, y; numbers are as long as the prime.
enum ChipGroup: Sendable {
    case curve(EllipticCurve)
    case numbers(PrimeGroup)

    init?(_ number: Int) {
        if let name = PrimeGroup.Name(rawValue: number) {
            self = .numbers(PrimeGroup(name))
        } else if let name = EllipticCurve.Name(rawValue: number), let curve = try? EllipticCurve(name) {
            self = .curve(curve)
        } else {
            return nil
        }
    }

    var generator: [UInt8] {
        switch self {
        case .curve(let curve): curve.generator
        case .numbers(let group): group.generator
        }
    }

    var order: [UInt8] {
        switch self {
        case .curve(let curve): curve.order
        case .numbers(let group): group.order ?? []
        }
    }

    /// The element times, or to the power of, a number.
    func times(_ element: [UInt8], _ factor: [UInt8]) throws -> [UInt8] {
        switch self {
        case .curve(let curve): try curve.sum(point: element, times: factor)
        case .numbers(let group): try Modular.power(element, factor, group.prime)
        }
    }

    /// What both sides derive keys from.
    func secret(_ element: [UInt8]) -> [UInt8] {
        if case .curve(let curve) = self { return Array(element[1...curve.width]) }
        return element
    }

    /// As it is sent.
    func written(_ element: [UInt8]) -> [UInt8] {
        if case .curve = self { return element }
        return Array(element.drop { $0 == 0 })
    }

    /// s · G + t · C.
    func generic(_ nonce: [UInt8], _ key: [UInt8], _ theirs: [UInt8]) throws -> [UInt8] {
        switch self {
        case .curve(let curve):
            // The generator is left out of the first sum, and is a part of the second.
            let common = try curve.sum(point: theirs, times: key)
            return try curve.sum(nonce, point: common, times: [1])
        case .numbers(let group):
            return try Modular.product(
                Modular.power(group.generator, nonce, group.prime), Modular.power(theirs, key, group.prime),
                group.prime)
        }
    }

    /// The generator of the integrated mapping.
    func integrated(_ value: [UInt8]) throws -> [UInt8] {
        switch self {
        case .numbers(let group):
            let cofactor = try Modular.difference([0], Modular.inverse(order, group.prime), group.prime)
            return try Modular.power(value, cofactor, group.prime)
        case .curve(let curve):
            let p = curve.prime
            func product(_ factors: [UInt8]...) throws -> [UInt8] {
                try factors.dropFirst().reduce(factors[0]) { try Modular.product($0, $1, p) }
            }
            let v = try Modular.sum(value, [0], p)
            let alpha = try Modular.difference([0], product(v, v), p)
            let beta = try Modular.sum(product(alpha, alpha), alpha, p)
            let ratio = try product(curve.b, Modular.inverse(curve.a, p))
            let x2 = try Modular.difference([0], product(ratio, Modular.sum([1], Modular.inverse(beta, p), p)), p)
            let h2 = try Modular.sum(Modular.sum(product(x2, x2, x2), product(curve.a, x2), p), curve.b, p)
            let root = try Modular.power(h2, Modular.inverse([4], p), p)
            if try product(root, root) == h2 { return [4] + x2 + root }
            return [4] + (try product(alpha, x2)) + (try product(v, v, v, h2, Modular.inverse(root, p)))
        }
    }
}

/// What a passport knows of an exchange of PACE.
struct ChipPACE: Sendable {
    /// The protocol's object identifier.
    var identifier: [UInt8]
    var group: ChipGroup
    var password: [UInt8]
    var nonce: [UInt8] = []
    var generator: [UInt8] = []
    /// The private key of the mapping, and its public one.
    var mapping: (key: [UInt8], point: [UInt8])?
    var key: [UInt8] = []
    var own: [UInt8] = []
    var theirs: [UInt8] = []

    var mappingNumber: UInt8 { identifier[identifier.count - 2] }
    var cipher: UInt8 { identifier[identifier.count - 1] }

    /// A key from a secret.
    static func key(_ secret: [UInt8], _ purpose: UInt8, _ cipher: UInt8) -> [UInt8] {
        let digest = cipher > 2 ? Digest.sha256 : .sha1
        let hash = (try? digest.hash(secret + [0, 0, 0, purpose])) ?? []
        return Array(hash.prefix(cipher == 4 ? 32 : cipher == 3 ? 24 : 16))
    }

    static func cipher(_ number: UInt8) -> VirtualResidence.Cipher { number == 1 ? .tripleDES : .aes }

    /// The code over the other side's key.
    func token(_ secret: [UInt8], _ element: [UInt8]) -> [UInt8]? {
        let tag: UInt8 = if case .curve = group { 0x86 } else { 0x84 }
        let inner = ChipObject.encoded([0x06], identifier) + ChipObject.encoded([tag], group.written(element))
        return Self.cipher(cipher).code(Self.key(secret, 2, cipher), ChipObject.encoded([0x7F, 0x49], inner))
    }

    /// The pseudorandom bytes of the integrated mapping.
    func pseudorandom(_ theirs: [UInt8]) -> [UInt8]? {
        let kind = Self.cipher(cipher)
        let length = cipher == 4 ? 32 : cipher == 3 ? 24 : 16
        let (next, output) = nonce.count == 16 ? (Self.next16, Self.output16) : (Self.next32, Self.output32)
        guard var key = kind.encrypt(theirs, nonce) else { return nil }
        var found: [UInt8] = []
        let width = group.secret(group.generator).count
        while found.count < width + 8 {
            key = Array(key[0..<length])
            guard let part = kind.encrypt(key, output), let after = kind.encrypt(key, next) else { return nil }
            found += part
            key = after
        }
        return found
    }

    private static func digits(_ words: UInt64...) -> [UInt8] {
        words.flatMap { word in stride(from: 56, through: 0, by: -8).map { UInt8(truncatingIfNeeded: word >> $0) } }
    }

    private static let next16 = digits(0xA668_892A_7C41_E3CA, 0x739F_40B0_57D8_5904)
    private static let output16 = digits(0xA4E1_36AC_725F_738B, 0x01C1_F602_17C1_88AD)
    private static let next32 = digits(
        0xD463_D652_3412_4EF7, 0x8970_5498_6DCA_0A17, 0x4E28_DF75_8CBA_A03F, 0x2406_1641_4D5A_1676)
    private static let output32 = digits(
        0x54BD_7255_F0AA_F831, 0xBEC3_423F_CF39_D69B, 0x6CBF_0666_77D0_FAAE, 0x5AAD_D99D_F8E5_3517)
}

/// Everything here is written by hand from ICAO Doc 9303-11 §4.4 and §6, so that a mistake of the reading side shows.
extension FileCardState {
    /// MSE:Set AT and GENERAL AUTHENTICATE in the clear; `nil` for other commands.
    mutating func paceReply(_ command: CommandAPDU, _ passport: VirtualPassport) -> FileCardReply? {
        switch (command.classByte, command.instruction, command.parameters) {
        case (0x00, 0x22, 0xC1A4):
            passportSession = nil
            verified.remove(VirtualPassport.right)
            pace = nil
            return choosePACE(command, passport)
        case (0x00, 0x86, 0), (0x10, 0x86, 0):
            guard pace != nil else { return FileCardReply(0x6985) }
            let reply = try? step(command, passport)
            if reply?.status != StatusWord.success { pace = nil }
            return reply ?? FileCardReply(0x6A80)
        default: return nil
        }
    }

    private mutating func choosePACE(_ command: CommandAPDU, _ passport: VirtualPassport) -> FileCardReply {
        guard command.expected == nil else { return FileCardReply(StatusWord.wrongLength) }
        guard let objects = ChipObject.all(command.data), objects.map(\.tag) == [0x80, 0x83, 0x84] else {
            return FileCardReply(0x6A87)
        }
        let (identifier, parameters) = (objects[0].value, objects[2].value)
        // What EF.CardAccess lists is spoken: the identifier, version 2 and the parameters.
        let entry =
            ChipObject.encoded([0x06], identifier) + [0x02, 0x01, 0x02] + ChipObject.encoded([0x02], parameters)
        let access = tree.masterFile.files.first { $0.id.rawValue == 0x011C }
        guard case .bytes(let listed)? = access?.content, identifier.count == 10, parameters.count == 1,
            listed.indices.contains(where: { listed[$0...].starts(with: entry) }),
            let group = ChipGroup(Int(parameters[0]))
        else { return FileCardReply(0x6A80) }
        let password: [UInt8]
        switch objects[1].value {
        case [1]: password = (try? Digest.sha1.hash(passport.information)) ?? []
        case [2]:
            guard let number = passport.accessNumber else { return FileCardReply(StatusWord.dataNotFound) }
            password = number
        default: return FileCardReply(StatusWord.dataNotFound)
        }
        pace = ChipPACE(identifier: identifier, group: group, password: password)
        return FileCardReply(passport.triesLeft.map { StatusWord.triesLeft | UInt16($0) } ?? StatusWord.success)
    }

    private mutating func bytes(_ count: Int) -> [UInt8] {
        (0..<count).map { _ in UInt8.random(in: 0...0xFF, using: &random) }
    }

    /// A private key: below the order.
    private mutating func privateKey(_ group: ChipGroup) throws -> [UInt8] {
        try Modular.sum(bytes(group.order.count + 8), [0], group.order)
    }

    private mutating func step(_ command: CommandAPDU, _ passport: VirtualPassport) throws -> FileCardReply {
        guard var state = pace, command.expected != nil, let outer = ChipObject.all(command.data), outer.count == 1,
            outer[0].tag == 0x7C, let objects = ChipObject.all(outer[0].value)
        else { return FileCardReply(0x6A80) }
        let isLast = command.classByte == 0
        func answer(_ value: [UInt8]) -> FileCardReply { FileCardReply(ChipObject.encoded([0x7C], value)) }
        switch objects.first?.tag {
        case nil where !isLast && state.nonce.isEmpty:
            let isLong = (3...4).contains(state.mappingNumber) && state.cipher > 2
            state.nonce = bytes(isLong ? 32 : 16)
            let key = ChipPACE.key(state.password, 3, state.cipher)
            guard let text = ChipPACE.cipher(state.cipher).encrypt(key, state.nonce) else {
                return FileCardReply(0x6A80)
            }
            pace = state
            return answer(ChipObject.encoded([0x80], text))
        case 0x81 where !isLast && !state.nonce.isEmpty && state.generator.isEmpty:
            var reply: [UInt8] = []
            if (3...4).contains(state.mappingNumber) {
                guard let value = state.pseudorandom(objects[0].value) else { return FileCardReply(0x6A80) }
                state.generator = try state.group.integrated(value)
                reply = [0x82, 0]
            } else {
                let key = try privateKey(state.group)
                let point = try state.group.times(state.group.generator, key)
                state.generator = try state.group.generic(state.nonce, key, objects[0].value)
                state.mapping = (key, point)
                reply = ChipObject.encoded([0x82], state.group.written(point))
            }
            pace = state
            return answer(reply)
        case 0x83 where !isLast && !state.generator.isEmpty && state.key.isEmpty:
            state.key = try privateKey(state.group)
            state.own = try state.group.times(state.generator, state.key)
            state.theirs = objects[0].value
            pace = state
            return answer(ChipObject.encoded([0x84], state.group.written(state.own)))
        case 0x85 where isLast && !state.key.isEmpty: return try confirm(state, objects[0].value, passport)
        default: return FileCardReply(0x6A80)
        }
    }

    private mutating func confirm(
        _ state: ChipPACE, _ token: [UInt8], _ passport: VirtualPassport
    ) throws -> FileCardReply {
        let secret = state.group.secret(try state.group.times(state.theirs, state.key))
        guard state.token(secret, state.own) == token, let own = state.token(secret, state.theirs) else {
            guard let left = passport.triesLeft else { return FileCardReply(StatusWord.mismatch) }
            tree.passport?.triesLeft = max(1, left - 1)
            return FileCardReply(StatusWord.triesLeft | UInt16(left - 1))
        }
        if passport.triesLeft != nil { tree.passport?.triesLeft = 5 }
        var objects = ChipObject.encoded([0x86], own)
        let encryption = ChipPACE.key(secret, 1, state.cipher)
        if state.mappingNumber == 6, let mapping = state.mapping {
            guard let data = try proof(mapping.key, state.group, passport) else { return FileCardReply(0x6A80) }
            var padded = data + [0x80]
            while padded.count % 16 != 0 { padded.append(0) }
            let key = try AESKey(SecretBytes(encryption))
            let start = try key.encrypt([UInt8](repeating: 0xFF, count: 16))
            objects += ChipObject.encoded([0x8A], try key.encrypt(padded, after: start))
        }
        pace = nil
        passportSession = session(secret, state.cipher)
        verified.insert(VirtualPassport.right)
        return FileCardReply(ChipObject.encoded([0x7C], objects))
    }

    private func session(_ secret: [UInt8], _ cipher: UInt8) -> PassportSession {
        PassportSession(
            number: cipher, encryption: ChipPACE.key(secret, 1, cipher), codes: ChipPACE.key(secret, 2, cipher),
            counter: [UInt8](repeating: 0, count: cipher == 1 ? 8 : 16))
    }

    /// The mapping's key divided by the static one.
    private func proof(_ key: [UInt8], _ group: ChipGroup, _ passport: VirtualPassport) throws -> [UInt8]? {
        guard case .curve(let curve) = group else { return nil }
        for candidate in passport.agreementKeys {
            guard case .curve(let own)? = ChipGroup(candidate.parameters), own == curve else { continue }
            return try Modular.product(key, Modular.inverse(candidate.key, curve.order), curve.order)
        }
        return nil
    }

    // MARK: Chip authentication

    /// MSE:Set AT, and MSE:Set KAT with the other side's key.
    mutating func chooseProtocol(_ command: CommandAPDU, _ next: inout PassportSession?) -> FileCardReply {
        guard let objects = ChipObject.all(command.data), let first = objects.first,
            objects.dropFirst().allSatisfy({ $0.tag == 0x84 })
        else { return FileCardReply(0x6A80) }
        let number = objects.dropFirst().first?.value
        switch (command.parameters, first.tag) {
        case (0x41A4, 0x80):
            let listed = tree.applications.flatMap(\.files).first { $0.id.rawValue == 0x010E }
            guard case .bytes(let bytes)? = listed?.content, let cipher = first.value.last, (1...4).contains(cipher),
                bytes.indices.contains(where: { bytes[$0...].starts(with: first.whole.dropFirst(2)) })
            else { return FileCardReply(0x6A80) }
            chosenProtocol = (cipher, number)
            return FileCardReply(StatusWord.success)
        case (0x41A6, 0x91):
            guard let found = renewed(first.value, 1, number) else { return FileCardReply(0x6A80) }
            next = found
            return FileCardReply(StatusWord.success)
        default: return FileCardReply(0x6A80)
        }
    }

    /// GENERAL AUTHENTICATE with the other side's key.
    mutating func agree(_ command: CommandAPDU, _ next: inout PassportSession?) -> FileCardReply {
        guard let chosen = chosenProtocol, let outer = ChipObject.all(command.data), outer.count == 1,
            outer[0].tag == 0x7C, let objects = ChipObject.all(outer[0].value), objects.count == 1,
            objects[0].tag == 0x80, let found = renewed(objects[0].value, chosen.cipher, chosen.key)
        else { return FileCardReply(0x6A80) }
        chosenProtocol = nil
        next = found
        return FileCardReply([0x7C, 0x00])
    }

    private func renewed(_ theirs: [UInt8], _ cipher: UInt8, _ number: [UInt8]?) -> PassportSession? {
        guard let key = tree.passport?.agreementKeys.first(where: { number == nil || $0.id == number }),
            let group = ChipGroup(key.parameters), let common = try? group.times(theirs, key.key)
        else { return nil }
        return session(group.secret(common), cipher)
    }

    // MARK: Active authentication

    /// INTERNAL AUTHENTICATE: the signature of eight bytes.
    mutating func sign(_ command: CommandAPDU) -> FileCardReply {
        guard let signer = tree.passport?.signer else { return FileCardReply(StatusWord.unknownInstruction) }
        guard command.data.count == 8, let expected = command.expected, command.parameters == 0 else {
            return FileCardReply(StatusWord.wrongLength)
        }
        guard let signature = try? signature(command.data, signer) else { return FileCardReply(0x6A80) }
        // What the protection adds has to fit, too.
        return signature.count + 40 > expected ? FileCardReply(StatusWord.wrongLength) : FileCardReply(signature)
    }

    private mutating func signature(_ challenge: [UInt8], _ signer: VirtualPassport.Signer) throws -> [UInt8] {
        switch signer {
        case .rsa(let modulus, let exponent, let digest):
            let trailers: [Digest: UInt8] = [.sha224: 0x38, .sha256: 0x34, .sha384: 0x36, .sha512: 0x35]
            let trailer: [UInt8] = trailers[digest].map { [$0, 0xCC] } ?? [0xBC]
            let own = bytes(max(0, modulus.count - 1 - digest.length - trailer.count))
            let message = [0x6A] + own + (try digest.hash(own + challenge)) + trailer
            return try Modular.power(message, exponent, modulus)
        case .curve(let number, let key, let digest):
            guard case .curve(let curve)? = ChipGroup(number) else { return [] }
            let once = try privateKey(.curve(curve))
            let point = try curve.sum(point: curve.generator, times: once)
            let r = try Modular.sum(Array(point[1...curve.width]), [0], curve.order)
            let hash = Array(try digest.hash(challenge).prefix(curve.order.count))
            let sum = try Modular.sum(hash, Modular.product(r, key, curve.order), curve.order)
            return r + (try Modular.product(Modular.inverse(once, curve.order), sum, curve.order))
        }
    }
}
