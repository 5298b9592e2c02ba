// SPDX-License-Identifier: Apache-2.0

import Glibc
package import SystemPackage

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
    static func stream(_ path: String) -> FileDescriptor? {
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

    /// Whether it is a file that has contents already.
    package var hasContents: Bool {
        guard case .file(_, let target) = place, let status = try? target.stat() else { return false }
        return status.size > 0
    }

    /// Whether the file is only made, or replaced, when all is written.
    package var isFile: Bool {
        if case .file = place { true } else { false }
    }

    /// Says that it was written.
    package func tell(records count: Int, _ context: Context) {
        if path == "-" { return }
        context.note(tr("\(path): \(Words.count(count, "record"))", "\(path) に \(count) 件を書き出しました"))
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
