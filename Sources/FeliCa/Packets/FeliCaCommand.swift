// SPDX-License-Identifier: Apache-2.0

internal import ByteCodec
public import CardModel

/// A FeliCa command: what is sent, what comes back, and how long the card may take.
public protocol FeliCaCommand {
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
    public static var carriesIDm: Bool { true }

    /// Nothing to check.
    public func validate() throws(FeliCaError) {}

    /// No parameters.
    public var parameters: [UInt8] { [] }

    /// The whole packet with its LEN byte.
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

    /// Reads a whole answer and checks every byte of it.
    ///
    /// - Throws: ``FeliCaError/malformed(_:_:)``, ``FeliCaError/status(_:)``.
    public func response(from frame: [UInt8], idm: IDm) throws(FeliCaError) -> Response {
        var answer = try AnswerReader(frame, to: Self.code, from: Self.carriesIDm ? idm : nil)
        let response = try parse(&answer)
        try answer.expectEnd()
        return response
    }
}
