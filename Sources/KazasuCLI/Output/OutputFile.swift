// SPDX-License-Identifier: Apache-2.0

import Glibc
import NFCTransport

/// A file that an answer goes to. It is opened before the card is read, so that nobody holds a card for nothing, and
/// written as a whole: into a new file beside it, so that an old one is never left half written.
///
/// `-` is standard output; devices and pipes are written as they are.
final class OutputFile {
    private let path: String
    private let descriptor: Int32
    /// The new file and what it is to replace.
    private var move: (from: String, to: String)?
    /// What removes the new file when the process is ended by a signal.
    private var undo: Int?

    init(_ path: String) throws(Failure) {
        self.path = path
        guard path != "-" else {
            descriptor = dup(STDOUT_FILENO)
            return
        }
        var status = stat()
        let exists = stat(path, &status) == 0
        if exists, status.st_mode & S_IFMT != S_IFREG {
            descriptor = open(path, O_WRONLY | O_CLOEXEC)
            guard descriptor >= 0 else { throw Failure.unwritable(path, errno) }
            return
        }
        // What a link leads to is replaced, not the link.
        let target = exists ? OutputFile.resolved(path) : path
        if exists, access(target, W_OK) != 0 { throw Failure.unwritable(path, errno) }
        let temporary = "\(target).\(getpid()).part"
        let new = open(temporary, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
        guard new >= 0 else { throw Failure.unwritable(path, errno) }
        descriptor = new
        move = (temporary, target)
        undo = Interrupt.undo.onCancel { unlink(temporary) }
    }

    /// Writes the answer and puts it in its place.
    func finish(_ text: String) throws(Failure) {
        try finish(Array(text.utf8))
    }

    /// Writes bytes that are no text, and puts the file in its place.
    func finish(_ bytes: [UInt8]) throws(Failure) {
        let written = Descriptor.write(bytes, to: descriptor)
        switch written {
        case 0: break
        case EPIPE: throw .brokenPipe
        case EINTR: throw .cancelled()
        default: throw .unwritable(path, written)
        }
        guard let move else { return }
        guard rename(move.from, move.to) == 0 else { throw Failure.unwritable(path, errno) }
        self.move = nil
    }

    deinit {
        close(descriptor)
        if let move { unlink(move.from) }
        if let undo { Interrupt.undo.remove(undo) }
    }

    private static func resolved(_ path: String) -> String {
        guard let whole = realpath(path, nil) else { return path }
        defer { free(whole) }
        return String(cString: whole)
    }
}
