// SPDX-License-Identifier: Apache-2.0

internal import ByteCodec

/// A subgroup of the numbers modulo a prime.
package struct PrimeGroup: Hashable, Sendable {
    /// Big-endian, without leading zeros.
    package let prime: [UInt8]
    /// As long as the prime.
    package let generator: [UInt8]
    /// The number of elements; `nil` for a key that does not tell it.
    package let order: [UInt8]?
    /// Which of the known groups it is.
    let name: Name?

    /// The longest prime in bytes: 4096 bits.
    private static let longestWidth = 512

    /// The length of an element in bytes.
    var width: Int { prime.count }

    /// A group that a key brings.
    ///
    /// - Returns: `nil` if the numbers cannot be such a group.
    init?(prime: [UInt8], generator: [UInt8], order: [UInt8]?) {
        let prime = prime.withoutLeadingZeros
        guard (16...Self.longestWidth).contains(prime.count), (prime.last ?? 0) & 1 == 1,
            let generator = generator.padded(to: prime.count), order.map({ $0.count <= prime.count + 1 }) ?? true
        else { return nil }
        self.init(prime, generator, order?.withoutLeadingZeros, Name.allCases.first { $0.prime == prime })
    }

    package init(_ name: Name) {
        self.init(name.prime, name.generator, name.order, name)
    }

    private init(_ prime: [UInt8], _ generator: [UInt8], _ order: [UInt8]?, _ name: Name?) {
        (self.prime, self.generator, self.order, self.name) = (prime, generator, order, name)
    }

    /// Whether this is an element other than 1 and −1; in the subgroup, if its order is known.
    func contains(_ element: [UInt8]) throws(CryptoError) -> Bool {
        guard let element = element.padded(to: width) else { return false }
        let one: [UInt8] = [1]
        let last = try Modular.difference([0], one, prime)
        guard element.withoutLeadingZeros.count > 0, element.withoutLeadingZeros != one,
            element.lexicographicallyPrecedes(last)
        else { return false }
        guard let order else { return true }
        return try Modular.power(element, order, prime).withoutLeadingZeros == one
    }

    /// The groups of RFC 5114 by the numbers of ICAO Doc 9303-11 §9.5.1.
    package enum Name: Int, Hashable, Sendable, CaseIterable {
        /// 1024 bits with a subgroup of 160, §2.1.
        case modp1024 = 0
        /// 2048 bits with a subgroup of 224, §2.2.
        case modp2048Short
        /// 2048 bits with a subgroup of 256, §2.3.
        case modp2048

        /// The lengths of prime and order in bits.
        var text: String {
            switch self {
            case .modp1024: "MODP-1024-160"
            case .modp2048Short: "MODP-2048-224"
            case .modp2048: "MODP-2048-256"
            }
        }

        fileprivate var prime: [UInt8] { Self.digits(numbers.prime) }
        fileprivate var generator: [UInt8] { Self.digits(numbers.generator) }
        fileprivate var order: [UInt8] { Self.digits(numbers.order) }

        private static func digits(_ text: String) -> [UInt8] {
            (try? Hex.decode(text.filter { !$0.isWhitespace })) ?? []
        }

        private var numbers: (prime: String, generator: String, order: String) {
            switch self {
            case .modp1024:
                (
                    """
                    B10B8F96A080E01DDE92DE5EAE5D54EC52C99FBCFB06A3C69A6A9DCA52D23B616073E28675A23D189838EF1E2EE652C0
                    13ECB4AEA906112324975C3CD49B83BFACCBDD7D90C4BD7098488E9C219A73724EFFD6FAE5644738FAA31A4FF55BCCC0
                    A151AF5F0DC8B4BD45BF37DF365C1A65E68CFDA76D4DA708DF1FB2BC2E4A4371
                    """,
                    """
                    A4D1CBD5C3FD34126765A442EFB99905F8104DD258AC507FD6406CFF14266D31266FEA1E5C41564B777E690F5504F213
                    160217B4B01B886A5E91547F9E2749F4D7FBD7D3B9A92EE1909D0D2263F80A76A6A24C087A091F531DBF0A0169B6A28A
                    D662A4D18E73AFA32D779D5918D08BC8858F4DCEF97C2A24855E6EEB22B3B2E5
                    """,
                    "F518AA8781A8DF278ABA4E7D64B7CB9D49462353"
                )
            case .modp2048Short:
                (
                    """
                    AD107E1E9123A9D0D660FAA79559C51FA20D64E5683B9FD1B54B1597B61D0A75E6FA141DF95A56DBAF9A3C407BA1DF15
                    EB3D688A309C180E1DE6B85A1274A0A66D3F8152AD6AC2129037C9EDEFDA4DF8D91E8FEF55B7394B7AD5B7D0B6C12207
                    C9F98D11ED34DBF6C6BA0B2C8BBC27BE6A00E0A0B9C49708B3BF8A317091883681286130BC8985DB1602E714415D9330
                    278273C7DE31EFDC7310F7121FD5A07415987D9ADC0A486DCDF93ACC44328387315D75E198C641A480CD86A1B9E587E8
                    BE60E69CC928B2B9C52172E413042E9B23F10B0E16E79763C9B53DCF4BA80A29E3FB73C16B8E75B97EF363E2FFA31F71
                    CF9DE5384E71B81C0AC4DFFE0C10E64F
                    """,
                    """
                    AC4032EF4F2D9AE39DF30B5C8FFDAC506CDEBE7B89998CAF74866A08CFE4FFE3A6824A4E10B9A6F0DD921F01A70C4AFA
                    AB739D7700C29F52C57DB17C620A8652BE5E9001A8D66AD7C17669101999024AF4D027275AC1348BB8A762D0521BC98A
                    E247150422EA1ED409939D54DA7460CDB5F6C6B250717CBEF180EB34118E98D119529A45D6F834566E3025E316A330EF
                    BB77A86F0C1AB15B051AE3D428C8F8ACB70A8137150B8EEB10E183EDD19963DDD9E263E4770589EF6AA21E7F5F2FF381
                    B539CCE3409D13CD566AFBB48D6C019181E1BCFE94B30269EDFE72FE9B6AA4BD7B5A0F1C71CFFF4C19C418E1F6EC0179
                    81BC087F2A7065B384B890D3191F2BFA
                    """,
                    "801C0D34C58D93FE997177101F80535A4738CEBCBF389A99B36371EB"
                )
            case .modp2048:
                (
                    """
                    87A8E61DB4B6663CFFBBD19C651959998CEEF608660DD0F25D2CEED4435E3B00E00DF8F1D61957D4FAF7DF4561B2AA30
                    16C3D91134096FAA3BF4296D830E9A7C209E0C6497517ABD5A8A9D306BCF67ED91F9E6725B4758C022E0B1EF4275BF7B
                    6C5BFC11D45F9088B941F54EB1E59BB8BC39A0BF12307F5C4FDB70C581B23F76B63ACAE1CAA6B7902D52526735488A0E
                    F13C6D9A51BFA4AB3AD8347796524D8EF6A167B5A41825D967E144E5140564251CCACB83E6B486F6B3CA3F7971506026
                    C0B857F689962856DED4010ABD0BE621C3A3960A54E710C375F26375D7014103A4B54330C198AF126116D2276E11715F
                    693877FAD7EF09CADB094AE91E1A1597
                    """,
                    """
                    3FB32C9B73134D0B2E77506660EDBD484CA7B18F21EF205407F4793A1A0BA12510DBC15077BE463FFF4FED4AAC0BB555
                    BE3A6C1B0C6B47B1BC3773BF7E8C6F62901228F8C28CBB18A55AE31341000A650196F931C77A57F2DDF463E5E9EC144B
                    777DE62AAAB8A8628AC376D282D6ED3864E67982428EBC831D14348F6F2F9193B5045AF2767164E1DFC967C1FB3F2E55
                    A4BD1BFFE83B9C80D052B985D182EA0ADB2A3B7313D3FE14C8484B1E052588B9B7D2BBD2DF016199ECD06E1557CD0915
                    B3353BBB64E0EC377FD028370DF92B52C7891428CDC67EB6184B523D1DB246C32F63078490F00EF8D647D148D4795451
                    5E2327CFEF98C582664B4C0F6CC41659
                    """,
                    "8CF83642A709A097B447997640129DA299B1A47D1EB3750BA308B0FE64F5FBD3"
                )
            }
        }
    }
}
