// SPDX-License-Identifier: Apache-2.0

public import CardCrypto
public import CardDecoders
public import CardModel
internal import CardReading
public import CardVerification
public import ISO7816

extension Card {
    /// Reads a My Number card, but not the personal number, and signs nothing.
    ///
    /// ``FileCardResult/itemsSignature(authorities:)`` then says whether the four items are as they were signed.
    ///
    /// - Parameter pins: the four-digit PIN for card information input (券面事項入力補助), which unlocks name, address,
    ///   birth date and sex. By default, only what needs no PIN is read.
    /// - Returns: everything that was read, and the error that ended reading, if any.
    /// - Throws: ``KazasuError/wrongCard(_:)``; ``KazasuError/fileCard(_:)`` if nothing was read.
    public func myNumber(_ pins: PINSource = .none) throws(KazasuError) -> FileCardResult<MyNumberReport> {
        try myNumber { $0.verify(pins) }
    }

    /// Reads the face of a My Number card: birth date, sex, expiry, photo, and name and address as pictures.
    ///
    /// ```swift
    /// let result = try card.myNumberFace(.pins(PIN(digits)))
    /// let signature = try result.faceSignature()
    /// ```
    ///
    /// Ten wrong numbers in a row lock it; it is guarded like a PIN.
    ///
    /// - Parameter number: 照合番号B, 14 digits that are printed on the card: the birth date as YYMMDD with the year of the Japanese
    ///   era, the four digits of the year in which the card expires, and the security code. By default, only what is free is read.
    /// - Returns: everything that was read, and the error that ended reading, if any.
    /// - Throws: ``KazasuError/wrongCard(_:)``; ``KazasuError/fileCard(_:)`` if nothing was read.
    public func myNumberFace(_ number: PINSource = .none) throws(KazasuError) -> FileCardResult<MyNumberReport> {
        try myNumber { $0.verifyFace(number) }
    }

    private func myNumber(
        _ verify: (inout MyNumberReader) -> Void
    ) throws(KazasuError) -> FileCardResult<MyNumberReport> {
        try read(.myNumber, MyNumberReader.init(_:_:), verify) { report, reading in
            report.itemsCheck = reading.itemsCheck
            report.typed = reading.typedMatch
        }
    }
}

extension AsyncCard {
    /// Reads a My Number card, as ``Card/myNumber(_:)`` does.
    ///
    /// - Parameter pins: used on the reader's thread, and nowhere else any more.
    public func myNumber(
        _ pins: sending PINSource = .none
    ) async throws(KazasuError) -> FileCardResult<MyNumberReport> {
        let pins = Handover(pins)
        return try await run { card throws(KazasuError) in try card.myNumber(pins.take() ?? .none) }
    }

    /// Reads the face of a My Number card, as ``Card/myNumberFace(_:)`` does.
    ///
    /// - Parameter number: used on the reader's thread, and nowhere else any more.
    public func myNumberFace(
        _ number: sending PINSource = .none
    ) async throws(KazasuError) -> FileCardResult<MyNumberReport> {
        let number = Handover(number)
        return try await run { card throws(KazasuError) in try card.myNumberFace(number.take() ?? .none) }
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

    /// The document `kazasu.mynumber/1`, as `kazasu mynumber --json` prints it, with a final newline. Of a certificate, the
    /// command tells more, such as its holder.
    ///
    /// - Parameters:
    ///   - signature: what the check of the face or else of the four items found; `nil` if neither was read.
    ///   - chains: what the checks of the certificates found.
    ///   - language: the language of names; keys and ids never change.
    public func document(
        signature: CardSignature? = nil, chains: [MyNumberFile: CardSignature] = [:], in language: Language = .english
    ) -> String {
        var members = report.json(
            language,
            certificates: { file in
                guard let chain = chains[file] else { return JSONObject() }
                return JSONObject([
                    ("chain", ["state": .string(chain.state.rawValue), "by": .text(chain.authority)])
                ])
            }, redact: { $0 })
        if report.face != nil { members["pictures"] = .array([]) }
        if let signature { members["signature"] = signature.json }
        members["faults"] = report.faults(language)
        return document(members)
    }
}
