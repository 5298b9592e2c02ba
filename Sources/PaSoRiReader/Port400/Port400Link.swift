// SPDX-License-Identifier: Apache-2.0

internal import NFCTransport

/// Commands to a Port-400 and their answers, one at a time.
///
/// Each command has a number that its answer repeats, so a late answer is known and thrown away. After a time-out or
/// garbage everything that the reader has sent is thrown away and it is asked something that it must answer; opening
/// begins in the same way, for a killed predecessor may have left something.
final class Port400Link {
    /// Lets time pass: the reader asks for that when it is busy, and after the field was switched.
    typealias Pause = (Duration) -> Void

    private let usb: any USBLink
    private let pause: Pause
    private var parser = Port400MessageParser()
    private var sequence: UInt8 = 0
    private var isInDoubt = true
    /// Counts how often the reader was brought back: what it was told before may be forgotten.
    private(set) var resets = 0
    /// Why the reader can no longer be used.
    private(set) var lost: TransportError?

    /// How long a command may take beside what a card does; felica-rs waits as long.
    private static let commandTime = Duration.milliseconds(1500)
    /// How long the reader may be quiet until it is taken to have said everything.
    private static let quietTime = Duration.milliseconds(10)
    private static let busyPause = Duration.milliseconds(50)
    /// How often a busy reader is asked again: for one second.
    private static let busyAttempts = 20
    private static let recoveryAttempts = 3
    /// How many messages are thrown away, or ask for more time, at most, for one that is wanted.
    private static let mostUnwanted = 256

    init(_ usb: any USBLink, pause: @escaping Pause) {
        self.usb = usb
        self.pause = pause
    }

    /// Sends a command and returns its answer's data before the status word.
    ///
    /// - Parameter time: how long it may take beside the reader's own work.
    /// - Throws: also what a status word other than 9000 means.
    func run(_ command: [UInt8], within time: Duration = .zero) throws(TransportError) -> [UInt8] {
        if let lost { throw lost }
        if isInDoubt { try synchronise() }
        let answer: [UInt8]
        do throws(Port400Trouble) {
            answer = try exchange(command, within: time + Self.commandTime)
        } catch {
            throw recover(from: error)
        }
        guard answer.count >= 2 else { throw .corrupted(status: 0) }
        let status = UInt16(answer[answer.count - 2]) << 8 | UInt16(answer[answer.count - 1])
        if let error = Port400Status.error(status) { throw error }
        return Array(answer.dropLast(2))
    }

    /// Lets the reader settle.
    func settle(for time: Duration) {
        pause(time)
    }

    /// Brings the reader to a state in which its next answer is its next command's.
    func synchronise() throws(TransportError) {
        var trouble = Port400Trouble.damaged
        for _ in 0..<Self.recoveryAttempts {
            do throws(Port400Trouble) {
                try drain()
                _ = try exchange(Port400Command.firmwareVersion, within: Self.commandTime)
                isInDoubt = false
                return
            } catch {
                trouble = error
                guard !error.isFinal else { break }
            }
        }
        if trouble == .usb(.cancelled) { throw .cancelled }
        if trouble == .busy { throw trouble.transportError }
        lost = trouble.isFinal ? trouble.transportError : Self.mute
        throw lost ?? Self.mute
    }

    /// Ends the session, which switches the field off, whatever happened before; then the device is given back.
    func close() {
        usb.ignoreCancellation()
        if lost == nil {
            _ = try? run(Port400Command.manageSession(.fieldOff))
            _ = try? run(Port400Command.manageSession(.end))
        }
        lost = .readerUnavailable(reason: .absent, detail: "the reader was closed")
        usb.close()
    }

    private static let mute = TransportError.readerFailed(detail: "the reader gives no valid answer any more")

    private func recover(from trouble: Port400Trouble) -> TransportError {
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
                if error == .cancelled || error == .unplugged { return error }
                return trouble.transportError.isReaderFault ? trouble.transportError : error
            }
        }
    }

    private func exchange(_ command: [UInt8], within time: Duration) throws(Port400Trouble) -> [UInt8] {
        for _ in 0..<Self.busyAttempts {
            sequence &+= 1
            do throws(USBError) {
                try usb.send(Port400Message.command(command, sequence: sequence), within: Self.commandTime)
            } catch {
                throw .usb(error)
            }
            if let data = try answer(within: time) { return data }
            pause(Self.busyPause)
        }
        throw .busy
    }

    /// Takes messages until one is the command's answer; `nil` when the reader is busy.
    private func answer(within time: Duration) throws(Port400Trouble) -> [UInt8]? {
        for _ in 0..<Self.mostUnwanted {
            switch parser.next() {
            case .message(let message) where message.sequence == sequence:
                switch message.status {
                case .done: return message.data
                case .busy: return nil
                case .moreTime: continue
                case .failed(let error): throw .refused(error: error)
                }
            // An older command's.
            case .message: continue
            case .damaged: throw .damaged
            case .incomplete: parser.feed(try receive(within: time))
            }
        }
        throw .damaged
    }

    /// Throws away what the reader has sent and nobody wants.
    private func drain() throws(Port400Trouble) {
        for _ in 0..<Self.mostUnwanted {
            do throws(Port400Trouble) {
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

    private func receive(within time: Duration) throws(Port400Trouble) -> [UInt8] {
        do throws(USBError) {
            return try usb.receive(within: time)
        } catch {
            throw .usb(error)
        }
    }
}
