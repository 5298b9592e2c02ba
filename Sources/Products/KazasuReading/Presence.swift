// SPDX-License-Identifier: Apache-2.0

internal import CardModel
package import ReaderCore
internal import NFCForumTags

/// Whether a card is still on its reader.
package enum Presence {
    /// The result of a presence check.
    package enum Answer {
        case present
        case silent
        case other(FoundCard)
    }

    /// How long a card may take to answer a command that needs no work.
    private static let time = Duration.milliseconds(30)

    /// Checks once.
    ///
    /// A question that changes nothing comes first: Request Response for FeliCa, READ of page 0 for a Type 2 Tag, the
    /// reader's own (R(NAK)) in ISO-DEP. A card is selected again only if it does not answer, does not support the
    /// command (FeliCa Lite), or has no such command (layer 3 of type A and B). Selecting again treats a card that left
    /// for a moment as present, and finds any other card in its place.
    ///
    /// - Parameter isSelected: whether the card is the one that was selected last, and not by somebody else since.
    /// - Throws: ``TransportError`` if the reader failed or was cancelled.
    package static func check(
        _ card: FoundCard, on reader: any Reader, isSelected: Bool = true
    ) throws(TransportError) -> Answer {
        if !isSelected {
            // It is selected again below.
        } else if let question = question(card.picc) {
            do throws(TransportError) {
                _ = try reader.transceive(question, timeout: time)
                return .present
            } catch {
                if error.endsWatch { throw error }
            }
        } else if try reader.isCardPresent() == true {
            return .present
        }
        do throws(TransportError) {
            guard let picc = try reader.activate(card.request) else { return .silent }
            return picc.isLikely(card.picc) ? .present : .other(FoundCard(picc: picc, request: card.request))
        } catch {
            if error.endsWatch { throw error }
            return .silent
        }
    }

    /// A frame that a card of this kind answers in any state, without changing its state.
    private static func question(_ card: PICC) -> [UInt8]? {
        switch card {
        case .felica(let target): [10, 0x04] + target.idm.bytes
        case .typeA(let target) where Type2Tag.mayBe(target): [0x30, 0x00]
        default: nil
        }
    }
}

extension TransportError {
    /// Whether no more cards can be looked for.
    fileprivate var endsWatch: Bool {
        switch self {
        case .cancelled, .outOfScript: true
        default: isReaderError
        }
    }
}

extension PICC {
    /// Whether its number is random and so identifies nobody.
    ///
    /// This covers a four-byte UID that begins with 08 (ISO/IEC 14443-3), and the PUPI of type B, which may be random
    /// too.
    var isRandom: Bool {
        switch self {
        case .felica: false
        case .typeA(let target): target.uid.count == 4 && target.uid.first == 0x08
        case .typeB: true
        }
    }

    /// Whether it may be the same card: compares the numbers, unless they are random.
    fileprivate func isLikely(_ other: PICC) -> Bool {
        switch (self, other) {
        case (.felica(let one), .felica(let two)): one.idm == two.idm
        case (.typeA(let one), .typeA(let two)): one.uid == two.uid || isRandom && other.isRandom
        case (.typeB, .typeB): true
        default: false
        }
    }
}
