// SPDX-License-Identifier: Apache-2.0

/// A PIN and which of the card's PINs it is.
public struct PINRequest {
    /// Which PIN of the card.
    public var reference: PINReference
    /// What the user gave.
    public var pin: PIN

    /// A PIN to be verified.
    public init(_ reference: PINReference, _ pin: PIN) {
        self.reference = reference
        self.pin = pin
    }
}
