// SPDX-License-Identifier: Apache-2.0

internal import ByteCodec

/// A frame between an RC-S320 or RC-S310 and its host.
///
/// `00 00 FF LEN LCS data DCS 00`: LEN is one byte; LCS makes the sum with LEN zero, DCS that of the data. Sources:
/// libpafe's `pasori_command.c`, felica-rs's `rcs320`, pasorich.
enum RCS320Frame: Hashable, Sendable {
    /// The reader has received the command.
    case acknowledge
    /// The reader could not execute the command.
    case error
    /// A command or an answer, whose code is one more than the command's.
    case data([UInt8])

    /// The bytes of ``acknowledge``.
    static let acknowledgeBytes: [UInt8] = [0x00, 0x00, 0xFF, 0x00, 0xFF, 0x00]
    /// The most bytes of data; there is no longer kind of frame.
    static let longestData = 248

    private static let start: [UInt8] = [0x00, 0x00, 0xFF]
    private static let errorCode: UInt8 = 0x7F

    /// The frame around data of 1 to 248 bytes.
    static func encode(_ data: [UInt8]) -> [UInt8] {
        let length = UInt8(truncatingIfNeeded: data.count)
        return start + [length, 0 &- length] + data + [0 &- data.reduce(0, &+), 0x00]
    }
}

extension RCS320Frame: TransferMessage {
    static func take(from bytes: inout [UInt8]) -> TransferResult<RCS320Frame> {
        guard bytes.starts(with: start) else { return start.starts(with: bytes) ? .incomplete : .damaged }
        var reader = ByteReader(bytes.dropFirst(start.count))
        guard let length = try? reader.readUInt8(), let lengthCheck = try? reader.readUInt8() else {
            return .incomplete
        }
        if length == 0, lengthCheck == 0xFF {
            guard let end = try? reader.readUInt8() else { return .incomplete }
            guard end == 0x00 else { return .damaged }
            bytes.removeFirst(acknowledgeBytes.count)
            return .message(.acknowledge)
        }
        guard length > 0, length &+ lengthCheck == 0 else { return .damaged }
        guard let content = try? reader.readBytes(Int(length)), let check = try? reader.readUInt8(),
            let end = try? reader.readUInt8()
        else { return .incomplete }
        let data = Array(content)
        guard data.reduce(0, &+) &+ check == 0, end == 0x00 else { return .damaged }
        bytes.removeFirst(start.count + 2 + data.count + 2)
        return .message(data.first == errorCode ? .error : .data(data))
    }
}

/// The framing of an RC-S320: each command is acknowledged before it is answered. Nothing aborts a command.
struct RCS320Framing: PaSoRiFraming {
    typealias Message = RCS320Frame

    /// libpafe waits 1 s for any answer, pasorich 500 ms; what an empty field costs is not known.
    static let commandTime = Duration.milliseconds(500)

    /// The reset with which libpafe begins and ends.
    static let closingCommands: [[UInt8]] = [RCS320Command.reset]

    /// Whether the reader has answered without an acknowledgement, as felica-rs takes it.
    private var omitsAcknowledge = false

    /// Returns the bytes after the answer's code.
    mutating func exchange(
        _ command: [UInt8], over transport: PaSoRiTransport<Self>, within time: Duration
    ) throws(PaSoRiError) -> [UInt8] {
        try transport.send(RCS320Frame.encode(command))
        // Anything before the acknowledgement is older than the command.
        if !omitsAcknowledge { try transport.receive(within: Self.commandTime) { $0 == .acknowledge ? true : nil } }
        return try Self.answer(to: command, over: transport, within: time)
    }

    private static func answer(
        to command: [UInt8], over transport: PaSoRiTransport<Self>, within time: Duration
    ) throws(PaSoRiError) -> [UInt8] {
        try transport.receive(within: time) { frame throws(PaSoRiError) in
            switch frame {
            // A redundant one.
            case .acknowledge: return nil
            case .error: throw .refused(error: 0x7F)
            case .data(let data):
                guard let code = command.first, data.first == code &+ 1 else { throw .damaged }
                return Array(data.dropFirst())
            }
        }
    }

    func abort(over transport: PaSoRiTransport<Self>) {}

    /// Asks for the version, which changes nothing; a reader that does not know the command answers all the same.
    ///
    /// What the reader had to say before was discarded: an answer without an acknowledgement shows that there are none.
    mutating func probe(over transport: PaSoRiTransport<Self>) throws(PaSoRiError) {
        let command = RCS320Command.version
        try transport.send(RCS320Frame.encode(command))
        let first = try transport.receive(within: Self.commandTime) { $0 }
        omitsAcknowledge = first != .acknowledge
        if first == .error { return }
        if case .data(let data) = first {
            guard data.first == command[0] &+ 1 else { throw .damaged }
            return
        }
        do throws(PaSoRiError) {
            _ = try Self.answer(to: command, over: transport, within: Self.commandTime)
        } catch {
            guard case .refused = error else { throw error }
        }
    }
}

/// The commands of an RC-S320, with the code that an answer has one more than.
///
/// Bytes: libpafe, felica-rs and pasorich; what the registers are is published nowhere.
enum RCS320Command {
    static let reset: [UInt8] = [0x54]
    /// The firmware's version: minor, then major; 28 01 is 1.28.
    static let version: [UInt8] = [0x58]
    /// Reads and sets registers, then switches the field on.
    static let start: [[UInt8]] = [
        [0x62, 0x01, 0x82], [0x62, 0x02, 0x80, 0x81], [0x62, 0x22, 0x80, 0xCC, 0x81, 0x88], [0x62, 0x02, 0x80, 0x81],
        [0x62, 0x02, 0x82, 0x87], [0x62, 0x21, 0x25, 0x58], [0x5A, 0x80],
    ]

    /// Sends a FeliCa packet, which begins with its LEN.
    static func exchange(_ packet: [UInt8]) -> [UInt8] { [0x5C] + packet }
}
