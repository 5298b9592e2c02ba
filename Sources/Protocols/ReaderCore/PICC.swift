// SPDX-License-Identifier: Apache-2.0

public import CardModel

/// A card that a reader found and selected (the standard's term: proximity integrated circuit card).
@nonexhaustive
public enum PICC: Hashable, Sendable {
    /// A FeliCa card.
    case felica(FeliCaTarget)
    /// An ISO 14443 type A card.
    case typeA(TypeATarget)
    /// An ISO 14443 type B card.
    case typeB(TypeBTarget)

    /// The kind of card.
    public var technology: Technology {
        switch self {
        case .felica: .felica
        case .typeA: .typeA
        case .typeB: .typeB
        }
    }

    /// Whether frames to the card are APDUs.
    public var isISODEP: Bool {
        switch self {
        case .felica: false
        case .typeA(let target): target.isISODEP
        case .typeB(let target): target.isISODEP
        }
    }
}

extension PICC {
    /// The same card as represented in documents.
    public var identity: CardIdentity {
        switch self {
        case .felica(let target):
            CardIdentity(technology: .felica, idm: target.idm, pmm: target.pmm, bitRate: target.bitRate.rawValue)
        case .typeA(let target):
            .typeA(uid: target.uid.isEmpty ? nil : target.uid, atqa: target.atqa, sak: target.sak, ats: target.ats)
        case .typeB(let target):
            .typeB(pupi: target.pupi, applicationData: target.applicationData, protocolInfo: target.protocolInfo)
        }
    }

    /// Returns whether a card that was activated now may be the one that was activated before.
    ///
    /// UIDs that begin with 08 and the PUPI of most cards are random at each activation, so they prove nothing.
    package func mayBeSameCard(as other: PICC) -> Bool {
        switch (self, other) {
        case (.typeA(let now), .typeA(let before)):
            let isRandom = [now.uid, before.uid].allSatisfy { $0.count == 4 && $0.first == 0x08 }
            return (isRandom || now.uid == before.uid) && now.ats == before.ats && now.sak == before.sak
        case (.typeB(let now), .typeB(let before)):
            return now.applicationData == before.applicationData && now.protocolInfo == before.protocolInfo
        default: return self == other
        }
    }
}

/// A FeliCa card, from its answer to a Polling.
public struct FeliCaTarget: Hashable, Sendable {
    /// The IDm of the system that answered.
    public var idm: IDm
    /// The PMm.
    public var pmm: PMm
    /// The two bytes of request data as one big-endian number, if requested and returned.
    ///
    /// They are the system code for request code 1.
    public var requestData: UInt16?
    /// The bit rate at which it answered.
    public var bitRate: FeliCaBitRate

    /// Makes a target from a card's answer to a Polling.
    public init(idm: IDm, pmm: PMm, requestData: UInt16? = nil, bitRate: FeliCaBitRate) {
        self.idm = idm
        self.pmm = pmm
        self.requestData = requestData
        self.bitRate = bitRate
    }
}

/// An ISO 14443 type A card, as it was selected.
public struct TypeATarget: Hashable, Sendable {
    /// The UID: 4, 7 or 10 bytes, in transmission order.
    public var uid: [UInt8]
    /// The ATQA (SENS_RES) in its usual notation, such as `0344`; `nil` if the reader does not report it.
    ///
    /// The low byte is transmitted first.
    public var atqa: UInt16?
    /// The SAK (SEL_RES) of the last cascade level; `nil` if the reader does not report it.
    public var sak: UInt8?
    /// The complete ATS with its length byte TL, of a card that supports ISO-DEP and was asked for it.
    public var ats: [UInt8]?
    /// Whether frames to the card are APDUs, which the reader carries over ISO-DEP.
    ///
    /// Otherwise they are the card's native commands without CRC, such as those of a Type 2 Tag.
    public var isISODEP: Bool

    /// Makes a type A card.
    public init(uid: [UInt8], atqa: UInt16? = nil, sak: UInt8? = nil, ats: [UInt8]? = nil, isISODEP: Bool) {
        self.uid = uid
        self.atqa = atqa
        self.sak = sak
        self.ats = ats
        self.isISODEP = isISODEP
    }
}

/// An ISO 14443 type B card, as it was selected; frames to one with ISO-DEP are APDUs, and others accept none.
public struct TypeBTarget: Hashable, Sendable {
    /// The PUPI, four bytes, which many cards regenerate at each activation; `nil` if the reader does not report it.
    public var pupi: [UInt8]?
    /// The application data of the ATQB, four bytes; `nil` if the reader does not report it.
    public var applicationData: [UInt8]?
    /// The protocol info of the ATQB, three or four bytes; `nil` if the reader does not report it.
    public var protocolInfo: [UInt8]?

    /// Makes a type B card.
    public init(pupi: [UInt8]? = nil, applicationData: [UInt8]? = nil, protocolInfo: [UInt8]? = nil) {
        self.pupi = pupi
        self.applicationData = applicationData
        self.protocolInfo = protocolInfo
    }

    /// Whether the card supports ISO-DEP, by bit 1 of the protocol info's second byte (ISO 14443-3, 7.9.4.4); a reader
    /// that reports no protocol info has activated it.
    public var isISODEP: Bool { protocolInfo?.dropFirst().first.map { $0 & 0x01 != 0 } ?? true }
}
