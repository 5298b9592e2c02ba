// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// Wakes a thread that waits in `poll`, once and for all.
final class StopSignal: Sendable {
    /// Becomes readable when the signal was given.
    let descriptor: Int32
    private let writer: Int32

    init() throws(PseudoterminalError) {
        var ends: [Int32] = [-1, -1]
        guard unsafe pipe(&ends) == 0 else { throw .failed(call: "pipe", errno: errno) }
        (descriptor, writer) = (ends[0], ends[1])
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
    }

    /// Gives the signal.
    func give() {
        // A byte, not the end of the file: a child process may have inherited the other end.
        var byte: UInt8 = 0
        _ = unsafe write(writer, &byte, 1)
    }

    deinit {
        close(writer)
        close(descriptor)
    }
}
