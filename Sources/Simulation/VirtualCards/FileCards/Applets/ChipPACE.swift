// SPDX-License-Identifier: Apache-2.0

internal import CardCiphers
internal import CardCrypto

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

    static func cipher(_ number: UInt8) -> ChipCipher { number == 1 ? .tripleDES : .aes }

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
