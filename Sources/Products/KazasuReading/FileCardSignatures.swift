// SPDX-License-Identifier: Apache-2.0

public import CardCrypto
public import CardDecoders
public import CardModel
public import CardVerification

// Checks of what was read: a report is compared with its own dump, never with another card's.

extension FileCardResult where Report == PassportReport {
    /// Checks the signature of the passport, as `PassportReport.signature(of:authorities:at:)` does.
    ///
    /// - Parameters:
    ///   - authorities: country certificates that count.
    ///   - time: when the signer's certificate has to be valid.
    /// - Throws: ``CryptoError/libraryMissing``.
    public func signature(
        authorities: CertificateAuthorities, at time: Timestamp = .now
    ) throws(CryptoError) -> CardSignature {
        try report.signature(of: dump, authorities: authorities, at: time)
    }

    /// Judges what the chip answered, as `PassportReport.chip(of:signature:authorities:at:)` does.
    ///
    /// - Parameters:
    ///   - authorities: country certificates that count.
    ///   - time: when the signer's certificate has to be valid.
    /// - Throws: ``CryptoError/libraryMissing``.
    public func chip(
        authorities: CertificateAuthorities, at time: Timestamp = .now
    ) throws(CryptoError) -> ChipCheck {
        let signature = try signature(authorities: authorities, at: time)
        return try report.chip(of: dump, signature: signature, authorities: authorities, at: time)
    }
}

extension FileCardResult where Report == ResidenceReport {
    /// Checks the signature of the residence card, as `ResidenceReport.signature(of:authorities:at:)` does.
    ///
    /// - Parameters:
    ///   - authorities: those that count.
    ///   - time: when the signer's certificate has to be valid.
    /// - Throws: ``CryptoError/libraryMissing``.
    public func signature(
        authorities: CertificateAuthorities, at time: Timestamp = .now
    ) throws(CryptoError) -> CardSignature {
        try report.signature(of: dump, authorities: authorities, at: time)
    }
}

extension FileCardResult where Report == MyNumberReport {
    /// Checks the signature of the face, as `MyNumberReport.faceSignature(of:authorities:)` does.
    ///
    /// - Parameter authorities: further keys that count.
    /// - Throws: ``CryptoError/libraryMissing``.
    public func faceSignature(authorities: CertificateAuthorities = .none) throws(CryptoError) -> CardSignature {
        try report.faceSignature(of: dump, authorities: authorities)
    }

    /// Checks the signature of the four items, as `MyNumberReport.itemsSignature(of:authorities:)` does.
    ///
    /// - Parameter authorities: further keys that count.
    /// - Throws: ``CryptoError/libraryMissing``.
    public func itemsSignature(authorities: CertificateAuthorities = .none) throws(CryptoError) -> CardSignature {
        try report.itemsSignature(of: dump, authorities: authorities)
    }
}
