// SPDX-License-Identifier: Apache-2.0

public import CardCrypto
public import CardDecoders
public import CardModel
public import CardReading
public import CardVerification

extension Card {
    /// Reads a residence card (在留カード) or a special permanent resident certificate (特別永住者証明書).
    ///
    /// ```swift
    /// guard let number = ResidenceNumber("AA12345678BB") else { return }
    /// let result = try card.residence(number)
    /// let authorities = try CertificateAuthorities(files: [bytes])
    /// let signature = try result.signature(authorities: authorities)
    /// ```
    ///
    /// The number is compared with the card's: a card that says another has ``CardSignature/State/otherDocument``.
    ///
    /// - Parameter number: the twelve characters that are printed at the top right; wrong ones are not counted. By default,
    ///   only what is free is read.
    /// - Returns: everything that was read, and the error that ended reading, if any; for a card that is part of a My Number card its
    ///   type, and ``FileCardReadingError/unsupported(_:)``.
    /// - Throws: ``KazasuError/wrongCard(_:)``; ``KazasuError/fileCard(_:)`` if nothing was read.
    public func residence(_ number: ResidenceNumber? = nil) throws(KazasuError) -> FileCardResult<ResidenceReport> {
        try read(.residence, ResidenceReader.init(_:_:)) { reading in
            if let number { reading.unlock(number) }
        } _: { report, _ in
            // The first generation has its number only in a picture.
            if let number, report.type.generation == 2, report.withheld.isEmpty {
                report.typed = number.match(report.number)
            }
        }
    }
}

extension AsyncCard {
    /// Reads a residence card, as ``Card/residence(_:)`` does.
    public func residence(
        _ number: ResidenceNumber? = nil
    ) async throws(KazasuError) -> FileCardResult<ResidenceReport> {
        try await run { card throws(KazasuError) in try card.residence(number) }
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

    /// The document `kazasu.residence/1`, as `kazasu residence --json` prints it, with a final newline.
    ///
    /// - Parameters:
    ///   - signature: what the check of the signature found.
    ///   - language: the language of names; keys and ids never change.
    public func document(signature: CardSignature, in language: Language = .english) -> String {
        document(
            report.members(language, pictures: .array([]), signature: signature.json))
    }
}
