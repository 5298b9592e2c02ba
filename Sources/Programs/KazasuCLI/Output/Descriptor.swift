// SPDX-License-Identifier: Apache-2.0

import CLinux
import Glibc
package import SystemPackage

/// Reads and writes open files. A signal that cancels work without ending the process also ends a wait here for the
/// other end.
package enum Descriptor {
    /// How long a pipe's reader may block the output of what was read, once the user has interrupted.
    private static let patienceMilliseconds: Int32 = 3000

    /// Opens a file for reading, without waiting for a writer on a FIFO.
    ///
    /// - Returns: the descriptor; negative on error, with the cause in `errno`.
    package static func open(_ path: String) -> Int32 {
        Glibc.open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
    }

    /// Waits until a program writes to a FIFO that was just opened for reading; anything else is ready.
    ///
    /// - Throws: ``CommandError`` when none came in time, or a signal came first.
    package static func waitForWriter(_ descriptor: Int32, name: String) throws(CommandError) {
        var status = stat()
        guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFIFO else { return }
        let deadline = ContinuousClock.now + .milliseconds(patienceMilliseconds)
        while true {
            var places = [
                pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0),
                pollfd(fd: Interrupt.descriptor, events: Int16(POLLIN), revents: 0),
            ]
            // Data, or a writer that is gone already.
            if poll(&places, 2, 20) > 0 {
                if places[0].revents != 0 { return }
                throw .cancelled()
            }
            if hasWriter(descriptor) { return }
            guard ContinuousClock.now < deadline else { throw Files.unwritten(name) }
        }
    }

    /// Whether a program has the other end of an empty pipe open.
    private static func hasWriter(_ descriptor: Int32) -> Bool {
        var ends: [Int32] = [-1, -1]
        guard kazasu_pipe(&ends, O_CLOEXEC) == 0 else { return true }
        defer { for end in ends { close(end) } }
        // It consumes nothing, and reports the end of the file when there is no writer.
        return kazasu_tee(descriptor, ends[1], 1, 2) != 0
    }

    /// Opens a file for writing; by default makes and truncates it. A FIFO gets some time until a program reads from it.
    ///
    /// - Returns: the descriptor; negative on error, with the cause in `errno`: ENXIO when nobody reads the FIFO, EINTR
    ///   when a signal came first.
    package static func openForWriting(
        _ path: String, _ options: FileDescriptor.OpenOptions = [.create, .truncate]
    ) -> Int32 {
        let flags = O_WRONLY | O_CLOEXEC | O_NONBLOCK | options.rawValue
        let deadline = ContinuousClock.now + .milliseconds(patienceMilliseconds)
        while true {
            let descriptor = Glibc.open(path, flags, 0o600)
            if descriptor >= 0 {
                // Later calls may block; only the open must not.
                _ = fcntl(descriptor, F_SETFL, fcntl(descriptor, F_GETFL) & ~O_NONBLOCK)
                return descriptor
            }
            var status = stat()
            guard errno == ENXIO, ContinuousClock.now < deadline else { return -1 }
            guard stat(path, &status) == 0, status.st_mode & S_IFMT == S_IFIFO else {
                errno = ENXIO
                return -1
            }
            var signal = pollfd(fd: Interrupt.descriptor, events: Int16(POLLIN), revents: 0)
            if poll(&signal, 1, 20) > 0 {
                errno = EINTR
                return -1
            }
        }
    }

    /// Reads the available bytes, waiting until there are some.
    ///
    /// - Returns: the number of bytes read; 0 at the end.
    /// - Throws: ``CommandError`` when the descriptor cannot be read, or a signal came first.
    package static func read(
        _ descriptor: Int32, into buffer: UnsafeMutableRawBufferPointer, name: String
    ) throws(CommandError) -> Int {
        // One that can only be written would be waited for until a signal.
        guard fcntl(descriptor, F_GETFL) & O_ACCMODE != O_WRONLY else { throw Files.unreadable(name, EBADF) }
        while true {
            guard wait(for: POLLIN, on: descriptor, afterSignal: 0) else { throw .cancelled() }
            let count = Glibc.read(descriptor, buffer.baseAddress, buffer.count)
            if count >= 0 { return count }
            guard errno == EINTR || errno == EAGAIN else { throw Files.unreadable(name, errno) }
        }
    }

    /// Reads into an array, like the overload for raw memory.
    package static func read(_ descriptor: Int32, into buffer: inout [UInt8], name: String) throws(CommandError) -> Int
    {
        try buffer.withUnsafeMutableBytes { bytes in
            Result { () throws(CommandError) in try read(descriptor, into: bytes, name: name) }
        }.get()
    }

    /// Waits for an event, or for a signal and this many milliseconds more.
    ///
    /// - Returns: whether the event came. Anything `poll` cannot wait for is left to the call that follows.
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

    /// Writes the whole text, despite interruptions and delays.
    ///
    /// - Returns: 0, or `errno`.
    package static func write(_ text: String, to descriptor: Int32) -> Int32 {
        var text = text
        return text.withUTF8 { write(UnsafeRawBufferPointer($0), to: descriptor) }
    }

    /// Writes all the bytes.
    ///
    /// - Returns: 0, or `errno`.
    package static func write(_ bytes: [UInt8], to descriptor: Int32) -> Int32 {
        bytes.withUnsafeBytes { write($0, to: descriptor) }
    }

    /// Writes all the bytes.
    ///
    /// - Returns: 0, or `errno`.
    package static func write(_ bytes: Span<UInt8>, to descriptor: Int32) -> Int32 {
        bytes.withUnsafeBytes { write($0, to: descriptor) }
    }

    private static func write(_ bytes: UnsafeRawBufferPointer, to descriptor: Int32) -> Int32 {
        // A pipe that has room for some bytes accepts as many without blocking, and blocks for the rest.
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
