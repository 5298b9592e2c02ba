// SPDX-License-Identifier: Apache-2.0

package import CardModel
import Glibc
package import SystemPackage

/// Reads files named by the user.
package enum Files {
    /// Returns the bytes of a file, `-` for standard input.
    ///
    /// - Parameter limit: the longest file that is accepted; one byte more is read of a longer one, so that the
    ///   caller's own check reports it.
    package static func read(_ path: String, limit: Int = 8 << 20) throws(CommandError) -> [UInt8] {
        guard !path.isEmpty else { throw .emptyName(tr("input", "入力")) }
        let descriptor = path == "-" ? dup(STDIN_FILENO) : Descriptor.open(path)
        guard descriptor >= 0 else { throw unreadable(path, errno) }
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

    package static func unreadable(_ path: String, _ error: Int32) -> CommandError {
        CommandError(
            .missingFile, "unreadable",
            tr("\(name(path)) cannot be read: ", "\(name(path)) を読めません: ") + SystemMessage.text(error),
            hint: tr("check the path", "パスを確かめてください"))
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

    private enum Place {
        case stream(FileDescriptor)
        case file(TemporaryFile, target: FilePath)
    }

    package init(_ path: String) throws(CommandError) {
        guard !path.isEmpty else { throw .emptyName(tr("output", "出力")) }
        self.path = path
        do {
            place = try OutputFile.open(path)
        } catch {
            throw CommandError(unwritable: path, error)
        }
    }

    private static func open(_ path: String) throws -> Place {
        if path == "-" { return .stream(try FileDescriptor.standardOutput.duplicate()) }
        var target = FilePath(path)
        let status = try? target.stat()
        if let status, status.type != .regular {
            return .stream(try FileDescriptor.open(target, .writeOnly, options: .closeOnExec))
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

    /// Writes a piece of the answer; ``finish(_:)-([UInt8])`` writes the last one.
    package func append(_ bytes: [UInt8]) throws(CommandError) {
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

    /// Opens a file for writing and truncates it; waits until a FIFO has a reader.
    ///
    /// - Returns: the descriptor; negative on error, with the cause in `errno`: EINTR when a signal came first.
    package static func openForWriting(_ path: String) -> Int32 {
        while true {
            let descriptor = Glibc.open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NONBLOCK, 0o600)
            if descriptor >= 0 {
                // Later calls may block; only the open must not.
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

/// A dump whose file cannot be written: the card may be gone, so the data is kept elsewhere, as JSON.
package struct KeptDump {
    package let dump: CardDump
    /// The requested file.
    package let output: String?

    /// Writes the dump beside the requested file if only the format cannot hold it, otherwise to standard output.
    ///
    /// - Returns: the error, with a hint at where the dump is now.
    package func kept(after error: CommandError, _ context: Context) -> CommandError {
        guard let output, output != "-", error.status == .badFile || error.status == .cannotWrite,
            let text = try? DumpFormatName.json.text(dump, context.redaction, option: "format")
        else { return error }
        var failure = error
        let path = "\(output).json"
        if error.status == .badFile, (try? OutputFile(path).finish(text)) != nil {
            failure.hint = tr("the data read so far is in \(path)", "読み取った内容は \(path) に保存しました")
        } else if (try? context.print(file: text)) != nil {
            failure.hint = tr("the data read so far was written to standard output", "読み取った内容は標準出力に書きました")
        }
        return failure
    }
}

/// The file that `-o` names for a dump. A partial dump never replaces a complete one: it is written beside it.
package final class DumpOutput {
    private let file: OutputFile
    /// The path of the dump, once it is written.
    private(set) var written: String?

    package init(_ path: String) throws(CommandError) {
        file = try OutputFile(path)
    }

    /// Writes a dump as Kazasu's own document, masked under `--redact`.
    package func finish(_ dump: CardDump, _ context: Context) throws(CommandError) {
        try finish(DumpFormatName.json.text(dump, context.redaction, option: "format"), of: dump, context)
    }

    /// Writes the text of a dump.
    package func finish(_ text: String, of dump: CardDump, _ context: Context) throws(CommandError) {
        guard !dump.complete, DumpOutput.isComplete(file.path) else {
            try file.finish(text)
            written = file.path
            return
        }
        let path = DumpOutput.free(beside: file.path)
        try OutputFile(path).finish(text)
        written = path
        context.note(
            tr(
                "\(file.path) already contains a complete dump and was kept; the new data is in \(path)",
                "\(file.path) には完全なダンプがあるため残しました。今回読めた分は \(path) にあります"))
    }

    /// Returns a path that does not hold a complete dump.
    private static func free(beside path: String) -> String {
        var candidate = "\(path).incomplete"
        var number = 1
        while isComplete(candidate) {
            number += 1
            candidate = "\(path).incomplete\(number)"
        }
        return candidate
    }

    /// Whether a file holds dumps of any format, all of them complete.
    private static func isComplete(_ path: String) -> Bool {
        guard path != "-", (try? FilePath(path).stat())?.type == .regular, let bytes = try? Files.read(path),
            let dumps = try? DumpFile.dumps(bytes)
        else { return false }
        return !dumps.isEmpty && dumps.allSatisfy(\.complete)
    }
}
