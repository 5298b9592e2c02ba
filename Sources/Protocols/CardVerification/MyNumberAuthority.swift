// SPDX-License-Identifier: Apache-2.0

internal import ByteCodec
internal import CardCrypto
internal import CardModel

/// A key of J-LIS that signs the card-verifiable certificates of My Number cards; the facts are in
/// `Data/mynumber-authorities.tsv`.
struct MyNumberAuthority: Hashable, Sendable {
    /// Whether it signs test cards, which prove nothing.
    let isTest: Bool
    /// The whole identifier, 16 bytes.
    let identifier: [UInt8]
    /// Where the certificates are that it signs; `nil` for the master file.
    let application: MyNumberApplication?
    let key: PublicKey

    init(_ row: FactRow) throws(FactTableError) {
        switch try row.required("hierarchy") {
        case "production": isTest = false
        case "test": isTest = true
        default: throw row.fault("hierarchy", .unknownWord)
        }
        identifier = try Self.bytes(row, "key", count: 16)
        let place = try row.required("application")
        application = MyNumberApplication(rawValue: place)
        guard application != nil || place == "masterFile" else { throw row.fault("application", .unknownWord) }
        key = PublicKey(modulus: try Self.bytes(row, "modulus", count: 256), exponent: [0x01, 0x00, 0x01])
    }

    private static func bytes(_ row: FactRow, _ column: String, count: Int) throws(FactTableError) -> [UInt8] {
        guard let bytes = try? Hex.decode(try row.required(column)), bytes.count == count else {
            throw row.fault(column, .notANumber)
        }
        return bytes
    }

    static var all: [MyNumberAuthority] { table.rows }

    /// The errors in the table; a release has none.
    static var faults: [FactTableError] { table.faults }

    private static let table = FactTable(
        PackageResources.mynumber_authorities_tsv, columns: ["hierarchy", "key", "application", "modulus"],
        key: ["key"], row: MyNumberAuthority.init(_:))
}

/// Who signed a card-verifiable certificate.
enum CardCertificateIssuer: Hashable {
    /// This authority, which counts; its identifier in words.
    case known(String)
    /// The authority that the certificate names is known, and did not sign it.
    case forged
    /// None that is known.
    case unknown
}

extension CertificateAuthorities {
    /// The issuer of the certificate in an application of a My Number card.
    ///
    /// The shipped keys are found by their whole identifier; those of files have none, and are found by their signatures.
    func issuer(
        of certificate: CardVerifiableCertificate, in application: MyNumberApplication
    ) throws(CryptoError) -> CardCertificateIssuer {
        let name = Self.name(certificate.issuer)
        for key in cardKeys where try certificate.isSigned(by: key) { return .known(name) }
        let shipped = MyNumberAuthority.all.first {
            !$0.isTest && $0.identifier == certificate.issuer && $0.application == application
        }
        guard let shipped else { return .unknown }
        return try certificate.isSigned(by: shipped.key) ? .known("J-LIS \(name)") : .forged
    }

    /// Seven digits, two bytes, three digits and four bytes: `5000023/001`.
    private static func name(_ identifier: [UInt8]) -> String {
        guard identifier.count == 16, identifier[7] == 0x08, identifier[8] == 0x05,
            (identifier[0..<7] + identifier[9..<12]).allSatisfy({ (0x30...0x39).contains($0) })
        else { return Hex.encode(identifier, uppercase: true) }
        return String(decoding: identifier[0..<7], as: UTF8.self) + "/"
            + String(decoding: identifier[9..<12], as: UTF8.self)
    }
}
