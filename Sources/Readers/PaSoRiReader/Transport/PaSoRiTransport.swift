// SPDX-License-Identifier: Apache-2.0

internal import ReaderCore
internal import USBTransport

/// Sends commands to a PaSoRi over its two USB endpoints and receives the answers, one at a time.
///
/// After an error that leaves the reader's next output unknown (a time-out, garbage) the command is aborted, pending
/// output is discarded, and the reader is sent a command that it must answer; only then is it used again, so no late
/// answer is taken for another command's. A killed program may have left a stale answer behind (nfcpy issue 54):
/// opening begins in the same way.
final class PaSoRiTransport<Framing: PaSoRiFraming> {
    private let usb: any USBLink
    private var framing: Framing
    private var parser = TransferParser<Framing.Message>()
    private var isSynchronized = false
    /// The number of recoveries so far: each may have lost the reader's settings.
    private(set) var resets = 0
    /// Why the reader can no longer be used.
    private(set) var lost: TransportError?

    private static var recoveryAttempts: Int { 3 }
    /// How long the reader must be quiet to count as having sent everything.
    private static var quietTime: Duration { .milliseconds(10) }
    /// The maximum number of transfers that are discarded before the expected one.
    private static var mostUnwanted: Int { 128 }
    private static var unresponsive: TransportError { .readerFailed(detail: .init(.invalidAnswers)) }

    init(_ usb: any USBLink, _ framing: Framing) {
        self.usb = usb
        self.framing = framing
    }

    /// Sends a command and returns its answer.
    ///
    /// - Parameter time: how long it may take beside the reader's own work.
    func run(_ command: [UInt8], within time: Duration = .zero) throws(TransportError) -> [UInt8] {
        if let lost { throw lost }
        if !isSynchronized { try synchronize() }
        do throws(PaSoRiError) {
            return try framing.exchange(command, over: self, within: time + Framing.commandTime)
        } catch {
            throw recover(from: error)
        }
    }

    /// Brings the reader to a state in which its next answer belongs to its next command.
    func synchronize() throws(TransportError) {
        var failure = PaSoRiError.damaged
        for _ in 0..<Self.recoveryAttempts {
            do throws(PaSoRiError) {
                try framing.abort(over: self)
                try drain()
                try framing.probe(over: self)
                isSynchronized = true
                return
            } catch {
                failure = error
                guard !error.isFinal else { break }
            }
        }
        if failure == .usb(.cancelled) { throw .cancelled }
        // It works, and may be free later.
        if failure == .busy { throw failure.transportError }
        lost = failure.isFinal ? failure.transportError : Self.unresponsive
        throw lost ?? Self.unresponsive
    }

    /// Sends the closing commands, which switch the field off, in any state; then releases the device.
    func close() {
        usb.ignoreCancellation()
        if lost == nil {
            for command in Framing.closingCommands { _ = try? run(command) }
            try? framing.abort(over: self)
        }
        lost = .closed
        usb.close()
    }

    private func recover(from failure: PaSoRiError) -> TransportError {
        guard failure.losesSynchronization else { return failure.transportError }
        isSynchronized = false
        resets &+= 1
        switch failure {
        // Recovery would take time that a cancelled caller does not want to spend; the next command or closing does it.
        case .usb(.cancelled): return .cancelled
        case .usb(.gone), .usb(.taken):
            lost = failure.transportError
            return failure.transportError
        default:
            do throws(TransportError) {
                try synchronize()
                return failure.transportError
            } catch {
                return error == .cancelled || error == .unplugged ? error : failure.readerError(else: error)
            }
        }
    }

    // MARK: Transfers

    /// Sends one transfer.
    func send(_ bytes: [UInt8]) throws(PaSoRiError) {
        do throws(USBError) {
            try usb.send(bytes, within: Framing.commandTime)
        } catch {
            throw .usb(error)
        }
    }

    /// Receives messages until one is the expected one.
    ///
    /// - Parameters:
    ///   - time: how long each transfer may take.
    ///   - total: how long all of them may take together; `time` if `nil`.
    ///   - wanted: makes the result of a message; `nil` for one that is discarded.
    @discardableResult
    func receive<Result>(
        within time: Duration, inAll total: Duration? = nil,
        where wanted: (Framing.Message) throws(PaSoRiError) -> Result?
    ) throws(PaSoRiError) -> Result {
        let deadline = ContinuousClock.now + (total ?? time)
        var transfers = 0
        while true {
            switch parser.next() {
            case .message(let message): if let result = try wanted(message) { return result }
            case .damaged: throw .damaged
            case .incomplete:
                guard transfers < Self.mostUnwanted else { throw .damaged }
                transfers += 1
                parser.feed(try receiveTransfer(within: max(.zero, min(time, deadline - .now))))
            }
        }
    }

    /// Discards unexpected output of the reader.
    private func drain() throws(PaSoRiError) {
        parser.reset()
        for _ in 0..<Self.mostUnwanted {
            do throws(PaSoRiError) {
                _ = try receiveTransfer(within: Self.quietTime)
            } catch {
                switch error {
                case .usb(.timedOut): return
                case .usb(.overflow), .usb(.stalled): continue
                default: throw error
                }
            }
        }
    }

    private func receiveTransfer(within time: Duration) throws(PaSoRiError) -> [UInt8] {
        do throws(USBError) {
            return try usb.receive(within: time)
        } catch {
            throw .usb(error)
        }
    }
}

/// The chip-specific part of the transport: how a command is framed, how its answer is recognized, and how a chip in an
/// unknown state is brought to answer.
protocol PaSoRiFraming {
    /// The chip's messages.
    associatedtype Message: TransferMessage

    /// How long a command may take beside the card's time.
    static var commandTime: Duration { get }

    /// The commands sent before closing, in any state.
    static var closingCommands: [[UInt8]] { get }

    /// Sends a command and receives its answer.
    ///
    /// - Parameter time: how long it may take.
    mutating func exchange(
        _ command: [UInt8], over transport: PaSoRiTransport<Self>, within time: Duration
    ) throws(PaSoRiError) -> [UInt8]

    /// Aborts the running command if the chip supports it.
    func abort(over transport: PaSoRiTransport<Self>) throws(PaSoRiError)

    /// Sends a command that the chip must answer in any state.
    mutating func probe(over transport: PaSoRiTransport<Self>) throws(PaSoRiError)
}

/// Why a command to a PaSoRi has no usable answer.
enum PaSoRiError: Error, Hashable, Sendable {
    /// A transfer failed.
    case usb(USBError)
    /// The received data is not a message, is not this command's answer, or exceeds the limit on unexpected data.
    case damaged
    /// The reader stays busy with something else.
    case busy
    /// The reader could not execute the command; CCID's error number.
    case refused(error: UInt8)

    /// Whether the link is dead for good.
    var isFinal: Bool { if case .usb(let error) = self { error.isFinal } else { false } }

    /// Whether the reader's next output is unknown.
    var losesSynchronization: Bool {
        switch self {
        case .usb, .damaged: true
        case .busy, .refused: false
        }
    }

    /// The error for callers that read cards, once the reader works again.
    var transportError: TransportError {
        switch self {
        case .usb(let error): error.transportError
        case .damaged: .corrupted(status: 0)
        case .busy: .readerUnavailable(reason: .busy, detail: .init(.working))
        case .refused(let error): .readerFailed(detail: .init(.commandRefused, "\(error)"))
        }
    }

    /// Returns the error when the reader does not work again: itself, or `other` where the reader was not at fault.
    func readerError(else other: TransportError) -> TransportError {
        transportError.isReaderError ? transportError : other
    }
}

/// A reader's message, as encoded in the bytes of its transfers.
protocol TransferMessage: Hashable, Sendable {
    /// Extracts the first message from bytes, of which there is at least one; total on any bytes.
    ///
    /// - Parameter bytes: the bytes received so far; changed only when a whole message is removed.
    static func take(from bytes: inout [UInt8]) -> TransferResult<Self>

    /// A message that is recognized only as a whole transfer; `nil` for all others.
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
