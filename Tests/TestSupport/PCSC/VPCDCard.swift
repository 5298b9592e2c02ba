// SPDX-License-Identifier: Apache-2.0

internal import Dispatch
internal import Glibc
internal import Synchronization

/// A card in a virtual reader of vpcd: a TCP client that gives its ATR and answers APDUs; taken out when released.
///
/// Messages have their length before them, two bytes, big-endian; one byte alone is a control: 0 off, 1 on, 2 reset,
/// 4 give the ATR (vsmartcard, `vpcd`).
package final class VPCDCard: Sendable {
    /// What the card saw; shared with its queue.
    private final class Log: Sendable {
        struct Entries {
            var commands: [[UInt8]] = []
            var resets = 0
        }

        let entries = Mutex(Entries())
    }

    private let descriptor: Int32
    private let state = Log()
    private let done = DispatchSemaphore(value: 0)

    /// Puts a card in.
    ///
    /// - Parameters:
    ///   - port: the reader's.
    ///   - atr: what the card says when it gets its power.
    ///   - reset: what becomes of it when it is reset, or loses its power.
    ///   - answer: what it answers to an APDU; `nil` takes it out in the middle of the command.
    package init(
        port: UInt16, atr: [UInt8], reset: @escaping @Sendable () -> Void = {},
        answer: @escaping @Sendable ([UInt8]) -> [UInt8]?
    ) throws {
        descriptor = LoopbackPort.makeSocket()
        guard LoopbackPort.withAddress(port, { connect(descriptor, $0, $1) }) == 0 else {
            throw ChildProcess.NotStarted(program: "vpcd", code: errno)
        }
        // A queue of its own: the card waits for its reader all the time.
        DispatchQueue(label: "vpcd card").async { [descriptor, state, done] in
            while let message = VPCDCard.receive(descriptor) {
                switch message {
                case [0x04]: VPCDCard.send(atr, descriptor)
                case [0x00]: reset()
                case [0x02]:
                    state.entries.withLock { $0.resets += 1 }
                    reset()
                case let control where control.count == 1: break
                default:
                    state.entries.withLock { $0.commands.append(message) }
                    guard let answer = answer(message) else {
                        shutdown(descriptor, Int32(SHUT_RDWR))
                        break
                    }
                    VPCDCard.send(answer, descriptor)
                }
            }
            done.signal()
        }
    }

    /// The APDUs that it got.
    package var commands: [[UInt8]] { state.entries.withLock(\.commands) }
    /// How often it was reset.
    package var resets: Int { state.entries.withLock(\.resets) }

    /// Takes it out.
    package func takeOut() {
        shutdown(descriptor, Int32(SHUT_RDWR))
    }

    deinit {
        shutdown(descriptor, Int32(SHUT_RDWR))
        done.wait()
        close(descriptor)
    }

    private static func receive(_ descriptor: Int32) -> [UInt8]? {
        guard let length = bytes(2, descriptor) else { return nil }
        return bytes(Int(length[0]) << 8 | Int(length[1]), descriptor)
    }

    private static func bytes(_ count: Int, _ descriptor: Int32) -> [UInt8]? {
        var bytes: [UInt8] = []
        while bytes.count < count {
            var buffer = [UInt8](repeating: 0, count: count - bytes.count)
            let got = recv(descriptor, &buffer, buffer.count, 0)
            guard got > 0 else { return nil }
            bytes += buffer.prefix(got)
        }
        return bytes
    }

    private static func send(_ message: [UInt8], _ descriptor: Int32) {
        let whole = [UInt8(message.count >> 8), UInt8(message.count & 0xFF)] + message
        _ = Glibc.send(descriptor, whole, whole.count, Int32(MSG_NOSIGNAL))
    }
}
