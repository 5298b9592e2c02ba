// SPDX-License-Identifier: Apache-2.0

/// What a simulated USB reader has counted.
public struct USBChipStatistics: Hashable, Sendable {
    /// Bulk transfers from the host.
    public var transfersFromHost = 0
    /// Bulk transfers to the host; asking in vain is not counted.
    public var transfersToHost = 0
    /// Host commands that were received whole.
    public var hostCommands = 0
    /// The same by command code.
    public var commandsByCode: [UInt8: Int] = [:]
    /// Frames that were sent to cards.
    public var exchanges = 0
    /// Those of them that a card answered undamaged.
    public var answeredExchanges = 0
    /// Whether the field is on; not counted, but as it is now.
    public var isFieldOn = false
    /// What the host did that a real reader would not have taken, in words.
    public var complaints: [String] = []

    /// Nothing counted yet.
    public init() {}

    /// Bulk transfers of both directions.
    public var transfers: Int { transfersFromHost + transfersToHost }
}
