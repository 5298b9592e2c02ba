// SPDX-License-Identifier: Apache-2.0

internal import NFCTransport

/// What is a chip's own in the talk with it: how a command is put, how its answer is known, and how a chip that nobody
/// knows anything of is brought to answer.
protocol PaSoRiDialogue {
    /// What the chip says.
    associatedtype Message: TransferMessage

    /// How long a command may take beside what a card does.
    static var commandTime: Duration { get }

    /// What is said before closing, whatever happened before.
    static var farewell: [[UInt8]] { get }

    /// Sends a command and takes its answer.
    ///
    /// - Parameter time: how long it may take.
    mutating func exchange(
        _ command: [UInt8], over wire: USBWire<Message>, within time: Duration
    ) throws(USBTrouble) -> [UInt8]

    /// What a caller gets of an answer.
    ///
    /// - Throws: what an answer means that says no.
    static func result(of answer: [UInt8]) throws(TransportError) -> [UInt8]

    /// Tells the chip to leave off what it is doing, where it can be told.
    func interrupt(_ wire: USBWire<Message>) throws(USBTrouble)

    /// Asks something that the chip must answer.
    mutating func greet(_ wire: USBWire<Message>) throws(USBTrouble)
}
