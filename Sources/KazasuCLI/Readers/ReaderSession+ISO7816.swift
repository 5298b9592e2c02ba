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
        _ technologies: [Technology] = [.typeA, .typeB]
    ) throws(Failure) -> (picc: PICC, card: ISO7816Session) {
        let finder = ISODEPFinder(reader: reader, cancellation: context.cancellation)
        let finding: ISODEPFinder.Finding
        do {
            // Who holds a card there already is not asked for one.
            var first = try finder.find(technologies, timeout: .zero)
            if first == .nothing, timeout.duration != .zero {
                let waiting = WaitingNote(context)
                defer { waiting.end() }
                first = try finder.find(technologies, timeout: timeout.duration)
            }
            finding = first
        } catch {
            throw Failure(error)
        }
        switch finding {
        case .found(let picc, let request):
            return (picc, ISO7816Session(reader: reader, picc: picc, request: request))
        case .nothing: throw nothingCame(technologies)
        case .other:
            throw Failure(
                .otherCard, "otherCard",
                tr(
                    "a card is there, but it takes no APDUs (no ISO-DEP)",
                    "カードはありますが、APDU を受け付けません（ISO-DEP 非対応）"),
                hint: Failure.whatItIs)
        }
    }
}
