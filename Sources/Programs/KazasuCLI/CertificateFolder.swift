// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import Glibc
import Kazasu

/// The folder for certificates; created if it does not exist.
struct CertificateFolder {
    private let path: String

    init(_ path: String) throws(CommandError) {
        if mkdir(path, 0o700) != 0, errno != EEXIST { throw CommandError.unwritable(path, errno) }
        guard access(path, W_OK | X_OK) == 0 else { throw CommandError.unwritable(path, errno) }
        self.path = path
    }

    /// Writes a certificate as DER and as PEM (RFC 7468).
    ///
    /// - Returns: the paths of both.
    func write(_ der: [UInt8], _ file: MyNumberFile) throws(CommandError) -> (der: String, pem: String) {
        let paths = (der: "\(path)/\(file.rawValue).der", pem: "\(path)/\(file.rawValue).pem")
        try OutputFile(paths.der).finish(der)
        let letters = Data(der).base64EncodedString(options: [.lineLength64Characters, .endLineWithLineFeed])
        try OutputFile(paths.pem).finish(
            "-----BEGIN CERTIFICATE-----\n\(letters)\n-----END CERTIFICATE-----\n")
        return paths
    }
}

#if Certificates
    import ByteCodec
    import Foundation
    import SwiftASN1
    import X509
#endif

/// The data of a certificate, for builds with the package trait `Certificates`: swift-certificates brings BoringSSL
/// with it, which takes more than two minutes to build.
struct CertificateSummary {
    var subject: String
    var issuer: String
    var serialNumber: String
    /// First and last moment of validity, UTC, ISO 8601.
    var notBefore: String
    var notAfter: String
    var signatureAlgorithm: String

    /// The members of `kazasu.mynumber/1`; the subject and the serial number identify the holder.
    func members(_ redaction: Redaction) -> JSONObject {
        JSONObject([
            ("subject", .string(redaction.apply(subject))), ("issuer", .string(issuer)),
            ("serialNumber", .string(redaction.apply(serialNumber))), ("notBefore", .string(notBefore)),
            ("notAfter", .string(notAfter)), ("signatureAlgorithm", .string(signatureAlgorithm)),
        ])
    }

    /// The rows for display.
    func rows(_ redaction: Redaction) -> [[String]] {
        [
            [tr("Subject", "主体者"), redaction.apply(subject)], [tr("Issuer", "発行者"), issuer],
            [tr("Serial number", "シリアル番号"), redaction.apply(serialNumber)],
            [tr("Valid from", "有効期間の開始"), notBefore], [tr("Valid until", "有効期間の終了"), notAfter],
            [tr("Signature algorithm", "署名アルゴリズム"), signatureAlgorithm],
        ]
    }

    /// The summary of a certificate in DER; `nil` when it is not a certificate, and in builds without the trait.
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
