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

/// Why a server cannot listen.
package struct ListenError: Error, Hashable, Sendable {
    package enum Reason: Hashable, Sendable {
        /// Another program listens there.
        case busy
        case permission
        /// The address is not one of this computer, or the folder is missing.
        case absent
        /// The file at the path of the socket is something else; it was not changed.
        case notASocket
        case failed
    }

    package var address: ListenAddress
    package var reason: Reason
    package var errno: Int32

    init(_ address: ListenAddress, _ errno: Int32) {
        (self.address, self.errno) = (address, errno)
        reason =
            switch errno {
            case EADDRINUSE: .busy
            case EACCES, EPERM: .permission
            case EADDRNOTAVAIL, ENOENT, ENOTDIR: .absent
            case ENOTSOCK: .notASocket
            default: .failed
            }
    }
}

/// A Unix socket that only its owner may use.
struct UnixListener {
    let path: String
    let descriptor: Int32
    /// Held as long as the socket is used, so that two servers never take each other's socket for a stale one.
    private let lock: Int32
    private let inode: ino_t

    /// Binds a socket. A file that a dead server left is replaced; nothing else is.
    init(_ path: String) throws(ListenError) {
        func failure(_ error: Int32) -> ListenError { ListenError(.unix(path: path), error) }
        let lock = unsafe open(path + ".lock", O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard lock >= 0 else { throw failure(errno) }
        var isKept = false
        defer { if !isKept { close(lock) } }
        guard flock(lock, LOCK_EX | LOCK_NB) == 0 else { throw failure(EADDRINUSE) }
        var status = stat()
        if unsafe lstat(path, &status) == 0 {
            guard status.st_mode & S_IFMT == S_IFSOCK else { throw failure(ENOTSOCK) }
            switch Self.connectError(path) {
            case ECONNREFUSED: unsafe unlink(path)
            case 0, EAGAIN: throw failure(EADDRINUSE)
            case let error: throw failure(error)
            }
        }
        let file = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        guard file >= 0 else { throw failure(errno) }
        defer { if !isKept { close(file) } }
        // Linux gives the file the mode of the socket, so that nobody else can connect before a chmod.
        guard fchmod(file, 0o600) == 0, unsafe Self.withAddress(path, { unsafe bind(file, $0, $1) }) == 0 else {
            throw failure(errno)
        }
        guard unsafe lstat(path, &status) == 0 else { throw failure(errno) }
        isKept = true
        (self.path, self.lock, descriptor, inode) = (path, lock, file, status.st_ino)
    }

    /// Removes the file, unless it is another one by now. The socket itself belongs to the server. The lock file stays: another
    /// server may have it open already, and a third one would lock a new file.
    func remove() {
        var status = stat()
        if unsafe lstat(path, &status) == 0, status.st_ino == inode, status.st_mode & S_IFMT == S_IFSOCK {
            unsafe unlink(path)
        }
        close(lock)
    }

    /// Leaves the file, as a server does that was killed.
    func abandon() { close(lock) }

    /// The error of connecting to the socket; 0 if a server answers.
    private static func connectError(_ path: String) -> Int32 {
        let kind = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue) | Int32(SOCK_NONBLOCK.rawValue)
        let file = socket(AF_UNIX, kind, 0)
        guard file >= 0 else { return errno }
        defer { close(file) }
        return unsafe withAddress(path) { unsafe connect(file, $0, $1) } == 0 ? 0 : errno
    }

    private static func withAddress(_ path: String, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Int32) -> Int32 {
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        unsafe withUnsafeMutableBytes(of: &address.sun_path) { bytes in
            unsafe bytes.copyBytes(from: path.utf8.prefix(bytes.count - 1))
        }
        return unsafe withUnsafePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                unsafe body($0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
    }
}
