// SPDX-License-Identifier: Apache-2.0

/// What the reader learnt of a card when it found it: `card` of `kazasu.dump/1`.
public struct CardIdentity: Hashable, Sendable {
    /// The kind of card.
    public var technology: Technology
    /// FeliCa: the IDm of the system that answered first.
    public var idm: IDm?
    /// FeliCa: the PMm.
    public var pmm: PMm?
    /// Type A: the UID, 4, 7 or 10 bytes.
    public var uid: [UInt8]?
    /// Type A: the ATQA as people write it, as in `0344`.
    public var atqa: UInt16?
    /// Type A: the SAK.
    public var sak: UInt8?
    /// Type A: the whole ATS with its length byte.
    public var ats: [UInt8]?
    /// Type B: the PUPI, four bytes, which may differ at each activation.
    public var pupi: [UInt8]?
    /// Type B: the application data of the ATQB, four bytes.
    public var applicationData: [UInt8]?
    /// Type B: the protocol info of the ATQB.
    public var protocolInfo: [UInt8]?
    /// The speed that was used, in kilobits a second: 106, 212 or 424.
    public var bitRate: Int?
    /// Members of the document that this version does not know.
    public var extra: JSONObject

    /// What is known of a card.
    public init(
        technology: Technology, idm: IDm? = nil, pmm: PMm? = nil, bitRate: Int? = nil, extra: JSONObject = JSONObject()
    ) {
        self.technology = technology
        self.idm = idm
        self.pmm = pmm
        self.bitRate = bitRate
        self.extra = extra
    }

    /// A card of type A.
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

    /// A card of type B.
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
