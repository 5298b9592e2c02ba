// SPDX-License-Identifier: Apache-2.0

import CardCiphers
import CardModel
import CardReading
import ISO7816
import NFCForumTags
import NFCTransport

extension ReaderSession {
    /// Waits for a card of one of these kinds.
    ///
    /// - Returns: what answered, in this order; a phone answers as several kinds.
    /// - Throws: ``CommandError`` with status 75 when none came.
    func findAny(_ technologies: [Technology]) throws(CommandError) -> [PICC] {
        let finder = AnyCardFinder(reader: reader, cancellation: context.cancellation)
        return try wait(for: .any) { time throws(ReadingError) in
            let found = try finder.find(technologies, timeout: time)
            return found.isEmpty ? .nothing : .found(found)
        }
    }

    /// Which kinds of card these are: by the answers that they gave, and by their applications when those are asked for.
    func recognize(_ cards: [PICC], askingApplications asks: Bool) throws(CommandError) -> [PolledCard] {
        var polled: [PolledCard] = []
        for card in cards {
            var kinds = [CardRecognizer.recognize(card)].compactMap { $0 }
            if asks, card.isISODEP { kinds = try applications(of: card) ?? kinds }
            polled.append(PolledCard(card: card, kinds: kinds))
        }
        return polled
    }

    /// What the card's applications say it is; `nil` when they say nothing, or another card is there now.
    private func applications(of card: PICC) throws(CommandError) -> [RecognizedCard]? {
        let request: ActivationRequest = card.technology == .typeA ? .typeA() : .typeB()
        let found: PICC?
        do {
            found = try reader.activate(request)
        } catch {
            throw CommandError(error)
        }
        guard let found, found.isISODEP else { return nil }
        do {
            let kinds = try CardRecognizer(reader: reader, picc: found, request: request).applications()
            return kinds.isEmpty ? nil : kinds
        } catch {
            throw CommandError(error)
        }
    }
}

extension ReaderSession {
    /// Waits for a card that takes APDUs.
    ///
    /// - Throws: ``CommandError`` with status 75 when none came, 76 when the card that is there takes none.
    func findISODEP(
        _ technologies: [Technology] = [.typeA, .typeB], for wanted: WantedCard = .isoDEP
    ) throws(CommandError) -> (picc: PICC, card: ISO7816Session) {
        let finder = ISODEPFinder(reader: reader, cancellation: context.cancellation)
        return try wait(for: wanted) { time throws(ReadingError) in
            switch try finder.find(technologies, timeout: time) {
            case .found(let picc, let request):
                .found((picc, ISO7816Session(reader: reader, picc: picc, request: request)))
            case .other:
                .other(
                    CommandError(
                        .otherCard, "otherCard",
                        tr(
                            "a card is there, but it takes no APDUs (no ISO-DEP)",
                            "カードはありますが、APDU を受け付けません（ISO-DEP 非対応）"),
                        hint: CommandError.whatItIs))
            case .nothing: .nothing
            }
        }
    }
}

extension ReaderSession {
    /// Waits for a card of any of these kinds.
    ///
    /// - Throws: ``CommandError`` with status 75 when none came.
    func findFirst(_ requests: [ActivationRequest]) throws(CommandError) -> FoundCard {
        let finder = FirstCardFinder(reader: reader, cancellation: context.cancellation)
        return try wait(for: .any) { time throws(ReadingError) in
            try finder.find(requests, timeout: time).map { .found($0) } ?? .nothing
        }
    }

    /// Waits for a card that may be a tag.
    ///
    /// - Throws: ``CommandError`` with status 75 when none came, 76 when the card cannot be one.
    func findTag() throws(CommandError) -> FoundTag {
        let finder = FirstCardFinder(reader: reader, cancellation: context.cancellation)
        return try wait(for: .tag) { time throws(ReadingError) in
            guard let found = try finder.find(ActivationRequest.tags, timeout: time) else { return .nothing }
            return tag(found).map { .found($0) } ?? .other(.otherCard(found.picc, wanted: .tag))
        }
    }

    /// Waits for a card that may be a tag, and authenticates with the key when there is one.
    ///
    /// - Throws: ``CommandError`` as ``findTag()`` does; with status 76 when the tag takes no key, 77 when it refuses this one.
    func findTag(_ key: TripleDESKey?) throws(CommandError) -> FoundTag {
        let found = try findTag()
        guard let key else { return found }
        do throws(TagError) {
            guard case .type2(let tag) = found else { throw .takesNoKey }
            try tag.authenticate(key)
        } catch {
            throw CommandError(error)
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

/// A card that may be an NFC Forum tag.
enum FoundTag {
    case type2(Type2Tag)
    /// A FeliCa card with the NDEF system.
    case type3(Type3Tag, FeliCaTarget)
    /// A FeliCa Lite or Lite-S that does not announce NDEF.
    case lite(FeliCaTarget)
    /// A card that takes APDUs.
    case card(PICC, ISO7816Session)

    /// What reads and writes its message; `nil` where there is no place for one.
    var ndef: (any NDEFTag)? {
        switch self {
        case .type2(let tag): tag
        case .type3(let tag, _): tag
        case .lite: nil
        case .card(_, let session): Type4Tag(session: session)
        }
    }

    /// The card as the reader found it.
    var picc: PICC {
        switch self {
        case .type2(let tag): .typeA(tag.target)
        case .type3(_, let target), .lite(let target): .felica(target)
        case .card(let picc, _): picc
        }
    }
}
