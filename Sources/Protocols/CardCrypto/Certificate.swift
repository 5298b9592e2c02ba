// SPDX-License-Identifier: Apache-2.0

internal import CLibCrypto
package import CardModel

/// An X.509 certificate.
///
/// Source: RFC 5280.
package struct Certificate: Hashable, Sendable {
    /// Its bytes, without anything behind it.
    package let der: [UInt8]
    package let key: PublicKey
    /// Big-endian.
    package let serial: [UInt8]
    /// Distinguished names as RFC 2253 writes them.
    package let subject: String
    package let issuer: String
    /// The subject's common name, or nil.
    package let commonName: String?
    /// The first and last second in which it is valid.
    package let notBefore: Timestamp
    package let notAfter: Timestamp

    /// Reads a certificate at the beginning of these bytes; what follows is ignored.
    ///
    /// - Throws: ``CryptoError/refused`` if there is none, ``CryptoError/unsupported`` if OpenSSL cannot read its key, or
    ///   ``CryptoError/libraryMissing``.
    package init(der bytes: some Collection<UInt8>) throws(CryptoError) {
        let bytes = Array(bytes)
        var read: OpaquePointer?
        let result = unsafe kazasu_certificate_read(bytes, bytes.count, &read)
        guard try CryptoError.answer(result), let certificate = unsafe read else { throw .refused }
        defer { unsafe kazasu_certificate_free(certificate) }
        func field(_ field: kazasu_certificate_field) -> [UInt8] {
            var count = 0
            let start = unsafe kazasu_certificate_bytes(certificate, field, &count)
            return unsafe Array(UnsafeBufferPointer(start: start, count: count))
        }
        func text(_ name: kazasu_certificate_field) -> String { String(decoding: field(name), as: UTF8.self) }
        der = unsafe Array(bytes.prefix(kazasu_certificate_length(certificate)))
        key = PublicKey(der: field(KAZASU_CERTIFICATE_KEY))
        serial = field(KAZASU_CERTIFICATE_SERIAL)
        subject = text(KAZASU_CERTIFICATE_SUBJECT)
        issuer = text(KAZASU_CERTIFICATE_ISSUER)
        let name = text(KAZASU_CERTIFICATE_COMMON_NAME)
        commonName = name.isEmpty ? nil : name
        guard let first = Self.time(field(KAZASU_CERTIFICATE_NOT_BEFORE)),
            let last = Self.time(field(KAZASU_CERTIFICATE_NOT_AFTER))
        else { throw .refused }
        notBefore = first
        notAfter = last
    }

    /// A moment from `YYYYMMDDHHMMSS` in UTC.
    private static func time(_ digits: [UInt8]) -> Timestamp? {
        guard digits.count == 14 else { return nil }
        func part(_ range: Range<Int>) -> String { String(decoding: digits[range], as: UTF8.self) }
        return Timestamp(
            "\(part(0..<4))-\(part(4..<6))-\(part(6..<8))T\(part(8..<10)):\(part(10..<12)):\(part(12..<14))Z")
    }

    /// Whether this key made the certificate's signature. Names are not compared: several authorities may share one.
    ///
    /// - Throws: ``CryptoError/unsupported`` if OpenSSL does not know how it is signed, or ``CryptoError/libraryMissing``.
    package func isSigned(by key: PublicKey) throws(CryptoError) -> Bool {
        try CryptoError.answer(unsafe kazasu_certificate_verify(der, der.count, key.der, key.der.count))
    }

    /// Whether it is valid at a time.
    package func validity(at time: Timestamp) -> Validity {
        // The last second counts to its end; dates of certificates have four digits of the year.
        if time < notBefore {
            .notYetValid
        } else if time.milliseconds > notAfter.milliseconds + 999 {
            .expired
        } else {
            .valid
        }
    }

    package enum Validity: Hashable, Sendable {
        case valid
        case notYetValid
        case expired
    }
}
