// SPDX-License-Identifier: Apache-2.0

internal import ByteCodec
package import CardModel
package import NFCTransport

/// A FeliCa command: what is sent, what comes back, and how long the card may take.
package protocol FeliCaCommand {
    /// What a good answer says.
    associatedtype Response

    /// The command code.
    static var code: CommandCode { get }

    /// Whether command and answer carry the IDm of the system; all but a few do.
    static var carriesIDm: Bool { get }

    /// Checks the arguments before anything is sent.
    ///
    /// - Throws: ``FeliCaError/invalidArgument(_:)``.
    func validate() throws(FeliCaError)

    /// What follows the command code, and the IDm where there is one.
    var parameters: [UInt8] { get }

    /// Reads what follows the response code, and the IDm where there is one. The caller checks that nothing is left.
    ///
    /// - Throws: ``FeliCaError/malformed(_:_:)``, ``FeliCaError/status(_:)``.
    func parse(_ answer: inout AnswerReader) throws(FeliCaError) -> Response

    /// The longest time that a card with these response times may take.
    func maximumTime(_ times: ResponseTime) -> Duration
}

extension FeliCaCommand {
    /// `true`.
    package static var carriesIDm: Bool { true }

    /// Nothing to check.
    package func validate() throws(FeliCaError) {}

    /// No parameters.
    package var parameters: [UInt8] { [] }

    /// The whole packet with its LEN byte.
    ///
    /// - Throws: ``FeliCaError/invalidArgument(_:)``.
    package func packet(for idm: IDm) throws(FeliCaError) -> [UInt8] {
        try validate()
        var packet = ByteWriter([0])
        packet.write(Self.code.bytes)
        if Self.carriesIDm { packet.write(idm.rawValue, .big) }
        packet.write(parameters)
        var bytes = packet.bytes
        guard let length = UInt8(exactly: bytes.count) else {
            throw .invalidArgument(.packetTooLong(bytes.count))
        }
        bytes[0] = length
        return bytes
    }

    /// Reads a whole answer and checks every byte of it.
    ///
    /// - Throws: ``FeliCaError/malformed(_:_:)``, ``FeliCaError/status(_:)``.
    package func response(from frame: [UInt8], idm: IDm) throws(FeliCaError) -> Response {
        var answer = try AnswerReader(frame, to: Self.code, from: Self.carriesIDm ? idm : nil)
        let response = try parse(&answer)
        try answer.expectEnd()
        return response
    }
}

/// One system of the FeliCa card behind a channel; its methods are the commands of the manual.
///
/// Sending to an IDm of another system of the card switches the card to that system.
package struct FeliCaSystem {
    /// The way to the card.
    package let channel: any CardChannel
    /// The system's IDm, which every command carries and every answer must echo.
    package let idm: IDm
    /// The PMm, which says how long the card may take.
    package let pmm: PMm
    /// The time-outs that the PMm stands for.
    package let times: ResponseTime

    /// The system with this IDm.
    package init(channel: any CardChannel, idm: IDm, pmm: PMm) {
        self.channel = channel
        self.idm = idm
        self.pmm = pmm
        times = ResponseTime(pmm)
    }

    /// The system that answered a Polling.
    package init(channel: any CardChannel, target: FeliCaTarget) {
        self.init(channel: channel, idm: target.idm, pmm: target.pmm)
    }

    /// Sends a command once and reads its answer.
    ///
    /// - Throws: ``FeliCaError``.
    package func send<Command: FeliCaCommand>(_ command: Command) throws(FeliCaError) -> Command.Response {
        let packet = try command.packet(for: idm)
        let frame = try channel.exchange(packet, timeout: command.maximumTime(times))
        return try command.response(from: frame, idm: idm)
    }
}

extension CardChannel {
    /// Looks for a card that has a system, with one Polling packet.
    ///
    /// - Parameters:
    ///   - systemCode: the system; `FF` in either byte stands for any value of that byte.
    ///   - requestCode: what the card is to tell beside IDm and PMm.
    ///   - timeSlots: in how many slots cards may answer.
    /// - Throws: ``FeliCaError``; no card is ``FeliCaError/transport(_:)`` with `noAnswer`.
    package func polling(
        _ systemCode: SystemCode, requestCode: PollingRequestCode = .none, timeSlots: TimeSlots = .one
    ) throws(FeliCaError) -> PollingResponse {
        let command = Polling(systemCode, requestCode: requestCode, timeSlots: timeSlots)
        // Polling carries no IDm; the packet and its answer do not depend on this one.
        let nobody = IDm(rawValue: 0)
        let frame = try exchange(command.packet(for: nobody), timeout: command.window)
        return try command.response(from: frame, idm: nobody)
    }

    /// One exchange with its errors wrapped.
    func exchange(_ packet: [UInt8], timeout: Duration) throws(FeliCaError) -> [UInt8] {
        do {
            return try transceive(packet, timeout: timeout)
        } catch {
            throw .transport(error)
        }
    }
}
