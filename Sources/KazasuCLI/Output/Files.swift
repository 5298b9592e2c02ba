// SPDX-License-Identifier: Apache-2.0

import CLinux
import Glibc
package import SystemPackage

/// Reads files named by the user.
package enum Files {
    /// Returns the bytes of a file, `-` for standard input.
    ///
    /// - Parameters:
    ///   - limit: the longest file that is accepted; one byte more is read of a longer one, so that the caller's own
    ///     check reports it.
    ///   - role: what the file is to the command; `nil` for an output.
    package static func read(
        _ path: String, limit: Int = 8 << 20, as role: FilesInUse.Role? = .input
    ) throws(CommandError) -> [UInt8] {
        guard !path.isEmpty else { throw .emptyName(tr("input", "入力")) }
        let descriptor = try open(path, as: role)
        defer { close(descriptor) }
        var status = stat()
        if fstat(descriptor, &status) == 0 {
            if status.st_mode & S_IFMT == S_IFDIR { throw unreadable(path, EISDIR) }
            if status.st_mode & S_IFMT == S_IFREG, status.st_size > limit { throw tooLong(path, limit) }
        }
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while bytes.count <= limit {
            let count = try Descriptor.read(descriptor, into: &buffer, name: path)
            guard count > 0 else { return bytes }
            bytes.append(contentsOf: buffer.prefix(count))
        }
        throw tooLong(path, limit)
    }

    /// Opens a file that the command reads, `-` for standard input.
    ///
    /// - Throws: ``CommandError`` when it cannot be opened, is an output of the command, or is a FIFO that no program
    ///   writes to.
    package static func open(_ path: String, as role: FilesInUse.Role? = .input) throws(CommandError) -> Int32 {
        let descriptor = path == "-" ? dup(STDIN_FILENO) : Descriptor.open(path)
        guard descriptor >= 0 else { throw unreadable(path, errno) }
        do throws(CommandError) {
            if let role { try FilesInUse.shared.reads(descriptor, path, as: role) }
            if path != "-" { try Descriptor.waitForWriter(descriptor, name: path) }
        } catch {
            close(descriptor)
            throw error
        }
        return descriptor
    }

    package static func unreadable(_ path: String, _ error: Int32) -> CommandError {
        CommandError(
            .missingFile, "unreadable",
            tr("\(name(path)) cannot be read: ", "\(name(path)) を読めません: ") + SystemMessage.text(error),
            hint: tr("check the path", "パスを確かめてください"))
    }

    /// Nobody writes to a FIFO.
    package static func unwritten(_ path: String) -> CommandError {
        CommandError(
            .missingFile, "unreadable",
            tr(
                "\(name(path)) is a pipe (FIFO) that no program writes to",
                "\(name(path)) は名前付きパイプですが、書き込むプログラムがありません"),
            hint: tr("start the program that writes to it first", "書き込む側のプログラムを先に起動してください"))
    }

    /// Checks that a path may be opened for writing.
    ///
    /// - Throws: ``CommandError`` with status 73 for a disk's device, and for a link when the process is root's: in a
    ///   folder of others, it could lead anywhere. `/dev/stderr` and its like are the process's own.
    package static func checkOutput(_ path: String) throws(CommandError) {
        guard OutputFile.stream(path) == nil else { return }
        var status = stat()
        if geteuid() == 0, lstat(path, &status) == 0, status.st_mode & S_IFMT == S_IFLNK {
            throw CommandError(
                .cannotWrite, "notRegular",
                tr("\(path) is a link; as root, links are not followed", "\(path) はリンクです。root ではリンク先に書き込みません"),
                hint: tr("name the file itself", "リンク先のファイルを直接指定してください"))
        }
        guard stat(path, &status) == 0, status.st_mode & S_IFMT == S_IFBLK else { return }
        throw CommandError(
            .cannotWrite, "notRegular",
            tr("\(path) is the device of a disk", "\(path) はディスクなどのブロックデバイスです"),
            hint: tr("name a file", "ファイルを指定してください"))
    }

    package static func tooLong(_ path: String, _ limit: Int) -> CommandError {
        CommandError(
            .badFile, "tooLong",
            tr("\(name(path)) is longer than \(size(limit))", "\(name(path)) は \(size(limit)) を超えています"),
            hint: tr("check the path", "パスを確かめてください"))
    }

    private static func size(_ bytes: Int) -> String {
        bytes % (1 << 20) == 0 ? "\(bytes >> 20) MiB" : tr("\(bytes) bytes", "\(bytes) バイト")
    }

    /// Whether a path is that of a folder; never for `-`.
    package static func isFolder(_ path: String) -> Bool {
        path != "-" && (try? FilePath(path).stat())?.type == .directory
    }

    /// The name of a file in messages.
    package static func name(_ path: String) -> String {
        path == "-" ? tr("standard input", "標準入力") : path
    }
}

/// A file that an answer goes to. It is opened before the card is read, so that no card is read in vain, and is
/// written to a new file beside it first, so that an old one is never left half written.
///
/// `-` is standard output; devices and pipes are written directly.
package final class OutputFile {
    package let path: String
    private let place: Place
    private let claim: FilesInUse.Claim?

    private enum Place {
        case stream(FileDescriptor)
        case file(TemporaryFile, target: FilePath)
    }

    /// - Parameter replacing: a file of the command that it may replace.
    package init(_ path: String, replacing: FilesInUse.Role? = nil) throws(CommandError) {
        guard !path.isEmpty else { throw .emptyName(tr("output", "出力")) }
        self.path = path
        if let stream = OutputFile.stream(path) {
            claim = nil
            do { place = .stream(try stream.duplicate()) } catch { throw CommandError(unwritable: path, error) }
            return
        }
        try Files.checkOutput(path)
        claim = try FilesInUse.shared.writes(path, replacing: replacing)
        do {
            place = try OutputFile.open(path)
        } catch {
            throw CommandError(unwritable: path, error)
        }
    }

    /// The descriptor of this process that a path names; it is written to, wherever it leads.
    fileprivate static func stream(_ path: String) -> FileDescriptor? {
        switch path {
        case "-", "/dev/stdout": return .standardOutput
        case "/dev/stderr": return .standardError
        default:
            let folder = ["/dev/fd/", "/proc/self/fd/"].first { path.hasPrefix($0) }
            return folder.flatMap { Int32(path.dropFirst($0.utf8.count)) }.map { FileDescriptor(rawValue: $0) }
        }
    }

    private static func open(_ path: String) throws -> Place {
        var target = FilePath(path)
        let status = try? target.stat()
        if let status, status.type != .regular {
            let descriptor = Descriptor.openForWriting(path, [])
            guard descriptor >= 0 else { throw Errno(rawValue: errno) }
            return .stream(FileDescriptor(rawValue: descriptor))
        }
        if status != nil {
            // The target of a link is replaced, not the link.
            target = resolved(target)
            guard target.withPlatformString({ access($0, W_OK) }) == 0 else { throw Errno(rawValue: errno) }
        }
        let folder = target.removingLastComponent()
        let file = try TemporaryFile(in: folder.isEmpty ? "." : folder, permissions: .ownerReadWrite)
        return .file(file, target: target)
    }

    /// Writes a piece of the answer, which passes the ``RedactionGate``; ``finish(_:)-([UInt8])`` writes the last one.
    package func append(_ bytes: [UInt8]) throws(CommandError) {
        let bytes = RedactionGate.shared.masked(bytes)
        try attempt {
            switch place {
            case .stream(let descriptor): try descriptor.writeWhole(bytes)
            case .file(let file, _): try file.descriptor.writeWhole(bytes)
            }
        }
    }

    /// Writes the answer and moves the file into place.
    package func finish(_ text: String) throws(CommandError) {
        try finish(Array(text.utf8))
    }

    /// Writes binary data and moves the file into place.
    package func finish(_ bytes: [UInt8]) throws(CommandError) {
        try append(bytes)
        try attempt { if case .file(let file, let target) = place { try file.move(to: target) } }
    }

    private func attempt(_ work: () throws -> Void) throws(CommandError) {
        do {
            try work()
        } catch Errno.brokenPipe {
            throw .brokenPipe
        } catch Errno.interrupted {
            throw .cancelled()
        } catch {
            throw CommandError(unwritable: path, error)
        }
    }

    deinit {
        if case .stream(let descriptor) = place { try? descriptor.close() }
    }

    private static func resolved(_ path: FilePath) -> FilePath {
        guard let whole = path.withPlatformString({ realpath($0, nil) }) else { return path }
        defer { free(whole) }
        return FilePath(platformString: whole)
    }
}

extension FileDescriptor {
    /// Writes all the bytes, despite interruptions and delays.
    package func writeWhole(_ bytes: [UInt8]) throws(Errno) {
        let error = Descriptor.write(bytes, to: rawValue)
        guard error == 0 else { throw Errno(rawValue: error) }
    }
}

extension CommandError {
    /// A file could not be written; the cause is what a system call reported.
    package init(unwritable path: String, _ error: any Error) {
        self = .unwritable(path, (error as? Errno)?.rawValue ?? EIO)
    }
}

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
