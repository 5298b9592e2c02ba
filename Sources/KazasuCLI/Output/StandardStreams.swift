// SPDX-License-Identifier: Apache-2.0

import Glibc

/// Standard input, output and error.
enum StandardStreams {
    /// Opens `/dev/null` in place of those that the process was started without (`2>&-`): the next file that is opened
    /// would have their numbers, and messages would land in it.
    ///
    /// Input cannot be read and output cannot be written then, so that neither is silently empty; messages are lost.
    static func openClosedOnes() {
        let modes = [(STDIN_FILENO, O_WRONLY), (STDOUT_FILENO, O_RDONLY), (STDERR_FILENO, O_WRONLY)]
        for (descriptor, mode) in modes where fcntl(descriptor, F_GETFD) < 0 && errno == EBADF {
            // The lowest free number is this one.
            _ = open("/dev/null", mode)
        }
    }
}
