// SPDX-License-Identifier: Apache-2.0

internal import CLinux
internal import Glibc

/// A pipe of which a child process writes one end.
final class Pipe {
    private(set) var reader: Int32
    private(set) var writer: Int32
    private(set) var isAtEnd = false
    private var bytes: [UInt8] = []

    /// - Parameter size: how much it holds before the writer must wait; the system's own size by default.
    init(size: Int? = nil) throws {
        var ends: [Int32] = [-1, -1]
        // Other children that are started meanwhile must not keep the pipe open.
        guard kazasu_pipe(&ends, O_CLOEXEC) == 0 else { throw ChildProcess.NotStarted(program: "pipe", code: errno) }
        (reader, writer) = (ends[0], ends[1])
        // F_SETPIPE_SZ, which Glibc's module does not show.
        if let size { _ = fcntl(writer, 1031, Int32(clamping: size)) }
    }

    /// What was read so far.
    var text: String { String(decoding: bytes, as: UTF8.self) }

    func closeWriter() {
        if writer >= 0 { close(writer) }
        writer = -1
    }

    /// The line that begins at a byte, without its end; `nil` when it is not whole yet.
    func line(from start: Int) -> String? {
        guard let end = bytes[start...].firstIndex(of: 0x0A) else { return nil }
        return String(decoding: bytes[start..<end], as: UTF8.self)
    }

    /// Nobody reads any more.
    func closeReader() {
        if reader >= 0 { close(reader) }
        reader = -1
        isAtEnd = true
    }

    /// Takes what is there.
    func read() {
        var buffer = [UInt8](repeating: 0, count: 65_536)
        let count = Glibc.read(reader, &buffer, buffer.count)
        if count > 0 { bytes.append(contentsOf: buffer.prefix(count)) } else { isAtEnd = true }
    }

    deinit {
        closeWriter()
        closeReader()
    }
}
