// SPDX-License-Identifier: Apache-2.0

import Glibc

/// Writing to open files.
enum Descriptor {
    /// Writes the whole text.
    ///
    /// - Returns: 0, or `errno`.
    static func write(_ text: String, to descriptor: Int32) -> Int32 {
        write(Array(text.utf8), to: descriptor)
    }

    /// Writes all bytes, whatever interrupts or delays it.
    ///
    /// - Returns: 0, or `errno`.
    static func write(_ bytes: [UInt8], to descriptor: Int32) -> Int32 {
        bytes.withUnsafeBytes { bytes in
            var rest = bytes
            while !rest.isEmpty {
                let count = Glibc.write(descriptor, rest.baseAddress, rest.count)
                if count >= 0 {
                    rest = UnsafeRawBufferPointer(rebasing: rest.dropFirst(count))
                } else if errno == EAGAIN {
                    var space = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
                    poll(&space, 1, -1)
                } else if errno != EINTR {
                    return errno
                }
            }
            return 0
        }
    }
}
