// SPDX-License-Identifier: Apache-2.0

public import CardCrypto
public import CardDecoders
public import CardModel
public import CardReading
public import CardVerification

extension Card {
    /// Reads an electronic passport, by PACE where the chip lists it, else by BAC.
    ///
    /// ```swift
    /// guard let key = PassportKey("TK1234567,800405,300614") else { return }
    /// let result = try card.passport(key)
    /// let authorities = try CertificateAuthorities(files: [masterList])
    /// let signature = try result.signature(authorities: authorities)
    /// let chip = try result.chip(authorities: authorities)
    /// ```
    ///
    /// What opened it is compared with what it says: a chip that says something else has ``CardSignature/State/otherDocument``.
    ///
    /// - Parameter key: document number, birth date and expiry; most passports do not count wrong ones.
    /// - Returns: everything that was read, and the error that ended reading, if any.
    /// - Throws: ``KazasuError/wrongCard(_:)``; ``KazasuError/fileCard(_:)`` if nothing was read.
    public func passport(_ key: PassportKey) throws(KazasuError) -> FileCardResult<PassportReport> {
        try passport(.zone(key))
    }

    /// Reads an electronic passport, or an identity card with the same application.
    ///
    /// The password is sent once. It is not sent if the chip says that one try is left, unless that is allowed. BAC follows where the
    /// chip lists no PACE that can be spoken here, never after a wrong password.
    ///
    /// - Parameters:
    ///   - password: number and dates, or the card access number, with which nothing that the chip says can be compared.
    ///   - allowsLastTry: whether the last try may be used.
    /// - Returns: everything that was read, and the error that ended reading, if any.
    /// - Throws: ``KazasuError/wrongCard(_:)``; ``KazasuError/fileCard(_:)`` if nothing was read.
    public func passport(
        _ password: PassportPassword, allowsLastTry: Bool = false
    ) throws(KazasuError) -> FileCardResult<PassportReport> {
        try read(.passport, PassportReader.init(_:_:)) { reading in
            reading.unlock(password, allowsLastTry: allowsLastTry)
        } _: { report, reading in
            report.access = reading.access
            if reading.access != nil { report.evidence = reading.evidence }
            if case .zone(let key) = password { report.compare(with: key) }
        }
    }
}

extension PassportReport {
    /// Compares what was typed with the zone of the report, if that was read.
    package mutating func compare(with key: PassportKey) {
        if withheld.isEmpty { typed = key.match(machineReadableZone) }
    }
}

extension AsyncCard {
    /// Reads a passport, as ``Card/passport(_:allowsLastTry:)`` does.
    ///
    /// - Parameters:
    ///   - password: number and dates, or the card access number.
    ///   - allowsLastTry: whether the last try may be used.
    public func passport(
        _ password: PassportPassword, allowsLastTry: Bool = false
    ) async throws(KazasuError) -> FileCardResult<PassportReport> {
        try await run { card throws(KazasuError) in try card.passport(password, allowsLastTry: allowsLastTry) }
    }

    /// Reads a passport, as ``Card/passport(_:)`` does.
    public func passport(_ key: PassportKey) async throws(KazasuError) -> FileCardResult<PassportReport> {
        try await run { card throws(KazasuError) in try card.passport(key) }
    }
}

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

    /// The document `kazasu.passport/1`, as `kazasu passport --json` prints it, with a final newline.
    ///
    /// - Parameters:
    ///   - signature: what the check of the signature found.
    ///   - chip: what the check of the chip found.
    ///   - language: the language of names; keys and ids never change.
    public func document(signature: CardSignature, chip: ChipCheck, in language: Language = .english) -> String {
        document(
            report.members(language, pictures: .array([]), signature: signature.json, chip: chip.json))
    }
}
