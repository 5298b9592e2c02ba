// SPDX-License-Identifier: Apache-2.0

import Glibc
import SystemPackage

/// A file read in pieces, line by line or as a whole; only what is asked for is in memory.
final class LineFile {
    private let path: String
    private let descriptor: Int32
    private var buffer: [UInt8] = []
    private var start = 0
    /// How far the buffer was searched for a line end.
    private var searched = 0
    private var isAtEnd = false
    /// Whether the line that was taken last had an end.
    private var hadEnd = false

    /// The longest line that is read, in bytes; no card's dump is longer.
    static let longestLine = 8 << 20
    private static let piece = 1 << 18

    /// Opens a file, `-` for standard input.
    init(_ path: String) throws(Failure) {
        self.path = path
        descriptor = path == "-" ? dup(STDIN_FILENO) : Descriptor.open(path)
        guard descriptor >= 0 else { throw Files.unreadable(path, errno) }
    }

    /// Opens a regular file; what has become something else meanwhile is not waited for.
    init(regular path: FilePath) throws(Failure) {
        self.path = path.string
        do {
            let file = try FileDescriptor.open(path, .readOnly, options: [.nonBlocking, .closeOnExec])
            guard try file.stat().type == .regular else {
                try? file.close()
                throw Errno.invalidArgument
            }
            descriptor = file.rawValue
        } catch {
            throw Files.unreadable(path.string, (error as? Errno)?.rawValue ?? EIO)
        }
    }

    deinit { close(descriptor) }

    /// The next line without its end; `nil` after the last.
    func nextLine() throws(Failure) -> ArraySlice<UInt8>? {
        while true {
            if let end = buffer[searched...].firstIndex(of: UInt8(ascii: "\n")) {
                defer {
                    hadEnd = true
                    start = end + 1
                    searched = start
                }
                return buffer[start..<end]
            }
            searched = buffer.count
            guard !isAtEnd else {
                hadEnd = false
                guard start < buffer.count else { return nil }
                defer { start = buffer.count }
                return buffer[start...]
            }
            try fill()
            guard buffer.count - start <= LineFile.longestLine else { throw Files.tooLong(path, LineFile.longestLine) }
        }
    }

    /// What comes after the last line that was taken, together with `before`.
    func rest(after before: ArraySlice<UInt8>, limit: Int) throws(Failure) -> [UInt8] {
        while !isAtEnd {
            guard before.count + buffer.count - start <= limit else { throw Files.tooLong(path, limit) }
            try fill()
        }
        defer { start = buffer.count }
        return before + (hadEnd ? [UInt8(ascii: "\n")] : []) + buffer[start...]
    }

    private func fill() throws(Failure) {
        if start > 0 {
            buffer.removeFirst(start)
            searched -= start
            start = 0
        }
        var piece = [UInt8](repeating: 0, count: LineFile.piece)
        let count = try Descriptor.read(descriptor, into: &piece, name: path)
        if count == 0 { isAtEnd = true } else { buffer.append(contentsOf: piece.prefix(count)) }
    }
}
