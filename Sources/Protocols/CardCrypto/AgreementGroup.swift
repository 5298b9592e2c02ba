// SPDX-License-Identifier: Apache-2.0

internal import ByteCodec
internal import CardCiphers

/// A group in which two sides agree on a secret: the points of an elliptic curve, or numbers modulo a prime.
///
/// Public keys of curves are 04, x, y; those of numbers are as long as the prime. Nothing here is our own arithmetic but the order of the
/// steps; OpenSSL computes.
///
/// Sources: ICAO Doc 9303-11 §4.4 and §9.5; BSI TR-03110-3 §A; RFC 2631.
package struct AgreementGroup: Hashable, Sendable {
    fileprivate enum Kind: Hashable, Sendable {
        case curve(EllipticCurve)
        case numbers(PrimeGroup)
    }

    private let kind: Kind
    /// What private keys multiply; a mapping replaces it.
    package private(set) var generator: [UInt8]

    fileprivate init(_ kind: Kind) {
        self.kind = kind
        generator =
            switch kind {
            case .curve(let curve): curve.generator
            case .numbers(let group): group.generator
            }
    }

    /// A group by its number in ICAO Doc 9303-11 §9.5.1.
    ///
    /// - Returns: `nil` for a reserved number.
    /// - Throws: ``CryptoError/unsupported`` for a curve that this build of OpenSSL leaves out.
    package init?(standard number: Int) throws(CryptoError) {
        if let name = PrimeGroup.Name(rawValue: number) {
            self.init(.numbers(PrimeGroup(name)))
        } else if let name = EllipticCurve.Name(rawValue: number) {
            self.init(.curve(try EllipticCurve(name)))
        } else {
            return nil
        }
    }

    /// Whether a group has this number, and is one of curves.
    package static func isCurve(standard number: Int) -> Bool? {
        if EllipticCurve.Name(rawValue: number) != nil { return true }
        return PrimeGroup.Name(rawValue: number) == nil ? nil : false
    }

    /// The name of the group with this number, such as `brainpoolP256r1`.
    package static func name(standard number: Int) -> String? {
        EllipticCurve.Name(rawValue: number)?.text ?? PrimeGroup.Name(rawValue: number)?.text
    }

    /// Its number, if it is a standard one.
    package var number: Int? {
        switch kind {
        case .curve(let curve): curve.name?.rawValue
        case .numbers(let group): group.name?.rawValue
        }
    }

    package var isCurve: Bool { if case .curve = kind { true } else { false } }

    /// The length of an agreed secret in bytes.
    package var width: Int {
        switch kind {
        case .curve(let curve): curve.width
        case .numbers(let group): group.width
        }
    }

    // MARK: Keys

    /// A private key: a number from 1 to below the order.
    ///
    /// - Parameter random: returns random bytes.
    package func privateKey(_ random: (Int) -> [UInt8]) throws(CryptoError) -> [UInt8] {
        let end: [UInt8] =
            switch kind {
            case .curve(let curve): curve.order
            // Without an order 256 bits are enough for any prime in use.
            case .numbers(let group): group.order ?? [1] + [UInt8](repeating: 0, count: 32)
            }
        guard let first = end.first else { throw .refused }
        let mask = first.leadingZeroBitCount < 8 ? UInt8.max >> UInt8(first.leadingZeroBitCount) : 0
        // Each round succeeds with more than one chance in two.
        for _ in 0..<256 {
            var key = random(end.count)
            guard key.count == end.count else { throw .refused }
            key[0] &= mask
            if key.lexicographicallyPrecedes(end), key.contains(where: { $0 != 0 }) { return key }
            key.wipe()
        }
        throw .refused
    }

    /// The public key of a private one.
    package func publicKey(of privateKey: [UInt8]) throws(CryptoError) -> [UInt8] {
        try multiple(of: generator, privateKey)
    }

    /// The agreed secret: the x coordinate, or the number, with its leading zeros.
    ///
    /// - Throws: ``CryptoError/refused`` for a key that is not in the group, or a secret that anyone could guess.
    package func agreed(_ privateKey: [UInt8], with publicKey: [UInt8]) throws(CryptoError) -> [UInt8] {
        let secret = try multiple(of: checked(publicKey), privateKey)
        return isCurve ? Array(secret.dropFirst().prefix(width)) : secret
    }

    /// A public key multiplied by a number, in the form in which keys are compared here.
    ///
    /// - Throws: ``CryptoError/refused`` if the key is not in the group, or the result is neutral.
    package func product(of publicKey: [UInt8], _ factor: [UInt8]) throws(CryptoError) -> [UInt8] {
        try multiple(of: checked(publicKey), factor)
    }

    /// A public key in the form in which keys are compared here.
    ///
    /// - Throws: ``CryptoError/refused`` if it is not in the group.
    package func checked(_ publicKey: [UInt8]) throws(CryptoError) -> [UInt8] {
        switch kind {
        case .curve(let curve):
            // Once the point itself: OpenSSL checks whether it is on the curve.
            return try curve.sum(point: publicKey, times: [1])
        case .numbers(let group):
            guard try group.contains(publicKey), let key = publicKey.padded(to: group.width) else { throw .refused }
            return key
        }
    }

    /// A public key as commands and codes have it: numbers without leading zeros.
    package func written(_ publicKey: [UInt8]) -> [UInt8] { isCurve ? publicKey : publicKey.withoutLeadingZeros }

    private func multiple(of element: [UInt8], _ factor: [UInt8]) throws(CryptoError) -> [UInt8] {
        switch kind {
        case .curve(let curve): return try curve.sum(point: element, times: factor)
        case .numbers(let group):
            let power = try Modular.power(element, factor, group.prime)
            guard power.withoutLeadingZeros.count > 0, power.withoutLeadingZeros != [1] else { throw .refused }
            return power
        }
    }

    // MARK: Mappings

    /// The group with the generator s · G + H, where H is what both sides agreed on (ICAO Doc 9303-11 §4.4.3.3.1).
    ///
    /// - Parameters:
    ///   - nonce: s, big-endian.
    ///   - privateKey: one's own.
    ///   - publicKey: of the other side.
    /// - Throws: ``CryptoError/refused`` for a key that is not in the group.
    package func mapped(
        nonce: [UInt8], _ privateKey: [UInt8], with publicKey: [UInt8]
    ) throws(CryptoError) -> AgreementGroup {
        var mapped = self
        switch kind {
        case .curve(let curve):
            let agreed = try curve.sum(point: checked(publicKey), times: privateKey)
            mapped.generator = try curve.sum(nonce, point: agreed, times: [1])
        case .numbers(let group):
            let agreed = try multiple(of: checked(publicKey), privateKey)
            let power = try Modular.power(generator, nonce, group.prime)
            mapped.generator = try Modular.product(power, agreed, group.prime)
            guard try group.contains(mapped.generator) else { throw .refused }
        }
        return mapped
    }

    /// The group with a generator made of pseudorandom bytes (ICAO Doc 9303-11 §4.4.3.3.2).
    ///
    /// - Throws: ``CryptoError/unsupported`` for P-224, whose prime is not 3 modulo 4.
    package func mapped(_ bytes: [UInt8]) throws(CryptoError) -> AgreementGroup {
        var mapped = self
        switch kind {
        case .curve(let curve): mapped.generator = try Self.point(of: bytes, curve)
        case .numbers(let group):
            guard let order = group.order else { throw .unsupported }
            let prime = group.prime
            // (p − 1) / q is −1/q modulo p.
            let exponent = try Modular.difference([0], Modular.inverse(order, prime), prime)
            mapped.generator = try Modular.power(bytes, exponent, prime)
            guard try group.contains(mapped.generator) else { throw .refused }
        }
        return mapped
    }

    /// Maps a number to a point, without a branch that depends on it but the last (simplified Shallue-van de Woestijne-Ulas).
    private static func point(of bytes: [UInt8], _ curve: EllipticCurve) throws(CryptoError) -> [UInt8] {
        let (p, a, b) = (curve.prime, curve.a, curve.b)
        guard (p.last ?? 0) & 3 == 3 else { throw .unsupported }
        func times(_ first: [UInt8], _ second: [UInt8]) throws(CryptoError) -> [UInt8] {
            try Modular.product(first, second, p)
        }
        let v = try Modular.sum(bytes, [0], p)
        let alpha = try Modular.difference([0], times(v, v), p)
        let beta = try Modular.sum(alpha, times(alpha, alpha), p)
        let quotient = try times(b, times(Modular.sum([1], beta, p), Modular.inverse(times(a, beta), p)))
        let x2 = try Modular.difference([0], quotient, p)
        let x3 = try times(alpha, x2)
        let h2 = try Modular.sum(times(x2, times(x2, x2)), Modular.sum(times(a, x2), b, p), p)
        let u = try times(times(v, times(v, v)), h2)
        // (p + 1) / 4 is 1/4 modulo p; the exponent is p − 1 minus that.
        let exponent = try Modular.difference(
            Modular.difference([0], [1], p), Modular.inverse([4], p), p)
        let root = try Modular.power(h2, exponent, p)
        let isSquare = try times(times(root, root), h2).withoutLeadingZeros == [1]
        let point = isSquare ? [4] + x2 + (try times(root, h2)) : [4] + x3 + (try times(root, u))
        return try curve.sum(point: point, times: [1])
    }
}

/// The public key of a key agreement as certificates and security files hold it: SubjectPublicKeyInfo.
package struct AgreementKey: Hashable, Sendable {
    package let group: AgreementGroup
    /// In the form in which keys are compared here.
    package let publicKey: [UInt8]

    /// Reads a key, with a curve by name, number or parameters (BSI TR-03110-3 §D.3).
    ///
    /// - Returns: `nil` for anything else than a key of one of these kinds.
    /// - Throws: ``CryptoError/refused`` for a key outside of its group, ``CryptoError/unsupported``, ``CryptoError/libraryMissing``.
    package init?(der: [UInt8]) throws(CryptoError) {
        guard let parts = BERTLVList(tolerant: der)[0x30]?.children, parts.count == 2, parts[1].tag == 0x03,
            parts[1].value.first == 0, let algorithm = parts[0].children, algorithm.count == 2,
            algorithm[0].tag == 0x06, let group = try Self.group(algorithm[0].value, algorithm[1])
        else { return nil }
        var key = Array(parts[1].value.dropFirst())
        if !group.isCurve, let number = BERTLVList(tolerant: key).objects.first, number.tag == 0x02 {
            key = number.value
        }
        self.group = group
        publicKey = try group.checked(key)
    }

    private static func group(_ algorithm: [UInt8], _ parameters: BERTLV) throws(CryptoError) -> AgreementGroup? {
        switch algorithm {
        case DER.ecPublicKey.value:
            guard parameters.tag == 0x06 else { return try explicit(parameters).map { AgreementGroup(.curve($0)) } }
            guard let name = EllipticCurve.Name.allCases.first(where: { $0.identifier == parameters.value }) else {
                throw .unsupported
            }
            return AgreementGroup(.curve(try EllipticCurve(name)))
        // 0.4.0.127.0.7.1.2: standardized domain parameters.
        case [0x04, 0x00, 0x7F, 0x00, 0x07, 0x01, 0x02]:
            guard parameters.tag == 0x02, parameters.value.count == 1, let number = parameters.value.first else {
                return nil
            }
            return try AgreementGroup(standard: Int(number))
        // 1.2.840.113549.1.3.1 (PKCS #3): prime, generator; 1.2.840.10046.2.1 (X9.42): prime, generator, order.
        case [0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x01, 0x03, 0x01]: return numbers(parameters, hasOrder: false)
        case [0x2A, 0x86, 0x48, 0xCE, 0x3E, 0x02, 0x01]: return numbers(parameters, hasOrder: true)
        default: throw .unsupported
        }
    }

    private static func numbers(_ parameters: BERTLV, hasOrder: Bool) -> AgreementGroup? {
        guard let parts = parameters.children, parts.count >= (hasOrder ? 3 : 2),
            parts.prefix(hasOrder ? 3 : 2).allSatisfy({ $0.tag == 0x02 }),
            let group = PrimeGroup(
                prime: parts[0].value, generator: parts[1].value, order: hasOrder ? parts[2].value : nil)
        else { return nil }
        return AgreementGroup(.numbers(group))
    }

    /// ECParameters: version, { prime field, p }, { a, b, seed }, generator, order, cofactor (RFC 3279 §2.3.5).
    private static func explicit(_ parameters: BERTLV) throws(CryptoError) -> EllipticCurve? {
        let primeField: [UInt8] = [0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x01, 0x01]
        guard parameters.tag == 0x30, let parts = parameters.children, (5...6).contains(parts.count),
            let field = parts[1].children, field.count == 2, field[0].value == primeField, field[1].tag == 0x02,
            let curve = parts[2].children, curve.count >= 2, curve[0].tag == 0x04, curve[1].tag == 0x04,
            parts[3].tag == 0x04, parts[4].tag == 0x02
        else { return nil }
        return try EllipticCurve(
            prime: field[1].value, a: curve[0].value, b: curve[1].value, generator: parts[3].value,
            order: parts[4].value, cofactor: parts.count == 6 ? parts[5].value : nil)
    }
}
