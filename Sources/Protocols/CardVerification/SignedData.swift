// SPDX-License-Identifier: Apache-2.0

internal import ByteCodec
internal import CardCrypto
internal import CardModel

/// Objects of DER, which fill their bytes exactly (X.690).
enum DERList {
    /// The most objects of one list; a master list of all countries has some hundred certificates.
    static let longest = 4096

    /// The objects that these bytes consist of; `nil` if they do not.
    static func objects(_ bytes: some Collection<UInt8>) -> [BERTLV]? {
        var rest = Array(bytes)[...]
        var found: [BERTLV] = []
        while !rest.isEmpty {
            guard found.count < longest, let header = try? BERHeader(rest), header.totalLength <= rest.count else {
                return nil
            }
            found.append(BERTLV(header.tag, Array(rest.dropFirst(header.size).prefix(header.length))))
            rest = rest.dropFirst(header.totalLength)
        }
        return found
    }

    /// The children of the one object with this tag that these bytes are.
    static func children(_ tag: BERTag, _ bytes: some Collection<UInt8>) -> [BERTLV]? {
        guard let objects = objects(bytes), objects.count == 1, objects[0].tag == tag else { return nil }
        return self.objects(objects[0].value)
    }
}

extension BERTLV {
    /// The objects that its value consists of, if it has this tag.
    func children(_ tag: BERTag) -> [BERTLV]? { self.tag == tag ? DERList.objects(value) : nil }
}

/// Objects of BER as DER writes them, as far as their frame goes (X.690 §8).
enum BER {
    /// The deepest nesting that is followed.
    static let deepest = 32

    /// The same object with definite lengths, and octet strings in one piece; whatever is so already stays as it is, byte for byte.
    /// `nil` if these bytes are not one object.
    static func definite(_ bytes: [UInt8]) -> [UInt8]? {
        var rest = bytes[...]
        guard let object = object(&rest, 0), rest.isEmpty else { return nil }
        return object
    }

    /// Takes the first object off; it must have a tag of one byte where its length is indefinite.
    private static func object(_ rest: inout ArraySlice<UInt8>, _ depth: Int) -> [UInt8]? {
        guard depth < deepest, let tag = rest.first else { return nil }
        let isConstructed = tag & 0x20 != 0
        if isConstructed, tag & 0x1F != 0x1F, rest.dropFirst().first == 0x80 {
            rest = rest.dropFirst(2)
            var children: [[UInt8]] = []
            while !rest.starts(with: [0, 0]) {
                guard let child = object(&rest, depth + 1) else { return nil }
                children.append(child)
            }
            rest = rest.dropFirst(2)
            return joined(tag, children)
        }
        guard let header = try? BERHeader(rest), header.totalLength <= rest.count else { return nil }
        let whole = Array(rest.prefix(header.totalLength))
        rest = rest.dropFirst(header.totalLength)
        guard isConstructed else { return whole }
        var inner = whole[header.size...]
        var children: [[UInt8]] = []
        while !inner.isEmpty {
            guard let child = object(&inner, depth + 1) else { return nil }
            children.append(child)
        }
        let isSame = tag != 0x24 && children.flatMap(\.self) == Array(whole[header.size...])
        return isSame ? whole : joined(tag, children)
    }

    private static func joined(_ tag: UInt8, _ children: [[UInt8]]) -> [UInt8]? {
        guard tag == 0x24 else { return BERTLV(BERTag(rawValue: UInt32(tag)), children.flatMap(\.self)).encoded }
        var content: [UInt8] = []
        for child in children {
            guard child.first == 0x04, let header = try? BERHeader(child) else { return nil }
            content += child.dropFirst(header.size)
        }
        return BERTLV(0x04, content).encoded
    }
}

/// Signed content with its signer: SignedData of the Cryptographic Message Syntax (RFC 5652), as the security object of a passport and
/// the master lists of country certificates have it, in DER, or as New Zealand's and American passports in BER.
///
/// Only the first signer counts; ICAO Doc 9303-10 and -12 want one.
struct SignedData: Hashable {
    /// The type of the content: an object identifier without tag and length.
    let type: [UInt8]
    /// The content.
    let content: [UInt8]
    /// The certificates in it, DER.
    let certificates: [[UInt8]]
    private let signer: Signer

    /// The most certificates of signers that are tried.
    static let mostCertificates = 16

    private struct Signer: Hashable {
        /// Object identifier of the digest.
        var digest: [UInt8]
        /// The value of the signed attributes; `nil` without them.
        var attributes: [UInt8]?
        /// Object identifier of the signature's algorithm, and its parameters.
        var algorithm: [UInt8]
        var parameters: BERTLV?
        var signature: [UInt8]
    }

    /// Parses ContentInfo; `nil` if it is none.
    init?(_ bytes: some Collection<UInt8>) {
        if let found = SignedData(der: Array(bytes)) {
            self = found
        } else if let definite = BER.definite(Array(bytes)), let found = SignedData(der: definite) {
            self = found
        } else {
            return nil
        }
    }

    private init?(der bytes: [UInt8]) {
        guard let information = DERList.children(0x30, bytes), information.count == 2,
            information[0].tag == 0x06, information[0].value == Self.signedData,
            let wrapper = information[1].children(0xA0), wrapper.count == 1,
            let parts = wrapper[0].children(0x30), parts.count >= 4, parts[0].tag == 0x02, parts[1].tag == 0x31,
            let encapsulated = parts[2].children(0x30), encapsulated.count == 2, encapsulated[0].tag == 0x06,
            let content = encapsulated[1].children(0xA0), content.count == 1, content[0].tag == 0x04,
            let last = parts.last, let signers = last.children(0x31), let first = signers.first,
            let signer = Self.signer(first)
        else { return nil }
        let optional = parts.dropFirst(3).dropLast()
        guard optional.allSatisfy({ $0.tag == 0xA0 || $0.tag == 0xA1 }) else { return nil }
        var certificates: [[UInt8]] = []
        if let list = optional.first(where: { $0.tag == 0xA0 }) {
            guard let objects = DERList.objects(list.value) else { return nil }
            certificates = objects.filter { $0.tag == 0x30 }.prefix(Self.mostCertificates).map(\.encoded)
        }
        type = encapsulated[0].value
        self.content = content[0].value
        self.certificates = certificates
        self.signer = signer
    }

    /// SignerInfo: version, who, digest, signed attributes [0], algorithm, signature, unsigned attributes [1].
    private static func signer(_ object: BERTLV) -> Signer? {
        guard var parts = object.children(0x30)?[...], parts.count >= 5, parts.removeFirst().tag == 0x02,
            [0x30, 0x80, 0xA0].contains(parts.removeFirst().tag),
            let digest = parts.removeFirst().children(0x30)?.first, digest.tag == 0x06
        else { return nil }
        var attributes: [UInt8]?
        if let next = parts.first, next.tag == 0xA0 {
            attributes = next.value
            parts.removeFirst()
        }
        guard parts.count >= 2, let algorithm = parts.removeFirst().children(0x30), let name = algorithm.first,
            name.tag == 0x06, algorithm.count <= 2
        else { return nil }
        let signature = parts.removeFirst()
        guard signature.tag == 0x04, parts.allSatisfy({ $0.tag == 0xA1 }) else { return nil }
        return Signer(
            digest: digest.value, attributes: attributes, algorithm: name.value,
            parameters: algorithm.count == 2 ? algorithm[1] : nil, signature: signature.value)
    }

    /// What the check of the signature found.
    enum Result: Hashable {
        /// Right, by the key of this certificate.
        case right(Certificate)
        /// No certificate in it has a key by which it is right.
        case wrong
        /// The signed attributes are not those that they must be, or there is no certificate.
        case malformed
        /// An algorithm, a curve or a key that is not known.
        case unsupported
    }

    /// Checks the signature by the certificates in it. Who issued them is not checked, and how the signer is named does not matter: some
    /// states name another serial number.
    func check() throws(CryptoError) -> Result {
        guard let digest = Digest(identifier: signer.digest) else { return .unsupported }
        var messages = [content]
        if let attributes = signer.attributes {
            let hash = try digest.hash(content)
            switch Self.binds(attributes, type, hash) {
            case nil: return .malformed
            case false?: return .wrong
            case true?: break
            }
            messages = Self.messages(attributes)
        }
        guard let (scheme, own) = Self.scheme(signer.algorithm, signer.parameters) else { return .unsupported }
        var (isRead, isUnsupported) = (false, false)
        for der in certificates {
            do throws(CryptoError) {
                let certificate = try Certificate(der: der)
                isRead = true
                for message in messages
                where try certificate.key.verifies(
                    signer.signature, of: message, digest: own ?? digest, scheme: scheme)
                {
                    return .right(certificate)
                }
            } catch .libraryMissing {
                throw .libraryMissing
            } catch {
                isUnsupported = isUnsupported || error == .unsupported
            }
        }
        return isUnsupported ? .unsupported : isRead ? .wrong : .malformed
    }

    /// When the signer says that it signed; `nil` if it does not.
    var signingTime: Timestamp? {
        let name: [UInt8] = [0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x01, 0x09, 0x05]
        let attributes = signer.attributes.flatMap { DERList.objects($0) } ?? []
        let found = attributes.lazy.compactMap { $0.children(0x30) }.first { $0.first?.value == name }
        guard let time = found?.last?.children(0x31)?.first, time.value.last == UInt8(ascii: "Z") else { return nil }
        var digits = String(decoding: time.value.dropLast(), as: UTF8.self)
        // Two digits of the year, in a century that begins with 1950 (RFC 5652 §11.3).
        if time.tag == 0x17, digits.utf8.count == 12 { digits = (digits < "5" ? "20" : "19") + digits }
        guard digits.utf8.count == 14 else { return nil }
        let parts = Array(digits.utf8)
        func part(_ range: Range<Int>) -> String { String(decoding: parts[range], as: UTF8.self) }
        return Timestamp(
            "\(part(0..<4))-\(part(4..<6))-\(part(6..<8))T\(part(8..<10)):\(part(10..<12)):\(part(12..<14))Z")
    }

    /// What may have been signed of signed attributes: a SET, whatever tag it has here, as it is, and where that is another, in the order
    /// of DER. Both kinds of signer exist.
    private static func messages(_ attributes: [UInt8]) -> [[UInt8]] {
        let sorted = (DERList.objects(attributes) ?? []).map(\.encoded).sorted { $0.lexicographicallyPrecedes($1) }
        let found = [attributes, sorted.flatMap(\.self)].map { BERTLV(0x31, $0).encoded }
        return found[0] == found[1] ? [found[0]] : found
    }

    /// Whether the signed attributes name this type and this digest of the content; `nil` if they are malformed.
    private static func binds(_ attributes: [UInt8], _ type: [UInt8], _ hash: [UInt8]) -> Bool? {
        guard let list = DERList.objects(attributes) else { return nil }
        var found: [[UInt8]: [UInt8]] = [:]
        for attribute in list {
            guard let parts = attribute.children(0x30), parts.count == 2, parts[0].tag == 0x06,
                let values = parts[1].children(0x31)
            else { return nil }
            guard [contentType, messageDigest].contains(parts[0].value) else { continue }
            guard values.count == 1, found[parts[0].value] == nil else { return nil }
            found[parts[0].value] = values[0].value
        }
        guard let named = found[contentType], let digest = found[messageDigest] else { return nil }
        return named == type && digest == hash
    }

    /// The scheme of a signature's algorithm, and its digest where it names one.
    private static func scheme(_ algorithm: [UInt8], _ parameters: BERTLV?) -> (PublicKey.Scheme, Digest?)? {
        if algorithm == rsaPSS { return pss(parameters) }
        if algorithm == rsa { return (.pkcs1, nil) }
        if algorithm == ecPublicKey { return (.ecdsa, nil) }
        if let digest = rsaDigests[algorithm] { return (.pkcs1, digest) }
        if let digest = plainDigests[algorithm] { return (.ecdsaRaw, digest) }
        return ecdsaDigests[algorithm].map { (.ecdsa, $0) }
    }

    /// RSASSA-PSS-params: [0] digest, [1] mask generation, [2] salt, [3] trailer; SHA-1 where one is missing (RFC 4055).
    private static func pss(_ parameters: BERTLV?) -> (PublicKey.Scheme, Digest?)? {
        guard let fields = parameters?.children(0x30) else { return nil }
        func algorithm(_ tag: BERTag) -> [BERTLV]?? {
            guard let field = fields.first(where: { $0.tag == tag }) else { return .some(nil) }
            return DERList.children(0x30, field.value).map { .some($0) }
        }
        guard let digestField = algorithm(0xA0), let maskField = algorithm(0xA1) else { return nil }
        var (digest, mask) = (Digest.sha1, Digest.sha1)
        if let digestField {
            guard let name = digestField.first, let known = Digest(identifier: name.value) else { return nil }
            digest = known
        }
        if let maskField {
            guard maskField.count == 2, maskField[0].value == mgf1,
                let name = maskField[1].children(0x30)?.first, let known = Digest(identifier: name.value)
            else { return nil }
            mask = known
        }
        return (.pss(mask: mask), digest)
    }

    /// 1.2.840.113549.1.7.2.
    static let signedData: [UInt8] = [0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x01, 0x07, 0x02]
    /// 1.2.840.113549.1.9.3 and .4.
    private static let contentType: [UInt8] = [0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x01, 0x09, 0x03]
    private static let messageDigest: [UInt8] = [0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x01, 0x09, 0x04]
    /// 1.2.840.113549.1.1 and what follows (RFC 8017).
    private static let pkcs1: [UInt8] = [0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x01, 0x01]
    private static let rsa = pkcs1 + [0x01]
    private static let mgf1 = pkcs1 + [0x08]
    private static let rsaPSS = pkcs1 + [0x0A]
    private static let rsaDigests: [[UInt8]: Digest] = [
        pkcs1 + [0x05]: .sha1, pkcs1 + [0x0B]: .sha256, pkcs1 + [0x0C]: .sha384, pkcs1 + [0x0D]: .sha512,
        pkcs1 + [0x0E]: .sha224,
    ]
    /// 1.2.840.10045.2.1, which names a key and is found where an algorithm should be: the digest is then the signer's.
    private static let ecPublicKey: [UInt8] = [0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x02, 0x01]
    /// 0.4.0.127.0.7.1.1.4.1 and what follows: r and s without ASN.1 (BSI TR-03111 §5.2.1).
    private static let plain: [UInt8] = [0x04, 0x00, 0x7F, 0x00, 0x07, 0x01, 0x01, 0x04, 0x01]
    private static let plainDigests: [[UInt8]: Digest] = [
        plain + [0x01]: .sha1, plain + [0x02]: .sha224, plain + [0x03]: .sha256, plain + [0x04]: .sha384,
        plain + [0x05]: .sha512,
    ]
    /// The digest of an algorithm of ECDSA without ASN.1.
    static func plainDigest(_ algorithm: [UInt8]) -> Digest? { plainDigests[algorithm] }
    /// 1.2.840.10045.4 and what follows (RFC 5758).
    private static let ecdsa: [UInt8] = [0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x04]
    private static let ecdsaDigests: [[UInt8]: Digest] = [
        ecdsa + [0x01]: .sha1, ecdsa + [0x03, 0x01]: .sha224, ecdsa + [0x03, 0x02]: .sha256,
        ecdsa + [0x03, 0x03]: .sha384, ecdsa + [0x03, 0x04]: .sha512,
    ]
}

extension Digest {
    /// The digest with this object identifier, without tag and length.
    init?(identifier: [UInt8]) {
        let sha2: [UInt8] = [0x60, 0x86, 0x48, 0x01, 0x65, 0x03, 0x04, 0x02]
        switch identifier {
        case [0x2B, 0x0E, 0x03, 0x02, 0x1A]: self = .sha1
        case sha2 + [0x01]: self = .sha256
        case sha2 + [0x02]: self = .sha384
        case sha2 + [0x03]: self = .sha512
        case sha2 + [0x04]: self = .sha224
        default: return nil
        }
    }
}

/// The country certificates of a master list (ICAO Doc 9303-12 §9): SEQUENCE { version, SET OF Certificate }, signed.
enum MasterList {
    /// 2.23.136.1.1.2.
    private static let type: [UInt8] = [0x67, 0x81, 0x08, 0x01, 0x01, 0x02]

    /// The certificates, DER; `nil` if it is not such a list.
    static func certificates(in list: SignedData) -> [[UInt8]]? {
        guard list.type == type, let parts = DERList.children(0x30, list.content), parts.count == 2,
            parts[0].tag == 0x02, let certificates = parts[1].children(0x31)
        else { return nil }
        return certificates.map(\.encoded)
    }
}
