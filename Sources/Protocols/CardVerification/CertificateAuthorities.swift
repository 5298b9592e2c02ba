// SPDX-License-Identifier: Apache-2.0

internal import ByteCodec
public import CardCrypto
public import CardModel

/// The authorities whose signatures count, from files.
///
/// Authorities are chosen by their signatures, never by their names: four of the ministry's share one name, and the one for test cards
/// has the name and the serial number of a real one.
public struct CertificateAuthorities: Sendable {
    let certificates: [Certificate]
    /// Keys for the card-verifiable certificates of My Number cards, besides those that are shipped.
    let cardKeys: [PublicKey]
    /// The number of certificates and keys that are known to be for test cards; they were left out.
    public let testAuthorities: Int
    /// The common names, or else subjects, of those that are not known to be the ministry's.
    public let unlisted: [String]

    /// Whether there is none.
    public var isEmpty: Bool { certificates.isEmpty }

    /// No authority but the shipped keys for My Number cards.
    public static let none = CertificateAuthorities([], [])

    private init(_ found: [Certificate], _ keys: [PublicKey]) {
        var (kept, unlisted, tests) = ([Certificate](), [String](), 0)
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
            if !Self.ministry.contains(digest) { unlisted.append(certificate.commonName ?? certificate.subject) }
            kept.append(certificate)
        }
        certificates = kept
        testAuthorities = tests
        self.unlisted = unlisted
    }

    /// Reads certificates from the contents of files: DER, PEM with one or several, or a master list of country certificates.
    ///
    /// Of a master list the signature has to be right by the certificate in it; who issued that is not checked. Certificates in it that
    /// OpenSSL cannot read are left out. A key for My Number cards is a file of two data objects, 90 exponent and 91 modulus.
    ///
    /// - Throws: ``AuthorityError``.
    public init(files: [[UInt8]]) throws(AuthorityError) {
        var found: [Certificate] = []
        var keys: [PublicKey] = []
        for (index, file) in files.enumerated() {
            if let key = PublicKey(cardKey: file) {
                keys.append(key)
                continue
            }
            if file.first == 0x30, let signed = SignedData(file), let list = MasterList.certificates(in: signed) {
                found += try Self.certificates(of: list, signed, file: index)
                continue
            }
            let ders = file.first == 0x30 ? [file] : PEM.certificates(in: file)
            guard !ders.isEmpty else { throw .notACertificate(file: index) }
            for der in ders {
                do throws(CryptoError) {
                    found.append(try Certificate(der: der))
                } catch {
                    throw error == .libraryMissing ? .crypto(error) : .notACertificate(file: index)
                }
            }
        }
        self.init(found, keys)
    }

    private static func certificates(
        of list: [[UInt8]], _ signed: SignedData, file index: Int
    ) throws(AuthorityError) -> [Certificate] {
        var found: [Certificate] = []
        let isRight: Bool
        do throws(CryptoError) {
            isRight = if case .right = try signed.check() { true } else { false }
            for der in list {
                do throws(CryptoError) {
                    found.append(try Certificate(der: der))
                } catch {
                    guard error == .refused else { throw error }
                }
            }
        } catch {
            throw .crypto(error)
        }
        guard isRight else { throw .damagedList(file: index) }
        guard !found.isEmpty else { throw .notACertificate(file: index) }
        return found
    }

    /// The authority that issued a certificate.
    func issuer(of certificate: Certificate) throws(CryptoError) -> Certificate? {
        for authority in certificates where authority.isAuthority && authority.subject == certificate.issuer {
            if try certificate.isSigned(by: authority.key) { return authority }
        }
        return nil
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
        case .crypto(let error): error.message
        }
    }
}

/// Certificates as text (RFC 7468).
enum PEM {
    /// The certificates between BEGIN and END lines, in DER; none if a line is not base64.
    static func certificates(in file: [UInt8]) -> [[UInt8]] {
        var found: [[UInt8]] = []
        var letters: [UInt8]?
        for line in file.split(whereSeparator: { $0 == 0x0A || $0 == 0x0D }) {
            if line.starts(with: "-----BEGIN CERTIFICATE-----".utf8) {
                letters = []
            } else if line.starts(with: "-----END CERTIFICATE-----".utf8) {
                guard let whole = letters, let der = decode(whole) else { return [] }
                found.append(der)
                letters = nil
            } else {
                letters?.append(contentsOf: line)
            }
        }
        return found
    }

    /// Base64 of RFC 4648 without line ends.
    static func decode(_ letters: [UInt8]) -> [UInt8]? {
        var bytes: [UInt8] = []
        var (bits, count) = (UInt32(0), 0)
        for letter in letters where letter != 0x3D && letter != 0x20 && letter != 0x09 {
            let value: UInt8
            switch letter {
            case 0x41...0x5A: value = letter - 0x41
            case 0x61...0x7A: value = letter - 0x61 + 26
            case 0x30...0x39: value = letter - 0x30 + 52
            case 0x2B: value = 62
            case 0x2F: value = 63
            default: return nil
            }
            bits = bits << 6 & 0xFF_FFFF | UInt32(value)
            count += 6
            if count >= 8 {
                count -= 8
                bytes.append(UInt8(truncatingIfNeeded: bits >> UInt32(count)))
            }
        }
        return bytes
    }
}
