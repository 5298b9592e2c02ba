// SPDX-License-Identifier: Apache-2.0

import CardReading
import ISO7816
import NFCForumTags
import NFCTransport

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
