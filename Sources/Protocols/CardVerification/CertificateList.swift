// SPDX-License-Identifier: Apache-2.0

internal import ByteCodec
package import CardCrypto
public import CardModel

/// The certificates of one file: a certificate, several as text, PKCS #7, a master list of countries, or a download of the ICAO's
/// directory.
///
/// Entries that cannot be read are left out and counted. Sources: ICAO Doc 9303-12 §9 (master lists), RFC 5652, RFC 7468, RFC 2849.
public struct CertificateList: Hashable, Sendable {
    /// The forms of a file.
    @nonexhaustive
    public enum Kind: String, Hashable, Sendable, CaseIterable {
        /// One signed list of country certificates.
        case masterList
        /// A download of a directory; master lists or certificates.
        case ldif
        /// Certificates in PKCS #7, without anything signed.
        case pkcs7
        /// Text between BEGIN and END lines.
        case pem
        /// One certificate.
        case der
    }

    /// The form of the file.
    public let kind: Kind
    /// The numbers, counted from 1, of the entries that cannot be read or whose list has a wrong signature.
    public private(set) var holes: [Int] = []
    /// The common name, or else the subject, of the signer of its one master list.
    public private(set) var signedBy: String?
    /// Whether the signatures of its master lists are right: ``CardSignature/State/valid`` if the signers' certificates were issued by one
    /// in them, ``CardSignature/State/unknownAuthority`` otherwise; `nil` for a file without master lists.
    public private(set) var signature: CardSignature.State?
    /// When the one master list in it was signed, as its signer says.
    public private(set) var issuedAt: Timestamp?
    /// The certificates, each once.
    package private(set) var certificates: [Certificate] = []

    /// The number of entries so far, holes included.
    private var entries = 0
    private var lists = 0
    private var known: Set<[UInt8]> = []

    /// The number of certificates.
    public var count: Int { certificates.count }

    /// The most entries of one file; the lists of all countries have some thousand.
    static let mostEntries = 20_000

    /// The longest file that is worth reading, in bytes: the ICAO's directory has lists of some tens of megabytes.
    package static let longestFile = 1 << 26

    /// Why a file has no certificates.
    package enum Fault: Error, Hashable {
        /// It is not such a file, or has nothing that can be read.
        case unreadable
        /// A zip archive.
        case archive
        /// A master list with a wrong signature.
        case damaged
        /// A master list whose signature cannot be checked.
        case unsupported
        /// libcrypto is missing.
        case libraryMissing
    }

    /// Reads the contents of a file.
    ///
    /// - Throws: ``AuthorityError`` about file 0.
    public init(reading file: [UInt8]) throws(AuthorityError) {
        do throws(Fault) {
            try self.init(file)
        } catch {
            throw AuthorityError(error, file: 0)
        }
    }

    /// Reads the contents of a file.
    package init(_ file: [UInt8]) throws(Fault) {
        guard !file.starts(with: [0x50, 0x4B, 0x03, 0x04]) else { throw .archive }
        if file.first == 0x30, let kind = Self.kind(of: file) {
            self.init(kind)
            try add(file)
            switch signature {
            case .wrong?, .malformed?: throw .damaged
            case .unsupported?: throw .unsupported
            default: break
            }
        } else if let entries = PEM.entries(in: file) {
            self.init(.pem)
            try add(entries)
        } else if let entries = LDIF.entries(in: file) {
            self.init(.ldif)
            try add(entries)
        } else if let bytes = Base64.decode(TextLines(file).joined()), bytes.first != nil, bytes != file {
            self = try Self.unwrapped(bytes)
        } else {
            throw .unreadable
        }
        guard !certificates.isEmpty else { throw .unreadable }
    }

    private init(_ kind: Kind) { self.kind = kind }

    /// What was in base64 may be anything but base64 again.
    private static func unwrapped(_ bytes: [UInt8]) throws(Fault) -> CertificateList {
        let isText = bytes.first != 0x30 && PEM.entries(in: bytes) == nil && LDIF.entries(in: bytes) == nil
        guard !isText else { throw bytes.starts(with: [0x50, 0x4B, 0x03, 0x04]) ? .archive : .unreadable }
        return try CertificateList(bytes)
    }

    /// The form of bytes that begin with a SEQUENCE; `nil` if they are something else.
    private static func kind(of bytes: [UInt8]) -> Kind? {
        if let signed = SignedData(bytes), MasterList.certificates(in: signed) != nil { return .masterList }
        if CertificateSet.certificates(in: bytes) != nil { return .pkcs7 }
        return (try? BERHeader(bytes)).map { $0.totalLength <= bytes.count } == true ? .der : nil
    }

    // MARK: Entries

    private mutating func add(_ found: [EncodedEntry]) throws(Fault) {
        for entry in found {
            guard entries < Self.mostEntries else { return }
            switch entry {
            case .bytes(let bytes): try add(bytes)
            case .unreadable: leaveOut()
            }
        }
    }

    /// Adds what a value in DER or BER contains; other values of a directory are ignored.
    private mutating func add(_ bytes: [UInt8]) throws(Fault) {
        guard bytes.first == 0x30 else {
            if kind != .ldif { leaveOut() }
            return
        }
        if let signed = SignedData(bytes), let listed = MasterList.certificates(in: signed) {
            try add(listed, signed)
        } else if let set = CertificateSet.certificates(in: bytes) {
            for der in set { try add(certificate: der) }
        } else if !RevocationList.isOne(bytes) {
            try add(certificate: bytes)
        }
    }

    private mutating func add(certificate der: [UInt8]) throws(Fault) {
        guard entries < Self.mostEntries else { return }
        do throws(CryptoError) {
            let certificate = try Certificate(der: der)
            entries += 1
            if known.insert(certificate.der).inserted { certificates.append(certificate) }
        } catch {
            guard error != .libraryMissing else { throw .libraryMissing }
            leaveOut()
        }
    }

    private mutating func leaveOut() {
        entries += 1
        holes.append(entries)
    }

    /// Adds a master list, if its signature is right.
    private mutating func add(_ listed: [[UInt8]], _ signed: SignedData) throws(Fault) {
        lists += 1
        let result: SignedData.Result
        do throws(CryptoError) {
            result = try signed.check()
        } catch {
            throw .libraryMissing
        }
        guard case .right(let signer) = result else {
            let state: CardSignature.State =
                switch result {
                case .wrong: .wrong
                case .unsupported: .unsupported
                case .malformed, .right: .malformed
                }
            signature = signature == nil || signature == .valid ? state : signature
            return leaveOut()
        }
        for der in listed { try add(certificate: der) }
        // An earlier list may have had the same certificates.
        let own = Set(listed)
        let issuers =
            certificates.filter { own.contains($0.der) }
            + signed.certificates.compactMap { try? Certificate(der: $0) }
        let isKnown = issuers.contains { $0.subject == signer.issuer && (try? signer.isSigned(by: $0.key)) == true }
        let state = isKnown ? CardSignature.State.valid : .unknownAuthority
        signature = signature == nil || signature == .valid ? state : signature
        signedBy = lists == 1 ? signer.commonName ?? signer.subject : nil
        issuedAt = lists == 1 ? signed.signingTime : nil
    }
}

// MARK: Countries

/// The certificates of one country.
public struct CertificateCountry: Hashable, Sendable {
    /// Two capital letters, as its certificates have them; empty for certificates without a country.
    public let code: String
    /// The number of different certificates.
    public let certificates: Int
    /// The latest end of their validity.
    public let until: Timestamp
}

extension CertificateList {
    /// The countries of several files, ascending by code.
    public static func countries(of lists: [CertificateList]) -> [CertificateCountry] {
        var found: [String: (ders: Set<[UInt8]>, until: Timestamp)] = [:]
        for certificate in lists.flatMap(\.certificates) {
            let code = CertificateProfile(certificate)?.subject.country ?? ""
            var country = found[code] ?? ([], certificate.notAfter)
            country.ders.insert(certificate.der)
            country.until = max(country.until, certificate.notAfter)
            found[code] = country
        }
        return found.map { CertificateCountry(code: $0.key, certificates: $0.value.ders.count, until: $0.value.until) }
            .sorted { $0.code < $1.code }
    }
}

// MARK: What else is in directories

/// Certificates in SignedData without content and signers (RFC 5652 §5.1), as `.p7c` files have them.
enum CertificateSet {
    /// The certificates, DER; `nil` if it is another structure.
    static func certificates(in bytes: [UInt8]) -> [[UInt8]]? {
        found(bytes) ?? BER.definite(bytes).flatMap { found($0) }
    }

    private static func found(_ bytes: [UInt8]) -> [[UInt8]]? {
        guard let information = DERList.children(0x30, bytes), information.count == 2,
            information[0].tag == 0x06, information[0].value == SignedData.signedData,
            let wrapper = information[1].children(0xA0), wrapper.count == 1,
            let parts = wrapper[0].children(0x30), parts.count >= 4,
            let encapsulated = parts[2].children(0x30), encapsulated.count == 1,
            let list = parts.dropFirst(3).first(where: { $0.tag == 0xA0 }), let objects = DERList.objects(list.value)
        else { return nil }
        return objects.filter { $0.tag == 0x30 }.map(\.encoded)
    }
}

/// Lists of revoked certificates (RFC 5280 §5.1), which directories have beside the certificates.
enum RevocationList {
    /// Whether these bytes are such a list: after an optional version come algorithm, issuer and a time.
    static func isOne(_ bytes: [UInt8]) -> Bool {
        guard let body = DERList.children(0x30, bytes)?.first, var fields = body.children(0x30)?[...] else {
            return false
        }
        if fields.first?.tag == 0x02 { fields.removeFirst() }
        let tags = fields.prefix(3).map(\.tag)
        return tags == [0x30, 0x30, 0x17] || tags == [0x30, 0x30, 0x18]
    }
}
