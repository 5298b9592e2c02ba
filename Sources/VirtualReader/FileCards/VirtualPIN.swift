// SPDX-License-Identifier: Apache-2.0

public import CardModel

/// A PIN of a virtual card. It is test data and stands openly in the card file; nobody's real PIN belongs there.
public struct VirtualPIN: Hashable, Sendable {
    /// What the access rules of files call it; one name stands once in a card.
    public var name: String
    /// The identifier of its internal file, for cards whose PIN is selected before VERIFY with P2 80.
    public var id: FileIdentifier?
    /// P2 of a VERIFY that needs no selection, as in 81; `nil` when there is none.
    public var reference: UInt8?
    /// The bytes that are right.
    public var value: [UInt8]
    /// How many wrong values in a row lock it, 1 to 15.
    public var tries: Int
    /// How many tries are left now.
    public var triesLeft: Int
    /// The status word when it is locked: 6983, 6984 as on driver's licences, or 63C0.
    public var lockedStatus: UInt16
    /// Whether a wrong value is answered with 63Cx; else with 6300, which does not tell the tries left.
    public var tellsTries: Bool

    /// A PIN.
    public init(
        name: String, id: FileIdentifier? = nil, reference: UInt8? = nil, value: [UInt8], tries: Int = 3,
        triesLeft: Int? = nil, lockedStatus: UInt16 = 0x6983, tellsTries: Bool = true
    ) {
        self.name = name
        self.id = id
        self.reference = reference
        self.value = value
        self.tries = min(max(tries, 1), 15)
        self.triesLeft = min(max(triesLeft ?? tries, 0), 15)
        self.lockedStatus = lockedStatus
        self.tellsTries = tellsTries
    }
}
