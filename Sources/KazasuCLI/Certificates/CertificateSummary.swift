// SPDX-License-Identifier: Apache-2.0

import CardModel

#if Certificates
    import ByteCodec
    import Foundation
    import SwiftASN1
    import X509
#endif

/// What a certificate says of itself, for builds with the package trait `Certificates`: swift-certificates brings
/// BoringSSL with it, more than two minutes of building.
struct CertificateSummary {
    var subject: String
    var issuer: String
    var serialNumber: String
    /// First and last moment of validity, UTC, ISO 8601.
    var notBefore: String
    var notAfter: String
    var signatureAlgorithm: String

    /// The members of `kazasu.mynumber/1`; the subject and the serial number tell whose certificate it is.
    func members(_ redaction: Redaction) -> JSONObject {
        JSONObject([
            ("subject", .string(redaction.apply(subject))), ("issuer", .string(issuer)),
            ("serialNumber", .string(redaction.apply(serialNumber))), ("notBefore", .string(notBefore)),
            ("notAfter", .string(notAfter)), ("signatureAlgorithm", .string(signatureAlgorithm)),
        ])
    }

    /// The rows for people.
    func rows(_ redaction: Redaction) -> [[String]] {
        [
            [tr("Subject", "主体者"), redaction.apply(subject)], [tr("Issuer", "発行者"), issuer],
            [tr("Serial number", "シリアル番号"), redaction.apply(serialNumber)],
            [tr("Valid from", "有効期間の開始"), notBefore], [tr("Valid until", "有効期間の終了"), notAfter],
            [tr("Signature algorithm", "署名アルゴリズム"), signatureAlgorithm],
        ]
    }

    /// The summary of a certificate in DER; `nil` when it is none, and in builds without the trait.
    init?(der: [UInt8]) {
        #if Certificates
            guard let certificate = try? Certificate(derEncoded: der) else { return nil }
            subject = certificate.subject.description
            issuer = certificate.issuer.description
            serialNumber = Hex.encode(Array(certificate.serialNumber.bytes))
            notBefore = CertificateSummary.text(certificate.notValidBefore)
            notAfter = CertificateSummary.text(certificate.notValidAfter)
            // As in `SignatureAlgorithm.sha256WithRSAEncryption`.
            signatureAlgorithm = String(certificate.signatureAlgorithm.description.split(separator: ".").last ?? "")
        #else
            return nil
        #endif
    }

    #if Certificates
        private static func text(_ date: Date) -> String { date.formatted(.iso8601) }
    #endif
}
