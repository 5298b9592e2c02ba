// SPDX-License-Identifier: Apache-2.0

import Glibc

/// Reading and writing of open files. While a signal cancels work and does not end the process, it also ends what waits
/// here for the other end.
enum Descriptor {
    /// How long a reader may keep what was read from being written, once the user has interrupted.
    private static let patienceMilliseconds: Int32 = 3000

    /// Opens a file for reading, a FIFO without waiting for somebody who writes to it.
    ///
    /// - Returns: the descriptor; negative for an error, which `errno` names.
    static func open(_ path: String) -> Int32 {
        Glibc.open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
    }

    /// Opens a file for writing and empties it, and waits until somebody reads a FIFO.
    ///
    /// - Returns: the descriptor; negative for an error, which `errno` names: EINTR when a signal came first.
    static func openForWriting(_ path: String) -> Int32 {
        while true {
            let descriptor = Glibc.open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NONBLOCK, 0o600)
            if descriptor >= 0 {
                // What follows may wait; only the opening must not.
                _ = fcntl(descriptor, F_SETFL, fcntl(descriptor, F_GETFL) & ~O_NONBLOCK)
                return descriptor
            }
            var status = stat()
            guard errno == ENXIO, stat(path, &status) == 0, status.st_mode & S_IFMT == S_IFIFO else { return -1 }
            var signal = pollfd(fd: Interrupt.descriptor, events: Int16(POLLIN), revents: 0)
            if poll(&signal, 1, 20) > 0 {
                errno = EINTR
                return -1
            }
        }
    }

    /// Reads what there is, and waits until there is something.
    ///
    /// - Returns: how many bytes came; 0 at the end.
    /// - Throws: ``Failure`` when it cannot be read, or a signal came first.
    static func read(
        _ descriptor: Int32, into buffer: UnsafeMutableRawBufferPointer, name: String
    ) throws(Failure) -> Int {
        while true {
            guard wait(for: POLLIN, on: descriptor, afterSignal: 0) else { throw .cancelled() }
            let count = Glibc.read(descriptor, buffer.baseAddress, buffer.count)
            if count >= 0 { return count }
            guard errno == EINTR || errno == EAGAIN else { throw Files.unreadable(name, errno) }
        }
    }

    /// Reads into an array, as into memory.
    static func read(_ descriptor: Int32, into buffer: inout [UInt8], name: String) throws(Failure) -> Int {
        try buffer.withUnsafeMutableBytes { bytes in
            Result { () throws(Failure) in try read(descriptor, into: bytes, name: name) }
        }.get()
    }

    /// Waits for an event, or for a signal and so many milliseconds more.
    ///
    /// - Returns: whether the event came. What `poll` cannot wait for is left to the call that follows.
    private static func wait(for event: Int32, on descriptor: Int32, afterSignal milliseconds: Int32) -> Bool {
        var places = [
            pollfd(fd: descriptor, events: Int16(event), revents: 0),
            pollfd(fd: Interrupt.descriptor, events: Int16(POLLIN), revents: 0),
        ]
        while poll(&places, 2, -1) < 0 { guard errno == EINTR else { return true } }
        if places[0].revents != 0 { return true }
        places[1].fd = -1
        while true {
            let count = poll(&places, 2, milliseconds)
            if count >= 0 { return count > 0 }
            guard errno == EINTR else { return true }
        }
    }

    /// Writes the whole text, whatever interrupts or delays it.
    ///
    /// - Returns: 0, or `errno`.
    static func write(_ text: String, to descriptor: Int32) -> Int32 {
        var text = text
        return text.withUTF8 { write(UnsafeRawBufferPointer($0), to: descriptor) }
    }

    /// Writes all the bytes.
    ///
    /// - Returns: 0, or `errno`.
    static func write(_ bytes: [UInt8], to descriptor: Int32) -> Int32 {
        bytes.withUnsafeBytes { write($0, to: descriptor) }
    }

    /// Writes all the bytes.
    ///
    /// - Returns: 0, or `errno`.
    static func write(_ bytes: Span<UInt8>, to descriptor: Int32) -> Int32 {
        bytes.withUnsafeBytes { write($0, to: descriptor) }
    }

    private static func write(_ bytes: UnsafeRawBufferPointer, to descriptor: Int32) -> Int32 {
        // A pipe that has room for some bytes takes as many without waiting, and waits with the rest.
        let piece = Interrupt.isHeld ? Int(PIPE_BUF) : .max
        var rest = bytes
        while !rest.isEmpty {
            if piece < .max, !wait(for: POLLOUT, on: descriptor, afterSignal: patienceMilliseconds) { return EINTR }
            let count = Glibc.write(descriptor, rest.baseAddress, min(rest.count, piece))
            if count >= 0 {
                rest = UnsafeRawBufferPointer(rebasing: rest.dropFirst(count))
            } else if errno == EAGAIN {
                guard wait(for: POLLOUT, on: descriptor, afterSignal: patienceMilliseconds) else { return EINTR }
            } else if errno != EINTR {
                return errno
            }
        }
        return 0
    }
}
