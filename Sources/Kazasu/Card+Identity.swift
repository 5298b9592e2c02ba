// SPDX-License-Identifier: Apache-2.0

public import CardDecoders
internal import CardModel
internal import CardReading
public import ISO7816
internal import NFCTransport

extension Card {
    /// Reads a Japanese driver's licence, or the licence on a My Number card.
    ///
    /// Three wrong PINs in a row lock a licence, and only the police can unlock it. The remaining tries are therefore
    /// read before anything is sent, each PIN is sent once, and the last try is used only if `consent` allows it.
    ///
    /// - Parameters:
    ///   - pin1: unlocks what is printed on the licence; `nil` reads only what needs no PIN. On a My Number card, the
    ///     licence's PIN.
    ///   - pin2: unlocks the registered domicile and the photo, together with PIN 1.
    ///   - consent: whether the last try may be used; never by default.
    /// - Returns: everything that was read; ``LicenseReport`` gives the remaining tries of each PIN.
    /// - Throws: ``KazasuError/wrongCard(_:)``; ``KazasuError/fileCard(_:)`` when a PIN was not accepted or not sent,
    ///   or the card left the field.
    public func license(
        pin1: PIN? = nil, pin2: PIN? = nil, consent: PINConsent = .never
    ) throws(KazasuError) -> LicenseReport {
        try fileCard(.license) { session, identity throws(FileCardReadingError) in
            var reader = try LicenseReader(session, identity)
            if let pin1, reader.error == nil {
                let pins = [pin1, pin2].compactMap { $0 }
                reader.verify(Array(zip(reader.pins, pins)), consent: consent)
            }
            let dump = reader.finish()
            if let error = reader.error { throw error }
            return LicenseDecoder.decode(dump)
        }
    }

    /// Reads a My Number card, but not the personal number, and signs nothing.
    ///
    /// - Parameters:
    ///   - pin: the four-digit PIN for card information input (券面事項入力補助); unlocks name, address, birth date and sex.
    ///   - consent: whether the last try may be used; never by default.
    /// - Throws: the errors of ``license(pin1:pin2:consent:)``.
    public func myNumber(pin: PIN? = nil, consent: PINConsent = .never) throws(KazasuError) -> MyNumberReport {
        try fileCard(.myNumber) { session, identity throws(FileCardReadingError) in
            var reader = try MyNumberReader(session, identity)
            if let pin, reader.error == nil { reader.verify(pin, consent: consent) }
            let dump = reader.finish()
            if let error = reader.error { throw error }
            return MyNumberDecoder.decode(dump)
        }
    }

    private func fileCard<Report>(
        _ kind: CardQuery.Kind, _ read: (ISO7816Session, CardIdentity) throws(FileCardReadingError) -> Report?
    ) throws(KazasuError) -> Report {
        guard picc.isISODEP else { throw .wrongCard(WrongCard(picc, .noISODEP)) }
        do throws(FileCardReadingError) {
            guard let report = try read(iso7816, identity) else { throw .otherCard }
            return report
        } catch .otherCard {
            throw .wrongCard(reader.wrongCard(found, wanted: kind))
        } catch {
            throw .fileCard(error)
        }
    }
}
