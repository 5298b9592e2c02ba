// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// A pipe of which a child process writes one end.
final class Pipe {
    let reader: Int32
    private(set) var writer: Int32
    private(set) var isAtEnd = false
    private var bytes: [UInt8] = []

    init() throws {
        var ends: [Int32] = [-1, -1]
        guard pipe(&ends) == 0 else { throw ChildProcess.NotStarted(program: "pipe", code: errno) }
        (reader, writer) = (ends[0], ends[1])
        // Other children that are started meanwhile must not keep the pipe open.
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
    }

    /// What was read so far.
    var text: String { String(decoding: bytes, as: UTF8.self) }

    func closeWriter() {
        if writer >= 0 { close(writer) }
        writer = -1
    }

    /// Takes what is there.
    func read() {
        var buffer = [UInt8](repeating: 0, count: 65_536)
        let count = Glibc.read(reader, &buffer, buffer.count)
        if count > 0 { bytes.append(contentsOf: buffer.prefix(count)) } else { isAtEnd = true }
    }

    deinit {
        closeWriter()
        close(reader)
    }
}
