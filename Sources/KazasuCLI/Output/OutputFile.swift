// SPDX-License-Identifier: Apache-2.0

import Glibc
import SystemPackage

/// A file that an answer goes to. It is opened before the card is read, so that nobody holds a card for nothing, and
/// written as a whole: into a new file beside it, so that an old one is never left half written.
///
/// `-` is standard output; devices and pipes are written as they are.
final class OutputFile {
    let path: String
    private let place: Place

    private enum Place {
        case stream(FileDescriptor)
        case file(TemporaryFile, target: FilePath)
    }

    init(_ path: String) throws(Failure) {
        self.path = path
        do {
            place = try OutputFile.open(path)
        } catch {
            throw Failure(unwritable: path, error)
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
            // What a link leads to is replaced, not the link.
            target = resolved(target)
            guard target.withPlatformString({ access($0, W_OK) }) == 0 else { throw Errno(rawValue: errno) }
        }
        let folder = target.removingLastComponent()
        let file = try TemporaryFile(in: folder.isEmpty ? "." : folder, permissions: .ownerReadWrite)
        return .file(file, target: target)
    }

    /// Writes the answer and puts it in its place.
    func finish(_ text: String) throws(Failure) {
        try finish(Array(text.utf8))
    }

    /// Writes bytes that are no text, and puts the file in its place.
    func finish(_ bytes: [UInt8]) throws(Failure) {
        do {
            switch place {
            case .stream(let descriptor): try descriptor.writeWhole(bytes)
            case .file(let file, let target):
                try file.descriptor.writeWhole(bytes)
                try file.move(to: target)
            }
        } catch Errno.brokenPipe {
            throw .brokenPipe
        } catch Errno.interrupted {
            throw .cancelled()
        } catch {
            throw Failure(unwritable: path, error)
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
    /// Writes all the bytes, whatever interrupts or delays it.
    func writeWhole(_ bytes: [UInt8]) throws(Errno) {
        let error = Descriptor.write(bytes, to: rawValue)
        guard error == 0 else { throw Errno(rawValue: error) }
    }
}

extension Failure {
    /// A file could not be written, for what a system call reported.
    init(unwritable path: String, _ error: any Error) {
        self = .unwritable(path, (error as? Errno)?.rawValue ?? EIO)
    }
}
