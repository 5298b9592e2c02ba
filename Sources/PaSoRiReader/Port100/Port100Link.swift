// SPDX-License-Identifier: Apache-2.0

internal import NFCTransport

/// Commands to a Port-100 and their answers, one at a time.
///
/// After anything that leaves open what the reader still has to say (a time-out, garbage, an error frame) the command
/// that the reader works on is given up, what it has sent is thrown away, and it is asked something that it must
/// answer; only then is it used again, so no late answer is taken for another command's. A killed predecessor may have
/// left a stale answer behind (nfcpy issue 54): opening begins in the same way.
final class Port100Link {
    private let usb: any USBLink
    private var parser = Port100FrameParser()
    private var isInDoubt = true
    /// Counts how often the reader was brought back: what it was told before is forgotten.
    private(set) var resets = 0
    /// Why the reader can no longer be used.
    private(set) var lost: TransportError?

    /// How long a command may take beside what a card does.
    private static let commandTime = Duration.seconds(1)
    /// How long the reader may be quiet until it is taken to have said everything.
    private static let quietTime = Duration.milliseconds(10)
    private static let recoveryAttempts = 3
    /// How many transfers are thrown away, at most, for one that is wanted.
    private static let mostStale = 64

    init(_ usb: any USBLink) {
        self.usb = usb
    }

    /// Sends a command and returns what follows the answer's code.
    ///
    /// - Parameter time: how long it may take beside the reader's own work.
    func run(
        _ command: Port100Command, _ parameters: [UInt8], within time: Duration = .zero
    ) throws(TransportError) -> [UInt8] {
        if let lost { throw lost }
        if isInDoubt { try synchronise() }
        do throws(Port100Trouble) {
            return try exchange(command, parameters, within: time + Self.commandTime)
        } catch {
            throw recover(from: error)
        }
    }

    /// Brings the reader to a state in which its next answer is its next command's.
    func synchronise() throws(TransportError) {
        var trouble = Port100Trouble.damaged
        for _ in 0..<Self.recoveryAttempts {
            do throws(Port100Trouble) {
                try send(Port100Frame.acknowledgeBytes)
                try drain()
                guard try exchange(.setCommandType, [0x01], within: Self.commandTime) == [0x00] else { continue }
                isInDoubt = false
                return
            } catch {
                trouble = error
                guard !error.isFinal else { break }
            }
        }
        if trouble == .usb(.cancelled) { throw .cancelled }
        lost = trouble.isFinal ? trouble.transportError : Self.mute
        throw lost ?? Self.mute
    }

    /// The field off, whatever happened before; then the device is given back.
    func close() {
        usb.ignoreCancellation()
        if lost == nil {
            _ = try? run(.switchRF, [0x00])
            // Ends whatever the reader still does.
            try? send(Port100Frame.acknowledgeBytes)
        }
        lost = .readerUnavailable(reason: .absent, detail: "the reader was closed")
        usb.close()
    }

    private static let mute = TransportError.readerFailed(detail: "the reader gives no valid answer any more")

    private func recover(from trouble: Port100Trouble) -> TransportError {
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

    private func exchange(
        _ command: Port100Command, _ parameters: [UInt8], within time: Duration
    ) throws(Port100Trouble) -> [UInt8] {
        try send(Port100Frame.encode([0xD6, command.rawValue] + parameters))
        // What comes before the acknowledgement is older than the command.
        try wait(within: Self.commandTime) { $0 == .acknowledge ? true : nil }
        return try wait(within: time) { frame throws(Port100Trouble) in
            switch frame {
            // One too many.
            case .acknowledge: return nil
            case .error: throw .refused
            case .data(let data):
                guard data.count >= 2, data[0] == 0xD7, data[1] == command.rawValue &+ 1 else { throw .damaged }
                return Array(data.dropFirst(2))
            }
        }
    }

    /// Takes frames until one is what is wanted.
    @discardableResult
    private func wait<Result>(
        within time: Duration, for wanted: (Port100Frame) throws(Port100Trouble) -> Result?
    ) throws(Port100Trouble) -> Result {
        var transfers = 0
        while true {
            switch parser.next() {
            case .frame(let frame): if let result = try wanted(frame) { return result }
            case .damaged: throw .damaged
            case .incomplete:
                guard transfers < Self.mostStale else { throw .damaged }
                transfers += 1
                parser.feed(try receive(within: time))
            }
        }
    }

    /// Throws away what the reader has sent and nobody wants.
    private func drain() throws(Port100Trouble) {
        for _ in 0..<Self.mostStale {
            do throws(Port100Trouble) {
                _ = try receive(within: Self.quietTime)
            } catch {
                parser.reset()
                switch error {
                case .usb(.timedOut): return
                case .usb(.overflow), .usb(.stalled): continue
                default: throw error
                }
            }
        }
    }

    private func send(_ bytes: [UInt8]) throws(Port100Trouble) {
        do throws(USBError) {
            try usb.send(bytes, within: Self.commandTime)
        } catch {
            throw .usb(error)
        }
    }

    private func receive(within time: Duration) throws(Port100Trouble) -> [UInt8] {
        do throws(USBError) {
            return try usb.receive(within: time)
        } catch {
            throw .usb(error)
        }
    }
}
