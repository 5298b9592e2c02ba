// SPDX-License-Identifier: Apache-2.0

internal import ByteCodec
internal import CardCrypto

/// What a verifier looks at in a certificate besides its signature and its time (RFC 5280 §4).
struct CertificateProfile: Hashable {
    let subject: DistinguishedName
    let issuer: DistinguishedName
    /// Whether basic constraints allow it to sign certificates.
    private(set) var isAuthority = false
    /// How many further authorities may follow; `nil` without a limit.
    private(set) var pathLength: Int?
    /// `nil` without the extension, which then restricts nothing.
    private(set) var usage: KeyUsage?
    /// Object identifiers; `nil` without the extension.
    private(set) var extendedUsages: [[UInt8]]?
    private(set) var constraints: NameConstraints?
    /// Whether an extension that is not known must be, or a known one is malformed or occurs twice.
    private(set) var isUnreadable = false
    private(set) var keyIdentifier: [UInt8]?
    private(set) var authorityKeyIdentifier: [UInt8]?

    /// The purposes of a key; those that are asked for here.
    struct KeyUsage: OptionSet, Hashable {
        let rawValue: UInt8
        static let digitalSignature = KeyUsage(rawValue: 0x80)
        static let nonRepudiation = KeyUsage(rawValue: 0x40)
        static let certificateSigning = KeyUsage(rawValue: 0x04)
    }

    /// Parses a certificate; `nil` where its frame cannot be followed.
    init?(_ certificate: Certificate) {
        guard let body = DERList.children(0x30, certificate.der)?.first, var fields = body.children(0x30)?[...]
        else { return nil }
        if fields.first?.tag == 0xA0 { fields.removeFirst() }
        // Serial number, algorithm, issuer, validity, subject, key.
        guard fields.count >= 6, let issuer = DistinguishedName(fields[fields.startIndex + 2]),
            let subject = DistinguishedName(fields[fields.startIndex + 4])
        else { return nil }
        self.issuer = issuer
        self.subject = subject
        guard let wrapper = fields.dropFirst(6).first(where: { $0.tag == 0xA3 }) else { return }
        guard let extensions = DERList.children(0x30, wrapper.value) else { return nil }
        var seen: Set<[UInt8]> = []
        for element in extensions {
            guard var parts = element.children(0x30)?[...], let name = parts.popFirst(), name.tag == 0x06 else {
                return nil
            }
            let isCritical = parts.first?.tag == 0x01 && parts.removeFirst().value.contains { $0 != 0 }
            guard parts.count == 1, let value = parts.first, value.tag == 0x04 else { return nil }
            if !seen.insert(name.value).inserted { isUnreadable = true }
            let isRead = add(name.value, value.value, isCritical: isCritical)
            if !isRead { isUnreadable = true }
        }
    }

    /// Takes over an extension.
    ///
    /// - Returns: whether the certificate can be judged: the extension is known and well-formed, or not critical.
    private mutating func add(_ name: [UInt8], _ value: [UInt8], isCritical: Bool) -> Bool {
        // 2.5.29 and a number.
        guard name.count == 3, name.starts(with: [0x55, 0x1D]) else { return !isCritical }
        switch name[2] {
        case 14:
            keyIdentifier = DERList.objects(value)?.first { $0.tag == 0x04 }?.value
            return true
        case 35:
            authorityKeyIdentifier = DERList.children(0x30, value)?.first { $0.tag == 0x80 }?.value
            return true
        case 15: return addUsage(value)
        case 19: return addConstraints(value)
        case 30:
            constraints = NameConstraints(value, isCritical: isCritical)
            return constraints != nil
        // Any policy will do.
        case 32: return true
        case 37:
            guard let purposes = DERList.children(0x30, value), !purposes.isEmpty,
                purposes.allSatisfy({ $0.tag == 0x06 })
            else { return false }
            extendedUsages = purposes.map(\.value)
            return true
        default: return !isCritical
        }
    }

    private mutating func addUsage(_ value: [UInt8]) -> Bool {
        guard let bits = DERList.objects(value), bits.count == 1, bits[0].tag == 0x03, let unused = bits[0].value.first,
            unused < 8
        else { return false }
        usage = KeyUsage(rawValue: bits[0].value.dropFirst().first ?? 0)
        return true
    }

    private mutating func addConstraints(_ value: [UInt8]) -> Bool {
        guard var fields = DERList.children(0x30, value)?[...] else { return false }
        if fields.first?.tag == 0x01 { isAuthority = fields.removeFirst().value.contains { $0 != 0 } }
        guard let length = fields.popFirst() else { return true }
        guard length.tag == 0x02, fields.isEmpty, length.value.count == 1, let count = length.value.first, count < 0x80
        else { return false }
        pathLength = Int(count)
        return true
    }
}

/// The names that an authority may give (RFC 5280 §4.2.1.10).
struct NameConstraints: Hashable {
    private var permitted: [DistinguishedName] = []
    private var excluded: [DistinguishedName] = []
    /// Whether it restricts names of other kinds, and must be understood.
    private var hasOthers = false

    init?(_ value: [UInt8], isCritical: Bool) {
        guard let lists = DERList.children(0x30, value) else { return nil }
        for list in lists {
            guard list.tag == 0xA0 || list.tag == 0xA1, let subtrees = DERList.objects(list.value) else { return nil }
            for subtree in subtrees {
                guard let base = subtree.children(0x30)?.first else { return nil }
                guard base.tag == 0xA4 else {
                    hasOthers = hasOthers || isCritical
                    continue
                }
                guard let names = DERList.objects(base.value), names.count == 1,
                    let name = DistinguishedName(names[0])
                else { return nil }
                if list.tag == 0xA0 { permitted.append(name) } else { excluded.append(name) }
            }
        }
    }

    func permit(_ name: DistinguishedName) -> Bool {
        !hasOthers && (permitted.isEmpty || permitted.contains(where: name.isWithin))
            && !excluded.contains(where: name.isWithin)
    }
}
