// SPDX-License-Identifier: Apache-2.0

public import CardDecoders
public import CardModel
internal import CardReading
public import ISO7816

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
}

extension AsyncCard {
    /// Reads a Japanese driver's license, as ``Card/license(_:)`` does.
    ///
    /// - Parameter pins: used on the reader's thread, and nowhere else any more.
    public func license(
        _ pins: sending PINSource = .none
    ) async throws(KazasuError) -> FileCardResult<LicenseReport> {
        let pins = Handover(pins)
        return try await run { card throws(KazasuError) in try card.license(pins.take() ?? .none) }
    }
}

extension FileCardResult where Report == LicenseReport {
    /// The document `kazasu.license/1`, as `kazasu license --json` prints it, with a final newline.
    ///
    /// - Parameter language: the language of names; keys and ids never change.
    public func document(in language: Language = .english) -> String {
        document(report.members(language))
    }
}
