// SPDX-License-Identifier: Apache-2.0

import CardCiphers
import CardModel
import CardReading
import ISO7816
import NFCForumTags
import NFCTransport

extension ReaderSession {
    /// Waits for a card of any of these kinds.
    ///
    /// - Throws: ``Failure`` with status 75 when none came.
    func findFirst(_ requests: [ActivationRequest]) throws(Failure) -> FoundCard {
        let finder = FirstCardFinder(reader: reader, cancellation: context.cancellation)
        return try wait(for: .any) { time throws(ReadingError) in
            try finder.find(requests, timeout: time).map { .found($0) } ?? .nothing
        }
    }

    /// Waits for a card that may be a tag.
    ///
    /// - Throws: ``Failure`` with status 75 when none came, 76 when the card cannot be one.
    func findTag() throws(Failure) -> FoundTag {
        let finder = FirstCardFinder(reader: reader, cancellation: context.cancellation)
        return try wait(for: .tag) { time throws(ReadingError) in
            guard let found = try finder.find(ActivationRequest.tags, timeout: time) else { return .nothing }
            return tag(found).map { .found($0) } ?? .other(.otherCard(found.picc, wanted: .tag))
        }
    }

    /// Waits for a card that may be a tag, and authenticates with the key when there is one.
    ///
    /// - Throws: ``Failure`` as ``findTag()`` does; with status 76 when the tag takes no key, 77 when it refuses this one.
    func findTag(_ key: TripleDESKey?) throws(Failure) -> FoundTag {
        let found = try findTag()
        guard let key else { return found }
        do throws(TagError) {
            guard case .type2(let tag) = found else { throw .takesNoKey }
            try tag.authenticate(key)
        } catch {
            throw Failure(error)
        }
        return found
    }

    /// The tag that a card may be.
    func tag(_ found: FoundCard) -> FoundTag? {
        switch (found.picc, found.request) {
        case (.typeA(let target), _) where Type2Tag.mayBe(target):
            return .type2(Type2Tag(reader: reader, target: target, cancellation: context.cancellation))
        case (let picc, let request) where picc.isISODEP:
            return .card(picc, ISO7816Session(reader: reader, picc: picc, request: request))
        case (.felica(let target), .felica(.ndef, _, _, _)):
            return .type3(Type3Tag(reader: reader, target: target, cancellation: context.cancellation), target)
        case (.felica(let target), .felica(.lite, _, _, _)): return .lite(target)
        default: return nil
        }
    }
}
