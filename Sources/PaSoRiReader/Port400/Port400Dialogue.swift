// SPDX-License-Identifier: Apache-2.0

internal import NFCTransport
internal import USBTransport

/// Sends commands to a Port-400 and receives their answers.
typealias Port400Link = PaSoRiLink<Port400Dialogue>

/// The dialogue with a Port-400: each command has a number that its answer repeats, so a late answer is recognised and
/// discarded.
struct Port400Dialogue: PaSoRiDialogue {
    /// Lets time pass: the reader requires that when it is busy, and after the field was switched.
    typealias Pause = (Duration) -> Void

    private let pause: Pause
    private var sequence: UInt8 = 0

    /// The same as felica-rs.
    static let commandTime = Duration.milliseconds(1500)
    /// Switches the field off and ends the session.
    static let farewell = [Port400Command.manageSession(.fieldOff), Port400Command.manageSession(.end)]

    private static let busyPause = Duration.milliseconds(50)
    /// How many times a busy reader is asked again: for one second.
    private static let busyAttempts = 20

    init(pause: @escaping Pause) {
        self.pause = pause
    }

    /// Returns the answer's data with the status word.
    mutating func exchange(
        _ command: [UInt8], over wire: USBWire<Port400Message>, within time: Duration
    ) throws(PaSoRiError) -> [UInt8] {
        for _ in 0..<Self.busyAttempts {
            sequence &+= 1
            try wire.send(Port400Message.command(command, sequence: sequence))
            do throws(PaSoRiError) {
                return try answer(from: wire, within: time)
            } catch {
                guard error == .busy else { throw error }
                pause(Self.busyPause)
            }
        }
        throw .busy
    }

    private func answer(
        from wire: USBWire<Port400Message>, within time: Duration
    ) throws(PaSoRiError) -> [UInt8] {
        // Time that the reader asks for is for the card, whose limit the reader knows: it cannot need much more.
        try wire.first(within: time, inAll: time * 2) { message throws(PaSoRiError) in
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

    /// Returns the whole answer: the meaning of a status word depends on the command.
    static func result(of answer: [UInt8]) -> [UInt8] { answer }

    func interrupt(_ wire: USBWire<Port400Message>) {}

    mutating func greet(_ wire: USBWire<Port400Message>) throws(PaSoRiError) {
        _ = try exchange(Port400Command.firmwareVersion, over: wire, within: Self.commandTime)
    }
}
