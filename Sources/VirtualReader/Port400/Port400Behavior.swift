// SPDX-License-Identifier: Apache-2.0

/// What a simulated Port-400 does where sources leave several possibilities, or differ.
public struct Port400Behavior: Hashable, Sendable {
    /// What a switch of the protocol to type A or B at layer 3 does.
    public enum LayerThree: Hashable, Sendable {
        /// Nothing but the switch, as felica-rs and esp32-pasori-rcs300 were understood.
        case switches
        /// Type B: REQB only. Type A: as `selects`.
        case requests
        /// REQA, anticollision and SELECT; REQB and ATTRIB.
        case selects
    }

    /// What a switch to type A or B does.
    public var layerThree = LayerThree.selects
    /// Whether the answer to such a switch has an object 8F, with the SAK or the protocol info.
    public var describesCard = true
    /// Whether `FF CA` gives the UID of a card that was selected.
    public var givesUID = true
    /// The status of such a switch without a card; 9000 as an RC-S300 with firmware 1.00 gave.
    public var statusWithoutCard: UInt16 = 0x6401
    /// The status of what needs a session or a field when there is none: 6301 by a log, 6985 by felica-rs.
    public var statusOutsideSession: UInt16 = 0x6301
    /// The status of a second start: 698A by the command reference, 6985 by felica-rs.
    public var statusOfSecondStart: UInt16 = 0x698A
    /// The codes of the speeds that `FF 6E` sets.
    public var speeds: Set<UInt8> = [0x89, 0x92, 0x9B]
    /// The status for another one.
    public var statusOfUnknownSpeed: UInt16 = 0x6A80
    /// Whether an answer that was damaged in the air gives the status 6300; else bits of object 96.
    public var reportsDamageByStatus = false

    /// As the logs of an RC-S300 have it, as far as they say.
    public init() {}
}
