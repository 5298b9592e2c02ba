// SPDX-License-Identifier: Apache-2.0

public import CardDecoders
public import CardModel
internal import CardReading
public import ISO7816
internal import ReaderCore

extension Card {
    /// Reads a Japanese driver's license, or the license on a My Number card.
    ///
    /// ```swift
    /// let free = try card.license().report
    /// let printed = try card.license(.pins(PIN(digits))).get()
    /// ```
    ///
    /// Three wrong PINs in a row lock a license, and only the police can unlock it. The remaining tries are therefore
    /// read before anything is sent, each PIN is sent once, and the last try is used only if the source allows it.
    ///
    /// - Parameter pins: PIN 1, which unlocks what is printed on the license, and PIN 2, which unlocks the registered
    ///   domicile and the photo together with PIN 1; on a My Number card, the license's only PIN. By default, only what
    ///   needs no PIN is read.
    /// - Returns: everything that was read, and the error that ended reading, if any.
    /// - Throws: ``KazasuError/wrongCard(_:)``; ``KazasuError/fileCard(_:)`` if nothing was read.
    public func license(_ pins: PINSource = .none) throws(KazasuError) -> FileCardResult<LicenseReport> {
        try read(.license, LicenseReader.init(_:_:)) { reading in
            reading.verify(pins)
        }
    }

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

    /// Reads an identity document.
    ///
    /// - Parameters:
    ///   - make: reads what is free.
    ///   - open: presents what opens the rest.
    ///   - complete: adds to the report what is not in the dump.
    private func read<Reading: IdentityReader, Report: IdentityDocument>(
        _ kind: CardQuery.Kind, _ make: (ISO7816Session, CardIdentity) throws(FileCardReadingError) -> Reading,
        _ open: (inout Reading) -> Void, _ complete: (inout Report, Reading) -> Void = { _, _ in }
    ) throws(KazasuError) -> FileCardResult<Report> {
        let session = try apdus()
        do throws(FileCardReadingError) {
            var reading = try make(session, identity)
            open(&reading)
            let dump = reading.finish()
            guard reading.error != .otherCard, var report = Report.decode(dump) else { throw .otherCard }
            complete(&report, reading)
            return FileCardResult(report: report, dump: dump, error: reading.error.map(KazasuError.init))
        } catch .otherCard {
            throw .wrongCard(reader.wrongCard(found, wanted: kind))
        } catch {
            throw KazasuError(error)
        }
    }
}

extension PassportReport {
    /// Compares what was typed with the zone of the report, if that was read.
    package mutating func compare(with key: PassportKey) {
        if withheld.isEmpty { typed = key.match(machineReadableZone) }
    }
}

/// What was read of a license or a My Number card.
public struct FileCardResult<Report: Hashable & Sendable>: Hashable, Sendable {
    /// The contents as far as they were read, with the tries left of each PIN.
    public let report: Report
    /// The same as a dump, which never contains a PIN.
    public let dump: CardDump
    /// Why reading ended early, or why a PIN was not sent or not accepted; `nil` if everything succeeded.
    public let error: KazasuError?

    /// Returns the report if everything succeeded.
    ///
    /// - Throws: ``error``.
    public func get() throws(KazasuError) -> Report {
        if let error { throw error }
        return report
    }
}

extension KazasuError {
    /// Converts to an error of this layer; a cancellation stays a cancellation.
    fileprivate init(_ error: FileCardReadingError) {
        self = error == .card(.transport(.cancelled)) ? .cancelled : .fileCard(error)
    }
}
