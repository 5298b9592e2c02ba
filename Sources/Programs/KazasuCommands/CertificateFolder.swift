// SPDX-License-Identifier: Apache-2.0

import ByteCodec
import CardCrypto
import FoundationEssentials
import Glibc
import Kazasu
import KazasuCLI

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

/// What a certificate says about itself.
struct CertificateSummary {
    private let certificate: Certificate

    /// `nil` when it is not a certificate, or where OpenSSL is missing.
    init?(der: [UInt8]) {
        guard let certificate = try? Certificate(der: der) else { return nil }
        self.certificate = certificate
    }

    /// The members of `kazasu.mynumber/1`; the subject and the serial number identify the holder.
    func members(_ redaction: Redaction) -> JSONObject {
        JSONObject([
            ("subject", .string(redaction.apply(certificate.subject))),
            ("issuer", .string(certificate.issuer)),
            ("serialNumber", .string(redaction.apply(certificate.serial.hexadecimal))),
            ("notBefore", .string(certificate.notBefore.text(.utc, .seconds))),
            ("notAfter", .string(certificate.notAfter.text(.utc, .seconds))),
        ])
    }

    /// The rows for display.
    func rows(_ redaction: Redaction) -> [[String]] {
        [
            [tr("Valid until", "有効期限"), JapaneseTime.day(certificate.notAfter)],
            [
                tr("Serial number", "シリアル番号"),
                redaction.apply(Hex.encode(certificate.serial, uppercase: true)),
            ],
        ]
    }
}
