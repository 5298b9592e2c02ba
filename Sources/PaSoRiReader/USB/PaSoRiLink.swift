// SPDX-License-Identifier: Apache-2.0

internal import NFCTransport
internal import USBTransport

/// Sends commands to a PaSoRi and receives their answers, one at a time.
///
/// After an error that leaves the reader's next output unknown (a time-out, garbage) it is told to abort, its output is
/// discarded, and it is sent a query that it must answer; only then is it used again, so no late answer is taken for
/// another command's. A killed program may have left a stale answer behind (nfcpy issue 54): opening begins in the same
/// way.
final class PaSoRiLink<Dialogue: PaSoRiDialogue> {
    private let usb: any USBLink
    private let wire: USBWire<Dialogue.Message>
    private var dialogue: Dialogue
    private var isInDoubt = true
    /// The number of times the reader was brought back: its earlier settings may be lost.
    private(set) var resets = 0
    /// Why the reader can no longer be used.
    private(set) var lost: TransportError?

    private static var recoveryAttempts: Int { 3 }
    private static var mute: TransportError { .readerFailed(detail: .init(.invalidAnswers)) }

    init(_ usb: any USBLink, _ dialogue: Dialogue) {
        self.usb = usb
        self.dialogue = dialogue
        wire = USBWire(usb, sendTime: Dialogue.commandTime)
    }

    /// Sends a command and returns the content of its answer.
    ///
    /// - Parameter time: how long it may take beside the reader's own work.
    /// - Throws: also the error in a negative answer.
    func run(_ command: [UInt8], within time: Duration = .zero) throws(TransportError) -> [UInt8] {
        if let lost { throw lost }
        if isInDoubt { try synchronise() }
        let answer: [UInt8]
        do throws(PaSoRiError) {
            answer = try dialogue.exchange(command, over: wire, within: time + Dialogue.commandTime)
        } catch {
            throw recover(from: error)
        }
        return try Dialogue.result(of: answer)
    }

    /// Brings the reader to a state in which its next answer belongs to its next command.
    func synchronise() throws(TransportError) {
        var trouble = PaSoRiError.damaged
        for _ in 0..<Self.recoveryAttempts {
            do throws(PaSoRiError) {
                try dialogue.interrupt(wire)
                try wire.drain()
                try dialogue.greet(wire)
                isInDoubt = false
                return
            } catch {
                trouble = error
                guard !error.isFinal else { break }
            }
        }
        if trouble == .usb(.cancelled) { throw .cancelled }
        // It works, and may be free later.
        if trouble == .busy { throw trouble.transportError }
        lost = trouble.isFinal ? trouble.transportError : Self.mute
        throw lost ?? Self.mute
    }

    /// Sends the farewell, which switches the field off, in any state; then the device is released.
    func close() {
        usb.ignoreCancellation()
        if lost == nil {
            for command in Dialogue.farewell { _ = try? run(command) }
            try? dialogue.interrupt(wire)
        }
        lost = .closed
        usb.close()
    }

    private func recover(from trouble: PaSoRiError) -> TransportError {
        guard trouble.leavesDoubt else { return trouble.transportError }
        isInDoubt = true
        resets &+= 1
        switch trouble {
        // Recovery would take time that a cancelled caller does not want to spend; the next command or closing does it.
        case .usb(.cancelled): return .cancelled
        case .usb(.gone):
            lost = .unplugged
            return .unplugged
        default:
            do throws(TransportError) {
                try synchronise()
                return trouble.transportError
            } catch {
                return error == .cancelled || error == .unplugged ? error : trouble.fault(else: error)
            }
        }
    }
}

/// The chip-specific part of the communication: how a command is sent, how its answer is recognised, and how a chip in
/// an unknown state is brought to answer.
protocol PaSoRiDialogue {
    /// The chip's messages.
    associatedtype Message: TransferMessage

    /// How long a command may take beside the card's time.
    static var commandTime: Duration { get }

    /// The commands sent before closing, in any state.
    static var farewell: [[UInt8]] { get }

    /// Sends a command and receives its answer.
    ///
    /// - Parameter time: how long it may take.
    mutating func exchange(
        _ command: [UInt8], over wire: USBWire<Message>, within time: Duration
    ) throws(PaSoRiError) -> [UInt8]

    /// The part of an answer that the caller gets.
    ///
    /// - Throws: the error in a negative answer.
    static func result(of answer: [UInt8]) throws(TransportError) -> [UInt8]

    /// Tells the chip to abort its current work, where that is supported.
    func interrupt(_ wire: USBWire<Message>) throws(PaSoRiError)

    /// Sends a query that the chip must answer.
    mutating func greet(_ wire: USBWire<Message>) throws(PaSoRiError)
}

/// A reader's message, as encoded in the bytes of its transfers.
protocol TransferMessage: Hashable, Sendable {
    /// Extracts the first message from bytes, of which there is at least one; total on any bytes.
    ///
    /// - Parameter bytes: the bytes received so far; changed only when a whole message is removed.
    static func take(from bytes: inout [UInt8]) -> TransferResult<Self>

    /// A message that is recognised only as a whole transfer; `nil` for all others.
    static func whole(_ transfer: [UInt8]) -> Self?
}

extension TransferMessage {
    /// Returns `nil`.
    static func whole(_ transfer: [UInt8]) -> Self? { nil }
}

/// Extracts messages from a reader's output, one transfer at a time; total on any bytes.
struct TransferParser<Message: TransferMessage>: Sendable {
    private var bytes: [UInt8] = []
    private var whole: Message?

    /// Adds received bytes.
    mutating func feed(_ more: [UInt8]) {
        whole = bytes.isEmpty ? Message.whole(more) : nil
        if whole == nil { bytes += more }
    }

    /// Discards all received bytes.
    mutating func reset() {
        bytes = []
        whole = nil
    }

    /// Extracts the next message.
    mutating func next() -> TransferResult<Message> {
        if let message = whole {
            whole = nil
            return .message(message)
        }
        if bytes.isEmpty { return .incomplete }
        let outcome = Message.take(from: &bytes)
        if outcome == .damaged { reset() }
        return outcome
    }
}

/// The beginning of the bytes received from a reader.
enum TransferResult<Message: Hashable & Sendable>: Hashable, Sendable {
    /// A whole message, which is removed.
    case message(Message)
    /// The beginning of a message, or nothing.
    case incomplete
    /// Something that is not a message; everything is discarded.
    case damaged
}
