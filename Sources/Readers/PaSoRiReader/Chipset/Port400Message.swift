// SPDX-License-Identifier: Apache-2.0

internal import ByteCodec

/// A message on the USB between a Port-400 and its host: a CCID escape message on the vendor's own interface.
///
/// To the reader `6B LEN slot seq 00 00 00` and LEN bytes, from it `83 LEN slot seq status error 00` and LEN bytes; LEN
/// is four bytes, little-endian. Sources: felica-rs's `port400/pcsc.rs`, pasorich's `s300-driver.js`, CCID 1.10.
struct Port400Message: Hashable, Sendable {
    /// The outcome of a command.
    enum Status: Hashable, Sendable {
        /// The command is done.
        case done
        /// The slot is busy with something else: try again later.
        case busy
        /// The command needs more time; another message follows.
        case moreTime
        /// The command failed, with CCID's error number.
        case failed(error: UInt8)
    }

    /// The command's number, which its answer repeats.
    let sequence: UInt8
    let status: Status
    let data: [UInt8]

    /// The first byte of an answer.
    static let answerType: UInt8 = 0x83
    private static let commandType: UInt8 = 0x6B
    private static let slotBusy: UInt8 = 0xE0

    /// Encodes a command.
    static func command(_ data: [UInt8], sequence: UInt8) -> [UInt8] {
        var writer = ByteWriter([commandType])
        writer.write(UInt32(truncatingIfNeeded: data.count), .little)
        return writer.bytes + [0x00, sequence, 0x00, 0x00, 0x00] + data
    }

    init(sequence: UInt8, status: UInt8, error: UInt8, data: [UInt8]) {
        self.sequence = sequence
        self.data = data
        // The two upper bits are the outcome of the command; the others, the state of the slot.
        self.status =
            switch status >> 6 {
            case 0: .done
            case 2: .moreTime
            case 1 where error == Self.slotBusy: .busy
            default: .failed(error: error)
            }
    }
}

/// Extracts messages from a reader's output; total on any bytes.
typealias Port400MessageParser = TransferParser<Port400Message>

extension Port400Message: TransferMessage {
    /// Longer than any answer: the reader's longest message is 522 bytes.
    private static let longestData = 2048

    static func take(from bytes: inout [UInt8]) -> TransferResult<Port400Message> {
        var reader = ByteReader(bytes)
        guard let type = try? reader.readUInt8() else { return .incomplete }
        guard type == answerType else { return .damaged }
        guard let length = try? reader.readUInt32(.little) else { return .incomplete }
        guard length <= UInt32(longestData) else { return .damaged }
        guard let rest = try? reader.readBytes(5), let data = try? reader.readBytes(Int(length)) else {
            return .incomplete
        }
        let header = Array(rest)
        guard header.count == 5 else { return .damaged }
        let message = Port400Message(sequence: header[1], status: header[2], error: header[3], data: Array(data))
        bytes.removeFirst(reader.offset)
        return .message(message)
    }
}

/// The framing of a Port-400: each command has a number that its answer repeats, so a late answer is recognized and
/// discarded.
struct Port400Framing: PaSoRiFraming {
    typealias Message = Port400Message

    /// Lets time pass: the reader requires that when it is busy, and after the field was switched.
    typealias Pause = (Duration) -> Void

    private let pause: Pause
    private var sequence: UInt8 = 0

    /// felica-rs's figure.
    static let commandTime = Duration.milliseconds(1500)
    /// Switches the field off and ends the session.
    static let closingCommands = [Port400Command.manageSession(.fieldOff), Port400Command.manageSession(.end)]

    private static let busyPause = Duration.milliseconds(50)
    /// How many times a busy reader is asked again: for one second.
    private static let busyAttempts = 20

    init(pause: @escaping Pause) {
        self.pause = pause
    }

    /// Returns the answer's data with the status word, whose meaning depends on the command.
    mutating func exchange(
        _ command: [UInt8], over transport: PaSoRiTransport<Self>, within time: Duration
    ) throws(PaSoRiError) -> [UInt8] {
        for _ in 0..<Self.busyAttempts {
            sequence &+= 1
            try transport.send(Port400Message.command(command, sequence: sequence))
            do throws(PaSoRiError) {
                return try answer(over: transport, within: time)
            } catch {
                guard error == .busy else { throw error }
                pause(Self.busyPause)
            }
        }
        throw .busy
    }

    private func answer(
        over transport: PaSoRiTransport<Self>, within time: Duration
    ) throws(PaSoRiError) -> [UInt8] {
        // Time that the reader asks for is for the card, whose limit the reader knows: it cannot need much more.
        try transport.receive(within: time, inAll: time * 2) { message throws(PaSoRiError) in
            // The answer to an older command.
            guard message.sequence == sequence else { return nil }
            switch message.status {
            case .done: return message.data
            case .busy: throw .busy
            case .moreTime: return nil
            case .failed(let error): throw .refused(error: error)
            }
        }
    }

    /// Does nothing: no command for it is known.
    func abort(over transport: PaSoRiTransport<Self>) {}

    mutating func probe(over transport: PaSoRiTransport<Self>) throws(PaSoRiError) {
        _ = try exchange(Port400Command.firmwareVersion, over: transport, within: Self.commandTime)
    }
}
