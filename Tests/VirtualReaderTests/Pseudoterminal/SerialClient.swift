// SPDX-License-Identifier: Apache-2.0

import Glibc
import ReaderCore
import Testing

/// A program at the other end of a simulated serial port.
final class SerialClient {
    let descriptor: Int32

    init(_ path: String) throws {
        descriptor = open(path, O_RDWR | O_NOCTTY | O_CLOEXEC)
        try #require(descriptor >= 0, "open \(path): \(errno)")
    }

    func write(_ bytes: [UInt8]) {
        #expect(Glibc.write(descriptor, bytes, bytes.count) == bytes.count)
    }

    /// The next bytes, or as many as come within 10 s.
    func read(_ count: Int) -> [UInt8] {
        var bytes: [UInt8] = []
        while bytes.count < count {
            var entry = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
            guard poll(&entry, 1, 10_000) > 0 else { return bytes }
            var buffer = [UInt8](repeating: 0, count: count - bytes.count)
            let received = Glibc.read(descriptor, &buffer, buffer.count)
            guard received > 0 else { return bytes }
            bytes += buffer.prefix(received)
        }
        return bytes
    }

    deinit { close(descriptor) }
}
