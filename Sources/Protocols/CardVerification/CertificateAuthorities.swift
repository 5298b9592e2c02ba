// SPDX-License-Identifier: Apache-2.0

internal import ByteCodec
public import CardCrypto
public import CardModel

/// The authorities whose signatures count, from files.
///
/// Authorities are chosen by their signatures, never by their names: four of the ministry's share one name, and the one for test cards
/// has the name and the serial number of a real one.
public struct CertificateAuthorities: Sendable {
    /// A certificate with what it permits; `nil` where that cannot be read.
    struct Authority: Sendable {
        let certificate: Certificate
        let profile: CertificateProfile?
        /// Whether it is known as one of the ministry's for residence cards.
        let isMinistry: Bool
    }

    private(set) var authorities: [Authority]
    /// Keys for the card-verifiable certificates of My Number cards, besides those that are shipped.
    let cardKeys: [PublicKey]
    /// The number of certificates and keys that are known to be for test cards; they were left out.
    public let testAuthorities: Int
    /// The common names, or else subjects, of those that are not known to be the ministry's.
    public let unlisted: [String]

    /// Whether no certificate was given.
    public let isEmpty: Bool
    /// What each file contains; `nil` for a key of My Number cards.
    public private(set) var lists: [CertificateList?] = []

    /// No authority but the shipped keys for My Number cards.
    public static let none = CertificateAuthorities([], [])

    private init(_ found: [Certificate], _ keys: [PublicKey]) {
        var (kept, unlisted, tests) = ([Authority](), [String](), 0)
        let testKeys = keys.isEmpty ? [] : MyNumberAuthority.all.filter(\.isTest).map(\.key)
        cardKeys = keys.filter { !testKeys.contains($0) }
        tests = keys.count - cardKeys.count
        for certificate in found {
            // The hierarchy of the test cards for user authentication and digital signatures.
            if certificate.subject.split(separator: ",").contains("O=JPKI-TEST") {
                tests += 1
                continue
            }
            let digest = (try? Digest.sha256.hash(certificate.der)).map { Hex.encode($0, uppercase: true) } ?? ""
            if Self.testCards.contains(digest) {
                tests += 1
                continue
            }
            let isMinistry = Self.ministry.contains(digest)
            if !isMinistry { unlisted.append(certificate.commonName ?? certificate.subject) }
            kept.append(
                Authority(
                    certificate: certificate, profile: CertificateProfile(certificate), isMinistry: isMinistry))
        }
        authorities = kept
        isEmpty = kept.isEmpty
        testAuthorities = tests
        self.unlisted = unlisted
    }

    /// Reads certificates from the contents of files: DER, PEM, PKCS #7, master lists of country certificates and LDIF, each also in
    /// base64.
    ///
    /// Of a master list the signature has to be right by the certificate in it; who issued that is not checked. Entries that cannot be
    /// read are left out; ``lists`` counts them. A key for My Number cards is a file of two data objects, 90 exponent and 91 modulus.
    ///
    /// - Throws: ``AuthorityError``.
    public init(files: [[UInt8]]) throws(AuthorityError) {
        var lists: [CertificateList?] = []
        var keys: [PublicKey] = []
        for (index, file) in files.enumerated() {
            if let key = PublicKey(cardKey: file) {
                keys.append(key)
                lists.append(nil)
                continue
            }
            do throws(CertificateList.Fault) {
                lists.append(try CertificateList(file))
            } catch {
                throw AuthorityError(error, file: index)
            }
        }
        var known: Set<[UInt8]> = []
        let found = lists.compactMap { $0?.certificates }.flatMap(\.self).filter { known.insert($0.der).inserted }
        self.init(found, keys)
        self.lists = lists
    }

    /// Only those that are known as the ministry's for residence cards; a card of any other then has an unknown authority.
    package var ministryOnly: CertificateAuthorities {
        var found = self
        found.authorities.removeAll { !$0.isMinistry }
        return found
    }

    /// SHA-256 of the ministry's certificates for residence cards, as eringoio/zairyu-card-reader lists them: one source.
    private static let ministry: Set<String> = [
        "97F37C5967AF5F3CD84E6ED694B09539ABB7F8E7E76B6F7496A060008982983D",
        "FF02323CEA7B8C3DFC0DC2DE79D46E78514AF587368523086B188E9690AEC861",
        "6F50161AA80F7FF7C630505FAF472906F7B101D5083E327A6182C82CD7985E67",
        "BF854466ED9ABF61F559C39BF8790546F8ACDAB99B51FD2330563669CE4A71B2",
        "11E6AD8B8E64F0CDB1D8BA9E3689926C80E8479A2F098616F674A23582BEC13B",
    ]
    /// The one for test cards.
    private static let testCards: Set<String> = [
        "1846B815D31F04FE93D57450A6D8A8C351EAC3D8C444A2375D95734DF7DD1057"
    ]
}

/// Why a file of authorities cannot be used.
@nonexhaustive
public enum AuthorityError: Error, Hashable, Sendable {
    /// The file with this place in the list holds no certificate.
    case notACertificate(file: Int)
    /// The file with this place in the list is a master list whose signature is wrong.
    case damagedList(file: Int)
    /// The file with this place in the list is a master list whose signature cannot be checked: an unknown algorithm or key.
    case unsupportedList(file: Int)
    /// The file with this place in the list is a zip archive.
    case archive(file: Int)
    /// A cryptographic function is missing.
    case crypto(CryptoError)
}

extension AuthorityError: SelfDescribing {
    /// What is wrong with the file.
    public var message: LocalizedText {
        switch self {
        case .notACertificate: LocalizedText("the file is not a certificate", "証明書ではないファイルです")
        case .damagedList:
            LocalizedText("the signature of the master list is wrong", "マスターリストの署名が正しくありません")
        case .unsupportedList:
            LocalizedText(
                "the signature of the master list cannot be checked: unknown algorithm or key",
                "マスターリストの署名を検証できません（未対応のアルゴリズムまたは鍵）")
        case .archive: LocalizedText("the file is a zip archive", "zip 形式のファイルです")
        case .crypto(let error): error.message
        }
    }

    /// The fault of one of several files.
    init(_ fault: CertificateList.Fault, file index: Int) {
        switch fault {
        case .unreadable: self = .notACertificate(file: index)
        case .archive: self = .archive(file: index)
        case .damaged: self = .damagedList(file: index)
        case .unsupported: self = .unsupportedList(file: index)
        case .libraryMissing: self = .crypto(.libraryMissing)
        }
    }
}
