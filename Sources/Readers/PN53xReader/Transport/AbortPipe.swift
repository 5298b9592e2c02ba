// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import Synchronization

/// The pipe that ends calls of libnfc's serial drivers, and the descriptors that `nfc_abort_command` leaves of it.
///
/// An abort closes the reading end and makes a new pipe. A call that waits for the chip then finds the writing end
/// broken and closes it; when none waits, nobody does, and every cancellation would leak a descriptor (libnfc 1.8.0,
/// `pn532_uart.c`, `arygon.c`, `uart.c`). libnfc does not expose its descriptors, so they are found by comparing the
/// process's pipes before and after the device was opened. Pipes that other threads opened meanwhile are distinguished
/// by the abort itself: it breaks one.
final class AbortPipe: Sendable {
    /// A pipe with both ends in this process.
    struct Ends: Equatable {
        let reader: Int32
        let writer: Int32
        let device: UInt
        let inode: UInt
    }

    /// The pipes that were opened while libnfc opened the device.
    private let candidates: [Ends]
    /// The candidates that the abort broke.
    private let broken = Mutex<[Ends]>([])

    private init(_ candidates: [Ends]) {
        self.candidates = candidates
    }

    /// Opens a device and finds its pipe.
    static func during<Result>(_ open: () -> Result?) -> (result: Result, pipe: AbortPipe)? {
        let before = pipes()
        guard let result = open() else { return nil }
        return (result, AbortPipe(pipes().filter { !before.contains($0) }))
    }

    /// Runs libnfc's abort, and remembers which pipe it broke.
    func abort(_ body: () -> Void) {
        let intact = candidates.filter { Self.hasReader($0) == true }
        body()
        let lost = intact.filter { Self.hasReader($0) == false }
        broken.withLock { $0 += lost }
    }

    /// Closes the descriptors that libnfc has left open. Must be called when no libnfc call runs on the device any
    /// more.
    func close() {
        let left = broken.withLock { $0 }.filter { Self.hasReader($0) == false }
        // With more than one it is not known which is libnfc's; a leaked descriptor is better than closing another's.
        guard left.count == 1 else { return }
        Glibc.close(left[0].writer)
    }

    /// Whether a pipe that this process still writes to has a reader; `nil` when it is closed.
    private static func hasReader(_ pipe: Ends) -> Bool? {
        guard let status = status(of: pipe.writer), status.st_dev == pipe.device, status.st_ino == pipe.inode else {
            return nil
        }
        var query = pollfd(fd: pipe.writer, events: 0, revents: 0)
        return unsafe poll(&query, 1, 0) <= 0 || query.revents & Int16(POLLERR) == 0
    }

    /// The pipes of this process that look like libnfc's: both ends here, blocking, and inherited by children.
    private static func pipes() -> [Ends] {
        // libnfc's `select` accepts no higher descriptor. `pipe` mostly gives the reading end the lower number.
        let open = descriptors().compactMap { number in status(of: number).map { (number, $0) } }
        let readers = open.filter { mode(of: $0.0) == O_RDONLY }
        return open.compactMap { number, status in
            guard mode(of: number) == O_WRONLY,
                let reader = readers.last(where: { $1.st_dev == status.st_dev && $1.st_ino == status.st_ino })
            else { return nil }
            return Ends(reader: reader.0, writer: number, device: status.st_dev, inode: status.st_ino)
        }
    }

    /// The open descriptors that libnfc's `select` accepts, found by one system call where the process may have so many.
    private static func descriptors() -> [Int32] {
        var all = (0..<Int32(FD_SETSIZE)).map { pollfd(fd: $0, events: 0, revents: 0) }
        guard unsafe poll(&all, nfds_t(all.count), 0) >= 0 else { return all.map(\.fd) }
        return all.filter { $0.revents & Int16(POLLNVAL) == 0 }.map(\.fd)
    }

    /// O_RDONLY or O_WRONLY for a descriptor without other flags, `nil` for others.
    private static func mode(of descriptor: Int32) -> Int32? {
        guard fcntl(descriptor, F_GETFD) == 0 else { return nil }
        let flags = fcntl(descriptor, F_GETFL)
        return flags == O_RDONLY || flags == O_WRONLY ? flags : nil
    }

    /// The status of an open pipe, `nil` for anything else.
    private static func status(of descriptor: Int32) -> stat? {
        var status = stat()
        guard unsafe fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFIFO else { return nil }
        return status
    }
}
