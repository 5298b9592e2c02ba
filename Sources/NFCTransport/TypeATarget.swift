// SPDX-License-Identifier: Apache-2.0

/// A card of ISO 14443 type A as it was selected.
public struct TypeATarget: Hashable, Sendable {
    /// The UID: 4, 7 or 10 bytes, in the order of the air.
    public var uid: [UInt8]
    /// The ATQA (SENS_RES) as people write it, as in `0344`; on the air the low byte comes first. `nil` when the
    /// reader does not tell.
    public var atqa: UInt16?
    /// The SAK (SEL_RES) of the last cascade level; `nil` when the reader does not tell.
    public var sak: UInt8?
    /// The whole ATS with its length byte TL, of a card that speaks ISO-DEP and was asked for it.
    public var ats: [UInt8]?
    /// Whether frames to the card are APDUs, which the reader carries by ISO-DEP; else they are the card's own
    /// commands without CRC, as those of a Type 2 Tag.
    public var isISODEP: Bool

    /// A card of type A.
    public init(uid: [UInt8], atqa: UInt16? = nil, sak: UInt8? = nil, ats: [UInt8]? = nil, isISODEP: Bool) {
        self.uid = uid
        self.atqa = atqa
        self.sak = sak
        self.ats = ats
        self.isISODEP = isISODEP
    }
}
