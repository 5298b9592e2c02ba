// SPDX-License-Identifier: Apache-2.0

internal import ByteCodec
public import CardModel
public import ReaderCore

/// A FeliCa command: its packet, its answer, and how long the card may take.
///
/// ``FeliCaSystem`` has a method for each command that Kazasu knows; conform to this for another one, and send it with
/// ``FeliCaSystem/send(_:)``.
public protocol FeliCaCommand {
    /// The contents of a successful answer.
    associatedtype Response

    /// The command's code; the answer's is one more, or the same for a code of two bytes.
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
    public static var carriesIDm: Bool { true }

    /// Checks nothing.
    public func validate() throws(FeliCaError) {}

    /// None.
    public var parameters: [UInt8] { [] }

    /// Returns the complete packet, 2 to 255 bytes with the LEN byte.
    ///
    /// - Throws: ``FeliCaError/invalidArgument(_:)``.
    public func packet(for idm: IDm) throws(FeliCaError) -> [UInt8] {
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
    /// - Parameters:
    ///   - frame: the answer with its LEN byte.
    ///   - idm: the IDm that the command was sent to.
    /// - Throws: ``FeliCaError/malformed(_:_:)``, ``FeliCaError/status(_:)``.
    public func response(from frame: [UInt8], idm: IDm) throws(FeliCaError) -> Response {
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
/// Each command is sent once, nothing is repeated (but by `read(_:)`, which finds the card's limit), and a card that does not answer is ``TransportError/noAnswer``.
/// Sending to the IDm of another system of the card switches the card to that system.
///
/// Sources of the commands: nfcpy, felica-tool, soltia48's unofficial user's manual.
public struct FeliCaSystem {
    package let channel: any CardChannel
    /// The system's IDm, which every command carries and every answer must echo.
    public let idm: IDm
    /// The PMm, which determines how long the card may take.
    public let pmm: PMm
    /// The longest response times, as encoded in the PMm.
    public let times: ResponseTime
    /// Keeps the reader open that the card is on.
    private let owner: AnyObject?

    /// Makes a system from its IDm and PMm, which the card gave earlier; nothing is sent.
    ///
    /// - Parameters:
    ///   - channel: carries the commands, such as a ``Reader`` on which the card is selected.
    ///   - idm: the IDm of the system.
    ///   - pmm: the PMm; it gives the time-outs of all commands.
    ///   - owner: what closes the channel when it is deallocated; kept as long as this value.
    public init(channel: any CardChannel, idm: IDm, pmm: PMm, owner: AnyObject? = nil) {
        self.channel = channel
        self.idm = idm
        self.pmm = pmm
        times = ResponseTime(pmm)
        self.owner = owner
    }

    /// Makes a system from a card's answer to a Polling; nothing is sent.
    ///
    /// ```swift
    /// if let target = try reader.activateFeliCa(systems: [.commonArea, .transit]) {
    ///     print(try FeliCaSystem(channel: reader, target: target).requestSystemCode())
    /// }
    /// ```
    ///
    /// - Parameters:
    ///   - channel: carries the commands, such as the ``Reader`` that polled.
    ///   - target: the answer.
    ///   - owner: what closes the channel when it is deallocated; kept as long as this value.
    public init(channel: any CardChannel, target: FeliCaTarget, owner: AnyObject? = nil) {
        self.init(channel: channel, idm: target.idm, pmm: target.pmm, owner: owner)
    }

    /// Sends a command once and reads its answer: one of your own, for which there is no method here.
    ///
    /// ```swift
    /// struct GetContainerID: FeliCaCommand {
    ///     static let code = CommandCode(rawValue: 0x70)
    ///     static let carriesIDm = false
    ///     let parameters: [UInt8] = [0, 0]
    ///     func parse(_ answer: inout AnswerReader) throws(FeliCaError) -> [UInt8] { answer.rest() }
    ///     func maximumTime(_ times: ResponseTime) -> Duration { times.maximum(.other) }
    /// }
    /// ```
    ///
    /// - Throws: ``FeliCaError``.
    public func send<Command: FeliCaCommand>(_ command: Command) throws(FeliCaError) -> Command.Response {
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
