// SPDX-License-Identifier: Apache-2.0

internal import Glibc

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
        abandon()
    }

    /// Leaves the file, as a server does that was killed.
    func abandon() {
        // A program that is being started has the file open, too, until it runs: the lock would stay as long.
        flock(lock, LOCK_UN)
        close(lock)
    }

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
