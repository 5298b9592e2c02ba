// SPDX-License-Identifier: Apache-2.0

/// A card in a simulated field; it sees frames as a real card does, without preamble, sync code and CRC.
///
/// A field is used from the reader's thread and looked at from others, so cards guard what they remember.
public protocol VirtualCard: AnyObject, Sendable {
    /// What the card does with a frame; `nil` when it keeps silent, as to every frame of a technology that is not its
    /// own.
    ///
    /// - Parameter frame: it may hold anything: cards never trap.
    func answer(_ frame: RadioFrame) -> CardAnswer?

    /// The same for cards to which it matters since when they have power.
    func answer(_ frame: RadioFrame, _ power: CardPower) -> CardAnswer?

    /// For how long it hears nothing after it got power.
    var startupTime: Duration { get }

    /// The field was switched off, or the card was taken away: what is only kept under power is lost.
    func losePower()

    /// The command APDU that this frame would complete for this card if it were sent now, being its last or only
    /// I-block; else `nil`.
    func apdu(completedBy frame: RadioFrame) -> [UInt8]?

    /// The response APDU to the command that is completed next is changed in this way before it is cut into blocks.
    func changeNextResponse(_ fault: Fault)
}

extension VirtualCard {
    /// The same whenever it got power.
    public func answer(_ frame: RadioFrame, _ power: CardPower) -> CardAnswer? { answer(frame) }

    /// At once.
    public var startupTime: Duration { .zero }

    /// Cards without ISO-DEP get no APDUs.
    public func apdu(completedBy frame: RadioFrame) -> [UInt8]? { nil }

    /// Cards without ISO-DEP give no response APDUs.
    public func changeNextResponse(_ fault: Fault) {}
}
