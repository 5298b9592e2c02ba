// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import ReaderCore
internal import Synchronization

/// What vpcd, the driver of vsmartcard in pcscd, says to the card's side.
///
/// A message is its length in two bytes, big-endian, and its content; one byte is a control, anything longer an APDU.
/// The stream has no other limits: a control and the next message often arrive together.
///
/// Source: vsmartcard, `virtualsmartcard/src/vpcd/vpcd.c`.
enum VPCDMessage: Hashable, Sendable {
    case powerOff
    case powerOn
    case reset
    /// Asks for the ATR, about every 400 ms.
    case answerToReset
    /// A control that is not known; it has no answer.
    case other(UInt8)
    case command([UInt8])

    /// - Returns: `nil` for an empty message, which means nothing.
    init?(_ content: ArraySlice<UInt8>) {
        guard let first = content.first else { return nil }
        guard content.count == 1 else {
            self = .command(Array(content))
            return
        }
        switch first {
        case 0x00: self = .powerOff
        case 0x01: self = .powerOn
        case 0x02: self = .reset
        case 0x04: self = .answerToReset
        default: self = .other(first)
        }
    }
}

/// Splits what vpcd sends into messages.
struct VPCDParser {
    private var pending: [UInt8] = []
    private var offset = 0

    mutating func append(_ bytes: some Collection<UInt8>) {
        pending.removeFirst(offset)
        offset = 0
        pending += bytes
    }

    /// The next complete message; `nil` until more bytes are there.
    mutating func next() -> VPCDMessage? {
        while pending.count - offset >= 2 {
            let length = Int(pending[offset]) << 8 | Int(pending[offset + 1])
            guard pending.count - offset - 2 >= length else { return nil }
            defer { offset += 2 + length }
            if let message = VPCDMessage(pending[(offset + 2)..<(offset + 2 + length)]) { return message }
        }
        return nil
    }
}

/// A connection to vpcd: to pcscd, a card lies on the reader for as long as it lasts.
///
/// One thread at a time waits for messages.
final class VPCDConnection: Sendable {
    enum Event: Hashable, Sendable {
        case message(VPCDMessage)
        /// pcscd has ended, or was restarted.
        case closed
        /// Nothing came in time.
        case nothing
    }

    /// The port cannot be used.
    struct Failure: Error, Hashable {
        /// ECONNREFUSED if nobody listens, EINPROGRESS if the port did not answer in time.
        var errno: Int32
    }

    private struct State {
        var parser = VPCDParser()
        var isClosed = false
        var isServed = false
    }

    private let descriptor: Int32
    private let state = Mutex(State())

    /// Connects to a port of this computer, off Swift's threads.
    init(port: UInt16) async throws(Failure) {
        descriptor = try await BlockingWork.run { () throws(Failure) in try VPCDConnection.connected(to: port) }
        acknowledgeAtOnce()
    }

    /// A socket that is connected to a port of this computer.
    private static func connected(to port: UInt16) throws(Failure) -> Int32 {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { throw Failure(errno: errno) }
        // vpcd lets one more connection wait than the one it serves; Linux drops further ones, and tries for two minutes.
        limitSending(descriptor, seconds: 1)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        let result = unsafe withUnsafePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                unsafe connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        guard result == 0 else {
            let failure = Failure(errno: errno)
            Glibc.close(descriptor)
            throw failure
        }
        // A pcscd that has stopped must not keep the reader's thread.
        limitSending(descriptor, seconds: 5)
        return descriptor
    }

    /// Limits how long connecting and sending may take.
    private static func limitSending(_ descriptor: Int32, seconds: Int) {
        var limit = timeval(tv_sec: seconds, tv_usec: 0)
        unsafe setsockopt(descriptor, SOL_SOCKET, SO_SNDTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
    }

    /// Whether anything came: vpcd serves one connection a port, and leaves the others without a word.
    var isServed: Bool { state.withLock(\.isServed) }

    /// Waits for the next message, off Swift's threads.
    func event(within time: Duration) async -> Event {
        await BlockingWork.run { self.next(within: time) }
    }

    /// Waits for the next message.
    func next(within time: Duration) -> Event {
        let end = ContinuousClock.now + time
        return state.withLock { state in
            while true {
                if let message = state.parser.next() { return .message(message) }
                guard !state.isClosed else { return .closed }
                let left = Int32(clamping: (end - .now).count(of: .milliseconds(1), roundedUp: true))
                var poller = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
                let ready = unsafe poll(&poller, 1, left)
                if ready < 0, errno == EINTR { continue }
                guard ready > 0 else { return .nothing }
                receive(&state)
            }
        }
    }

    private func receive(_ state: inout State) {
        var buffer = [UInt8](repeating: 0, count: 4096)
        let count = unsafe recv(descriptor, &buffer, buffer.count, Int32(MSG_DONTWAIT))
        let error = errno
        // The kernel forgets it after each answer. Without it each APDU waits 44 ms for a delayed acknowledgement, since
        // vpcd sends length and content apart.
        acknowledgeAtOnce()
        if count > 0 {
            state.isServed = true
            state.parser.append(buffer.prefix(count))
        } else if count == 0 || (error != EAGAIN && error != EINTR) {
            state.isClosed = true
        }
    }

    private func acknowledgeAtOnce() {
        var on: Int32 = 1
        unsafe setsockopt(descriptor, Int32(IPPROTO_TCP), TCP_QUICKACK, &on, socklen_t(MemoryLayout<Int32>.size))
    }

    /// Sends an ATR or a response APDU. A connection that fails reads as closed.
    func send(_ content: [UInt8]) {
        guard let length = UInt16(exactly: content.count) else { return close() }
        let message = [UInt8(length >> 8), UInt8(length & 0xFF)] + content
        var sent = 0
        while sent < message.count {
            let count = unsafe message[sent...].withUnsafeBytes {
                unsafe Glibc.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
            }
            if count > 0 {
                sent += count
            } else if errno != EINTR {
                return close()
            }
        }
    }

    /// Takes the card out.
    func close() { shutdown(descriptor, Int32(SHUT_RDWR)) }

    deinit { Glibc.close(descriptor) }
}
