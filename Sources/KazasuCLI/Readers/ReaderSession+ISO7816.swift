// SPDX-License-Identifier: Apache-2.0

import CardModel
import CardReading
import ISO7816
import NFCTransport

extension ReaderSession {
    /// Waits for a card that takes APDUs.
    ///
    /// - Throws: ``Failure`` with status 75 when none came, 76 when the card that is there takes none.
    func findISODEP(
        _ technologies: [Technology] = [.typeA, .typeB], for wanted: WantedCard = .isoDEP
    ) throws(Failure) -> (picc: PICC, card: ISO7816Session) {
        let finder = ISODEPFinder(reader: reader, cancellation: context.cancellation)
        return try wait(for: wanted) { time throws(ReadingError) in
            switch try finder.find(technologies, timeout: time) {
            case .found(let picc, let request):
                .found((picc, ISO7816Session(reader: reader, picc: picc, request: request)))
            case .other:
                .other(
                    Failure(
                        .otherCard, "otherCard",
                        tr(
                            "a card is there, but it takes no APDUs (no ISO-DEP)",
                            "カードはありますが、APDU を受け付けません（ISO-DEP 非対応）"),
                        hint: Failure.whatItIs))
            case .nothing: .nothing
            }
        }
    }
}
