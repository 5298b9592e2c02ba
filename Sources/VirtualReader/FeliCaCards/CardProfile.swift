// SPDX-License-Identifier: Apache-2.0

public import NFCTransport

/// The limits and oddities of a virtual card.
///
/// Kept apart from what is on the card, so that the same dump can be served by a card that is awkward in any way.
public struct CardProfile: Hashable, Sendable {
    /// The commands that it answers; all others meet silence.
    public var commands: Set<CommandCode>
    /// The commands that meet silence when bytes follow after the last parameter.
    public var strictCommands: Set<CommandCode> = []
    /// How many blocks Read Without Encryption may ask for, 1 to 15: more do not fit into an answer.
    public var blocksPerRead = 15
    /// How many blocks Write Without Encryption may carry, 1 to 13.
    public var blocksPerWrite = 13
    /// How status flag 1 names a place in a list.
    public var statusStyle = StatusStyle.ordinal
    /// Status flag 2 when more blocks are asked for than allowed: A2, on some cards A1.
    public var overLimitStatus: UInt8 = 0xA2
    /// Status flag 2 for a service that needs a key or allows no writing: A5, on some cards A4.
    public var refusalStatus: UInt8 = 0xA5
    /// The speeds at which it hears anything.
    public var bitRates: Set<FeliCaBitRate> = [.kbps212, .kbps424]
    /// The request codes of a Polling to which it adds two bytes of data; without 0, which never gets any.
    public var requestCodes: Set<UInt8> = [1, 2]
    /// Whether Request Service meets silence when any node has an attribute that FeliCa Standard does not know
    /// (IC 24; the PIN variants of phones, and codes that are no node at all).
    public var knowsStandardAttributesOnly = false
    /// The most bytes that Echo gives back.
    public var echoLimit = 252
    /// The byte of Request Service v2 that says which keys the nodes have: 4F AES; 41 and 43 AES and DES; 2F and 3F DES.
    public var encryption: UInt8 = 0x4F
    /// How long it thinks, in hundredths of the longest time that its PMm allows.
    public var answerTimePercent = 10
    /// For how long it hears nothing after it got power; real cards need up to 20 ms (FeliCa user's manual, 2.4.1).
    public var startupTime = Duration.zero
    /// What it tells about itself.
    public var product = ProductData()

    /// A card without limits other than those of the packet.
    ///
    /// - Parameter commands: what it answers.
    public init(commands: Set<CommandCode> = Set(CommandCode.allCases)) {
        self.commands = commands
    }
}
