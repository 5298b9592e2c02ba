// SPDX-License-Identifier: Apache-2.0

internal import ByteCodec
public import CardModel
package import NFCTransport

/// A FeliCa command: its packet, its answer, and how long the card may take.
package protocol FeliCaCommand {
    /// The contents of a successful answer.
    associatedtype Response

    static var code: CommandCode { get }

    /// Whether command and answer carry the IDm of the system, as all but a few do.
    static var carriesIDm: Bool { get }

    /// Checks the arguments before anything is sent.
    ///
    /// - Throws: ``FeliCaError/invalidArgument(_:)``.
    func validate() throws(FeliCaError)

    /// The bytes after the command code, and after the IDm if there is one.
    var parameters: [UInt8] { get }

    /// Reads the bytes after the response code, and after the IDm if there is one.
    ///
    /// The caller checks that nothing is left.
    ///
    /// - Throws: ``FeliCaError/malformed(_:_:)``, ``FeliCaError/status(_:)``.
    func parse(_ answer: inout AnswerReader) throws(FeliCaError) -> Response

    /// Returns the longest time that a card with these response times may take.
    func maximumTime(_ times: ResponseTime) -> Duration
}

extension FeliCaCommand {
    /// `true`.
    package static var carriesIDm: Bool { true }

    /// Checks nothing.
    package func validate() throws(FeliCaError) {}

    package var parameters: [UInt8] { [] }

    /// Returns the complete packet with its LEN byte.
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

    /// Reads a complete answer and checks every byte of it.
    ///
    /// - Throws: ``FeliCaError/malformed(_:_:)``, ``FeliCaError/status(_:)``.
    package func response(from frame: [UInt8], idm: IDm) throws(FeliCaError) -> Response {
        var answer = try AnswerReader(frame, to: Self.code, from: Self.carriesIDm ? idm : nil)
        let response = try parse(&answer)
        try answer.expectEnd()
        return response
    }
}

/// A list of codes as commands carry it.
extension Array where Element: FourDigitCode {
    /// A count byte and the codes, each least significant byte first.
    var countedWireBytes: [UInt8] {
        var bytes = ByteWriter([UInt8(truncatingIfNeeded: count)])
        for code in self { bytes.write(code.rawValue, .little) }
        return bytes.bytes
    }

    /// Checks the number of entries.
    func validateCount(_ list: FeliCaError.ArgumentReason.List, _ allowed: ClosedRange<Int>) throws(FeliCaError) {
        guard allowed.contains(count) else {
            throw .invalidArgument(.count(list, count, allowed: allowed))
        }
    }
}

/// One system of the FeliCa card behind a channel; its methods are the commands in the manual.
///
/// Sending to the IDm of another system of the card switches the card to that system.
public struct FeliCaSystem {
    package let channel: any CardChannel
    /// The system's IDm, which every command carries and every answer must echo.
    public let idm: IDm
    /// The PMm, which determines how long the card may take.
    public let pmm: PMm
    /// The timeouts encoded in the PMm.
    package let times: ResponseTime
    /// Keeps the reader open that the card is on.
    private let owner: AnyObject?

    /// - Parameter owner: kept as long as this value.
    package init(channel: any CardChannel, idm: IDm, pmm: PMm, owner: AnyObject? = nil) {
        self.channel = channel
        self.idm = idm
        self.pmm = pmm
        times = ResponseTime(pmm)
        self.owner = owner
    }

    /// - Parameter owner: kept as long as this value.
    package init(channel: any CardChannel, target: FeliCaTarget, owner: AnyObject? = nil) {
        self.init(channel: channel, idm: target.idm, pmm: target.pmm, owner: owner)
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
    /// Performs one exchange and wraps its errors.
    func exchange(_ packet: [UInt8], timeout: Duration) throws(FeliCaError) -> [UInt8] {
        do {
            return try transceive(packet, timeout: timeout)
        } catch {
            throw .transport(error)
        }
    }
}
