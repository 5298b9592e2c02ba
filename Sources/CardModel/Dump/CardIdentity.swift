// SPDX-License-Identifier: Apache-2.0

/// What the reader learnt of a card when it found it: `card` of `kazasu.dump/1`.
public struct CardIdentity: Hashable, Sendable {
    /// The kind of card.
    public var technology: Technology
    /// FeliCa: the IDm of the system that answered first.
    public var idm: IDm?
    /// FeliCa: the PMm.
    public var pmm: PMm?
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
}
