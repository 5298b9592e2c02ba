// SPDX-License-Identifier: Apache-2.0

public import CardModel

/// A FeliCa card as it answered a Polling.
public struct FeliCaTarget: Hashable, Sendable {
    /// The IDm of the system that answered.
    public var idm: IDm
    /// The PMm.
    public var pmm: PMm
    /// The two bytes of request data as one big-endian number, when they were asked for and given: the system code
    /// for request code 1.
    public var requestData: UInt16?
    /// The speed that it answered at.
    public var bitRate: FeliCaBitRate

    /// A card's answer to a Polling.
    public init(idm: IDm, pmm: PMm, requestData: UInt16? = nil, bitRate: FeliCaBitRate) {
        self.idm = idm
        self.pmm = pmm
        self.requestData = requestData
        self.bitRate = bitRate
    }
}
