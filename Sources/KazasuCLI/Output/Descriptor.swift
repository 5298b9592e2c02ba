// SPDX-License-Identifier: Apache-2.0

import Glibc

/// Writing to open files.
enum Descriptor {
    /// Writes the whole text, whatever interrupts or delays it.
    ///
    /// - Returns: 0, or `errno`.
    static func write(_ text: String, to descriptor: Int32) -> Int32 {
        var text = text
        return text.withUTF8 { write(UnsafeRawBufferPointer($0), to: descriptor) }
    }

    /// Writes all the bytes.
    ///
    /// - Returns: 0, or `errno`.
    static func write(_ bytes: [UInt8], to descriptor: Int32) -> Int32 {
        bytes.withUnsafeBytes { write($0, to: descriptor) }
    }

    /// Writes all the bytes.
    ///
    /// - Returns: 0, or `errno`.
    static func write(_ bytes: Span<UInt8>, to descriptor: Int32) -> Int32 {
        bytes.withUnsafeBytes { write($0, to: descriptor) }
    }

    private static func write(_ bytes: UnsafeRawBufferPointer, to descriptor: Int32) -> Int32 {
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
