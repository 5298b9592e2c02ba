// SPDX-License-Identifier: Apache-2.0

internal import ByteCodec
internal import CLibCrypto

/// An elliptic curve over a prime field whose points all lie in the subgroup of its generator.
package struct EllipticCurve: Hashable, Sendable {
    /// OpenSSL's number; 0 for a curve of which only the parameters are known.
    private let number: CInt
    /// p, a, b, generator and order, as `kazasu_curve` has them.
    private let parameters: [UInt8]
    /// The length of a coordinate in bytes.
    package let width: Int

    /// The longest coordinate in bytes.
    private static let longestWidth = 66

    /// A curve that OpenSSL knows by number.
    ///
    /// - Throws: ``CryptoError/unsupported`` if this build of OpenSSL leaves it out.
    package init(_ name: Name) throws(CryptoError) {
        var bytes = [UInt8](repeating: 0, count: 6 * Self.longestWidth + 2)
        var (width, count) = (0, bytes.count)
        let result = unsafe kazasu_curve_parameters(name.number, &bytes, &width, &count)
        guard try CryptoError.answer(result), count <= bytes.count else { throw .refused }
        number = name.number
        parameters = Array(bytes.prefix(count))
        self.width = width
    }

    /// A curve that a key brings. Whether its numbers are a curve shows when it is used, unless they are those of a known one.
    ///
    /// - Parameters:
    ///   - generator: 04, x, y.
    ///   - cofactor: big-endian, which has to be 1; `nil` if it is not told.
    /// - Returns: `nil` if the lengths do not fit or the cofactor is another.
    init?(
        prime: [UInt8], a: [UInt8], b: [UInt8], generator: [UInt8], order: [UInt8], cofactor: [UInt8]?
    ) throws(CryptoError) {
        let width = prime.withoutLeadingZeros.count
        let order = order.withoutLeadingZeros
        guard (1...Self.longestWidth).contains(width), let p = prime.padded(to: width), let a = a.padded(to: width),
            let b = b.padded(to: width), generator.count == 1 + 2 * width, generator.first == 4,
            (1...width + 1).contains(order.count), cofactor.map({ $0.withoutLeadingZeros == [1] }) ?? true
        else { return nil }
        let all = p + a + b + generator + order
        for name in Name.allCases {
            guard let known = try? EllipticCurve(name), known.parameters == all else { continue }
            self = known
            return
        }
        (number, parameters, self.width) = (0, all, width)
    }

    package var prime: [UInt8] { Array(parameters.prefix(width)) }
    package var a: [UInt8] { Array(parameters.dropFirst(width).prefix(width)) }
    package var b: [UInt8] { Array(parameters.dropFirst(2 * width).prefix(width)) }
    /// 04, x, y.
    package var generator: [UInt8] { Array(parameters.dropFirst(3 * width).prefix(1 + 2 * width)) }
    /// Without leading zeros.
    package var order: [UInt8] { Array(parameters.dropFirst(5 * width + 1)) }

    /// Which of the known curves it is.
    var name: Name? { Name.allCases.first { $0.number == number } }

    /// first · generator + second · point.
    ///
    /// - Parameters:
    ///   - first: big-endian; empty to leave out the generator.
    ///   - point: 04, x, y.
    ///   - second: big-endian.
    /// - Returns: 04, x, y.
    /// - Throws: ``CryptoError/refused`` if the point is not on the curve, or the sum at infinity.
    package func sum(_ first: [UInt8] = [], point: [UInt8], times second: [UInt8]) throws(CryptoError) -> [UInt8] {
        var result = [UInt8](repeating: 0, count: 1 + 2 * width)
        var count = result.count
        let answer = unsafe parameters.withUnsafeBufferPointer { bytes in
            var curve = unsafe kazasu_curve(
                number: number, parameters: bytes.baseAddress, width: width, length: bytes.count)
            return unsafe kazasu_curve_sum(
                &curve, first, first.count, point, point.count, second, second.count, &result, &count)
        }
        guard try CryptoError.answer(answer), count == result.count else { throw .refused }
        return result
    }

    /// The known curves, by the numbers of ICAO Doc 9303-11 §9.5.1.
    package enum Name: Int, Hashable, Sendable, CaseIterable {
        case p192 = 8
        case brainpoolP192r1
        case p224
        case brainpoolP224r1
        case p256
        case brainpoolP256r1
        case brainpoolP320r1
        case p384
        case brainpoolP384r1
        case brainpoolP512r1
        case p521

        /// As standards call it.
        var text: String {
            switch self {
            case .p192: "P-192"
            case .p224: "P-224"
            case .p256: "P-256"
            case .p384: "P-384"
            case .p521: "P-521"
            default: "\(self)"
            }
        }

        /// OpenSSL's number (objects/obj_mac.h).
        fileprivate var number: CInt {
            switch self {
            case .p192: 409
            case .brainpoolP192r1: 923
            case .p224: 713
            case .brainpoolP224r1: 925
            case .p256: 415
            case .brainpoolP256r1: 927
            case .brainpoolP320r1: 929
            case .p384: 715
            case .brainpoolP384r1: 931
            case .brainpoolP512r1: 933
            case .p521: 716
            }
        }

        /// The content of its object identifier; those of brainpool are 1.3.36.3.3.2.8.1.1 and what follows (RFC 5639).
        var identifier: [UInt8] {
            let brainpool: [UInt8] = [0x2B, 0x24, 0x03, 0x03, 0x02, 0x08, 0x01, 0x01]
            return switch self {
            case .p192: PublicKey.Curve.secp192r1.identifier
            case .p224: PublicKey.Curve.secp224r1.identifier
            case .p256: PublicKey.Curve.secp256r1.identifier
            case .p384: PublicKey.Curve.secp384r1.identifier
            case .p521: PublicKey.Curve.secp521r1.identifier
            case .brainpoolP192r1: brainpool + [0x03]
            case .brainpoolP224r1: brainpool + [0x05]
            case .brainpoolP256r1: brainpool + [0x07]
            case .brainpoolP320r1: brainpool + [0x09]
            case .brainpoolP384r1: brainpool + [0x0B]
            case .brainpoolP512r1: brainpool + [0x0D]
            }
        }
    }
}
