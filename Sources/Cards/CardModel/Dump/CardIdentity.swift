// SPDX-License-Identifier: Apache-2.0

internal import ByteCodec

/// The identity of a card, from its answers when the reader found it: `card` of `kazasu.dump/1`.
public struct CardIdentity: Hashable, Sendable {
    /// The kind of card.
    public var technology: Technology
    /// FeliCa: the IDm of the system that answered first.
    public var idm: IDm?
    /// FeliCa: the PMm.
    public var pmm: PMm?
    /// Type A: the UID, 4, 7 or 10 bytes.
    public var uid: [UInt8]?
    /// Type A: the ATQA in its usual notation, such as `0344`.
    public var atqa: UInt16?
    /// Type A: the SAK.
    public var sak: UInt8?
    /// Type A: the complete ATS with its length byte.
    public var ats: [UInt8]?
    /// Type B: the PUPI, four bytes, which may differ at each activation.
    public var pupi: [UInt8]?
    /// Type B: the application data of the ATQB, four bytes.
    public var applicationData: [UInt8]?
    /// Type B: the protocol info of the ATQB.
    public var protocolInfo: [UInt8]?
    /// The bit rate that was used, in kilobits per second: 106, 212 or 424.
    public var bitRate: Int?
    /// Members of the document that are unknown to this version.
    package var extra: JSONObject

    /// The card's number in lower-case hexadecimal digits: its IDm, UID or PUPI; `nil` if unknown.
    ///
    /// It may be random each time; see `Tap.isRandom` and `Card.hasRandomID`.
    public var number: String? { (idm?.bytes ?? uid ?? pupi).map { Hex.encode($0) } }

    package init(
        technology: Technology, idm: IDm? = nil, pmm: PMm? = nil, bitRate: Int? = nil, extra: JSONObject = JSONObject()
    ) {
        self.technology = technology
        self.idm = idm
        self.pmm = pmm
        self.bitRate = bitRate
        self.extra = extra
    }

    /// Makes the identity of a FeliCa card: the IDm and PMm of the system that answered first.
    public static func felica(idm: IDm, pmm: PMm) -> CardIdentity {
        CardIdentity(technology: .felica, idm: idm, pmm: pmm)
    }

    /// Makes the identity of a type A card.
    public static func typeA(
        uid: [UInt8]?, atqa: UInt16? = nil, sak: UInt8? = nil, ats: [UInt8]? = nil, bitRate: Int? = 106
    ) -> CardIdentity {
        var identity = CardIdentity(technology: .typeA, bitRate: bitRate)
        identity.uid = uid
        identity.atqa = atqa
        identity.sak = sak
        identity.ats = ats
        return identity
    }

    /// Makes the identity of a type B card.
    public static func typeB(
        pupi: [UInt8]?, applicationData: [UInt8]? = nil, protocolInfo: [UInt8]? = nil, bitRate: Int? = 106
    ) -> CardIdentity {
        var identity = CardIdentity(technology: .typeB, bitRate: bitRate)
        identity.pupi = pupi
        identity.applicationData = applicationData
        identity.protocolInfo = protocolInfo
        return identity
    }
}

extension CardIdentity {
    init(json: JSONCursor) throws(DocumentError) {
        let word = try json.required("technology")
        guard let technology = Technology(rawValue: try word.text()) else {
            throw word.malformed(.oneOf, values: Technology.allCases.map(\.rawValue))
        }
        var known: [StaticString] = ["technology", "bitRate"]
        self.init(technology: technology, bitRate: try json.optional("bitRate")?.integer(in: 0...10_000))
        // A member that belongs to another technology counts as unknown.
        switch technology {
        case .felica:
            idm = try json.optional("idm")?.idm()
            pmm = try json.optional("pmm")?.pmm()
            known += ["idm", "pmm"]
        case .typeA:
            let code: NodeCode? = try json.optional("atqa")?.code()
            uid = try json.optional("uid")?.bytes()
            atqa = code?.rawValue
            sak = try json.optional("sak")?.bytes(count: 1).first
            ats = try json.optional("ats")?.bytes()
            known += ["uid", "atqa", "sak", "ats"]
        case .typeB:
            pupi = try json.optional("pupi")?.bytes(count: 4)
            applicationData = try json.optional("applicationData")?.bytes(count: 4)
            protocolInfo = try json.optional("protocolInfo")?.bytes()
            known += ["pupi", "applicationData", "protocolInfo"]
        }
        extra = try json.members(without: known)
    }

    /// `card` of every document about a card, with the members of the file that are unknown to this version.
    package var json: JSONValue {
        var object = members
        object.merge(extra)
        return .object(object)
    }

    /// The members of `card` that the card itself gave.
    package var members: JSONObject {
        var object = JSONObject([("technology", .string(technology.rawValue))])
        object["idm"] = idm.map { .string($0.description) }
        object["pmm"] = pmm.map { .string($0.description) }
        object["uid"] = uid.map { .string(Hex.encode($0)) }
        object["atqa"] = atqa.map { .string(Hex.encode($0, digits: 4)) }
        object["sak"] = sak.map { .string(Hex.encode([$0])) }
        object["ats"] = ats.map { .string(Hex.encode($0)) }
        object["pupi"] = pupi.map { .string(Hex.encode($0)) }
        object["applicationData"] = applicationData.map { .string(Hex.encode($0)) }
        object["protocolInfo"] = protocolInfo.map { .string(Hex.encode($0)) }
        object["bitRate"] = bitRate.map { .int($0) }
        return object
    }
}

extension CardIdentity {
    /// Returns whether this is definitely another card.
    ///
    /// IDms of one card differ only in the system number. A four-byte UID that begins with 08 is generated again at
    /// each activation (ISO 14443-3), so it proves nothing.
    public func isOtherCard(than other: CardIdentity) -> Bool {
        if technology != other.technology { return true }
        if let idm, let otherIDm = other.idm { return !idm.isSameCard(as: otherIDm) }
        if let uid, let otherUID = other.uid {
            return uid != otherUID && !CardIdentity.isRandom(uid) && !CardIdentity.isRandom(otherUID)
        }
        return false
    }

    private static func isRandom(_ uid: [UInt8]) -> Bool { uid.count == 4 && uid.first == 0x08 }
}

/// The kind of contactless card; the raw values are those of `kazasu.dump/1`.
@nonexhaustive
public enum Technology: String, Hashable, Sendable, CaseIterable {
    /// FeliCa (JIS X 6319-4, NFC-F).
    case felica
    /// ISO 14443 type A.
    case typeA
    /// ISO 14443 type B.
    case typeB
}
