// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import NIOCore

/// Where a server listens.
package enum ListenAddress: Hashable, Sendable {
    /// An IP address; port 0 is one that the system chooses.
    case internet(host: String, port: UInt16)
    case unix(path: String)
    /// A socket that systemd listens on already.
    case inherited(descriptor: Int32, isLocal: Bool)

    /// Reads `127.0.0.1:7878`, `[::1]:7878`, `localhost:7878` or `unix:PATH`.
    package init?(_ text: String) {
        if text.hasPrefix("unix:") {
            let path = String(text.dropFirst(5))
            // The longest path that fits `sun_path` with its zero.
            guard !path.isEmpty, path.utf8.count < 108, !path.utf8.contains(0) else { return nil }
            self = .unix(path: path)
            return
        }
        guard let colon = text.lastIndex(of: ":"), let port = UInt16(text[text.index(after: colon)...]),
            text[text.index(after: colon)...].allSatisfy(\.isNumber)
        else { return nil }
        var host = String(text[..<colon])
        if host.hasPrefix("["), host.hasSuffix("]") {
            host = String(host.dropFirst().dropLast())
            guard host.contains(":") else { return nil }
        } else if host.contains(":") {
            return nil
        }
        if host == "localhost" { host = "127.0.0.1" }
        guard (try? SocketAddress(ipAddress: host, port: Int(port))) != nil else { return nil }
        self = .internet(host: host, port: port)
    }

    /// Whether only programs of this computer reach it.
    package var isLocal: Bool {
        switch self {
        case .unix: true
        case .inherited(_, let isLocal): isLocal
        case .internet(let host, _): Self.isLoopback(host)
        }
    }

    /// Whether two servers cannot both have it.
    package var isFixed: Bool { if case .internet(_, 0) = self { false } else { true } }

    /// The sockets that systemd passes to a service (`sd_listen_fds(3)`).
    package static func inherited(_ environment: [String: String], process: Int32 = getpid()) -> [ListenAddress] {
        guard environment["LISTEN_PID"].flatMap({ Int32($0) }) == process,
            let count = environment["LISTEN_FDS"].flatMap({ Int32($0) }), (1...64).contains(count)
        else { return [] }
        return (3..<3 + count).map { descriptor in
            _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
            var address = sockaddr_storage()
            var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
            let isKnown = unsafe withUnsafeMutablePointer(to: &address) { pointer in
                unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    unsafe getsockname(descriptor, $0, &length) == 0
                }
            }
            guard isKnown else { return .inherited(descriptor: descriptor, isLocal: false) }
            return .inherited(descriptor: descriptor, isLocal: isLocal(&address))
        }
    }

    /// Whether it is a Unix socket or a loopback address.
    private static func isLocal(_ address: inout sockaddr_storage) -> Bool {
        let family = Int32(address.ss_family)
        // The addresses of Linux's `sockaddr_in` and `sockaddr_in6` are at 4 and 8.
        return unsafe withUnsafeBytes(of: &address) { bytes in
            switch family {
            case AF_UNIX: true
            case AF_INET: unsafe bytes[4] == 127
            case AF_INET6: unsafe bytes[8..<24].elementsEqual([UInt8](repeating: 0, count: 15) + [1])
            default: false
            }
        }
    }

    private static func isLoopback(_ host: String) -> Bool {
        host == "::1" || (host.hasPrefix("127.") && !host.contains(":"))
    }
}

extension ListenAddress: CustomStringConvertible {
    /// As a URL, or `unix:PATH`.
    package var description: String {
        switch self {
        case .internet(let host, let port): host.contains(":") ? "http://[\(host)]:\(port)" : "http://\(host):\(port)"
        case .unix(let path): "unix:\(path)"
        case .inherited(let descriptor, _): "fd:\(descriptor)"
        }
    }
}
