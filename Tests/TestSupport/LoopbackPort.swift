// SPDX-License-Identifier: Apache-2.0

package import Glibc

/// TCP ports of 127.0.0.1.
package enum LoopbackPort {
    /// None is free.
    package struct NoPort: Error {}

    /// A port that nobody uses now, and neither the next.
    package static func free() throws -> UInt16 {
        for _ in 0..<100 {
            let candidate = UInt16.random(in: 20_000...30_000)
            if isFree(candidate), isFree(candidate + 1) { return candidate }
        }
        throw NoPort()
    }

    private static func isFree(_ port: UInt16) -> Bool {
        let descriptor = makeSocket()
        defer { close(descriptor) }
        return withAddress(port) { bind(descriptor, $0, $1) } == 0
    }

    /// Whether a server accepts connections.
    package static func accepts(_ port: UInt16) -> Bool {
        let descriptor = makeSocket()
        defer { close(descriptor) }
        return withAddress(port) { connect(descriptor, $0, $1) } == 0
    }

    /// A TCP socket.
    package static func makeSocket() -> Int32 {
        socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
    }

    /// Calls a function of the system with the address of a port.
    package static func withAddress<Result>(
        _ port: UInt16, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Result
    ) -> Result {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        return withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                body($0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
    }
}
