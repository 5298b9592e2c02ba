// SPDX-License-Identifier: Apache-2.0

internal import NFCTransport
internal import USBTransport

/// Commands to a PaSoRi and their answers, one at a time.
///
/// After anything that leaves open what the reader still has to say (a time-out, garbage) it is told to leave off, what
/// it has sent is thrown away, and it is asked something that it must answer; only then is it used again, so no late
/// answer is taken for another command's. A killed predecessor may have left a stale answer behind (nfcpy issue 54):
/// opening begins in the same way.
final class PaSoRiLink<Dialogue: PaSoRiDialogue> {
    private let usb: any USBLink
    private let wire: USBWire<Dialogue.Message>
    private var dialogue: Dialogue
    private var isInDoubt = true
    /// Counts how often the reader was brought back: what it was told before may be forgotten.
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

    /// Sends a command and returns what its answer holds.
    ///
    /// - Parameter time: how long it may take beside the reader's own work.
    /// - Throws: also what an answer means that says no.
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

    /// Brings the reader to a state in which its next answer is its next command's.
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
        // It is well, and may be free later.
        if trouble == .busy { throw trouble.transportError }
        lost = trouble.isFinal ? trouble.transportError : Self.mute
        throw lost ?? Self.mute
    }

    /// Says farewell, which switches the field off, whatever happened before; then the device is given back.
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
        // Bringing the reader back would take time that nobody wants to spend; the next command or closing does it.
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

/// What is a chip's own in the talk with it: how a command is put, how its answer is known, and how a chip that nobody
/// knows anything of is brought to answer.
protocol PaSoRiDialogue {
    /// What the chip says.
    associatedtype Message: TransferMessage

    /// How long a command may take beside what a card does.
    static var commandTime: Duration { get }

    /// What is said before closing, whatever happened before.
    static var farewell: [[UInt8]] { get }

    /// Sends a command and takes its answer.
    ///
    /// - Parameter time: how long it may take.
    mutating func exchange(
        _ command: [UInt8], over wire: USBWire<Message>, within time: Duration
    ) throws(PaSoRiError) -> [UInt8]

    /// What a caller gets of an answer.
    ///
    /// - Throws: what an answer means that says no.
    static func result(of answer: [UInt8]) throws(TransportError) -> [UInt8]

    /// Tells the chip to leave off what it is doing, where it can be told.
    func interrupt(_ wire: USBWire<Message>) throws(PaSoRiError)

    /// Asks something that the chip must answer.
    mutating func greet(_ wire: USBWire<Message>) throws(PaSoRiError)
}

/// What a reader says, as it lies in the bytes of its transfers.
protocol TransferMessage: Hashable, Sendable {
    /// Takes the first message from bytes, of which there is at least one; total on any bytes.
    ///
    /// - Parameter bytes: what came so far; changed only when a whole message is taken away.
    static func take(from bytes: inout [UInt8]) -> TransferResult<Self>

    /// A message that is known only by being a whole transfer; `nil` for all others.
    static func whole(_ transfer: [UInt8]) -> Self?
}

extension TransferMessage {
    /// None.
    static func whole(_ transfer: [UInt8]) -> Self? { nil }
}

/// Takes messages out of what a reader sends, a transfer at a time; total on any bytes.
struct TransferParser<Message: TransferMessage>: Sendable {
    private var bytes: [UInt8] = []
    private var whole: Message?

    /// Adds what came.
    mutating func feed(_ more: [UInt8]) {
        whole = bytes.isEmpty ? Message.whole(more) : nil
        if whole == nil { bytes += more }
    }

    /// Forgets what came.
    mutating func reset() {
        bytes = []
        whole = nil
    }

    /// Takes the next message.
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

/// What the bytes that came from a reader begin with.
enum TransferResult<Message: Hashable & Sendable>: Hashable, Sendable {
    /// A whole message, which is taken away.
    case message(Message)
    /// The beginning of a message, or nothing.
    case incomplete
    /// Something that is no message; everything is thrown away.
    case damaged
}
