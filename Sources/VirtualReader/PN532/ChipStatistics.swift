// SPDX-License-Identifier: Apache-2.0

/// What a simulated chip has counted since it was started.
public struct ChipStatistics: Hashable, Sendable {
    /// Host commands that were received whole.
    public var hostCommands = 0
    /// The same by command code.
    public var commandsByCode: [UInt8: Int] = [:]
    /// Frames that were sent to cards, with the chip's own retries.
    public var exchanges = 0
    /// Those of them that a card answered undamaged.
    public var answeredExchanges = 0
    /// Those of them that were FeliCa Read Without Encryption.
    public var readCommands = 0
    /// Those of them that the chip sent again by itself.
    public var retriedFrames = 0
    /// Bytes that came from the host.
    public var bytesFromHost = 0
    /// Bytes that went to the host.
    public var bytesToHost = 0
    /// Host frames with a wrong checksum.
    public var damagedFrames = 0
    /// Commands that the host gave up, by ACK or by another command.
    public var abortedCommands = 0
    /// The present speed of the chip's end of the serial line, in bits a second; not counted, but as it is now.
    public var bitsPerSecond = 115_200

    /// Whether the field is on; not counted, but as it is now.
    public var isFieldOn = false

    /// Nothing counted yet.
    public init() {}
}
