// SPDX-License-Identifier: Apache-2.0

public import CardModel
public import NFCTransport

/// One system of the FeliCa card behind a channel; its methods are the commands of the manual.
///
/// Sending to an IDm of another system of the card switches the card to that system.
public struct FeliCaSystem {
    /// The way to the card.
    public let channel: any CardChannel
    /// The system's IDm, which every command carries and every answer must echo.
    public let idm: IDm
    /// The PMm, which says how long the card may take.
    public let pmm: PMm
    /// The time-outs that the PMm stands for.
    public let times: ResponseTime

    /// The system with this IDm.
    public init(channel: any CardChannel, idm: IDm, pmm: PMm) {
        self.channel = channel
        self.idm = idm
        self.pmm = pmm
        times = ResponseTime(pmm)
    }

    /// The system that answered a Polling.
    public init(channel: any CardChannel, target: FeliCaTarget) {
        self.init(channel: channel, idm: target.idm, pmm: target.pmm)
    }

    /// Sends a command once and reads its answer.
    ///
    /// - Throws: ``FeliCaError``.
    public func send<Command: FeliCaCommand>(_ command: Command) throws(FeliCaError) -> Command.Response {
        let packet = try command.packet(for: idm)
        let frame = try channel.exchange(packet, timeout: command.maximumTime(times))
        return try command.response(from: frame, idm: idm)
    }
}
