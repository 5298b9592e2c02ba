// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// A master and a slave terminal in raw mode; programs open the slave by its path as if it were a serial port.
///
/// The slave is kept open here too, so clients may come and go: the master never sees the end of the file.
struct Pseudoterminal: ~Copyable {
    /// The master, which does not block.
    let master: Int32
    /// The slave, as `/dev/pts/3`.
    let path: String
    /// The symbolic link to the slave, when one was asked for.
    let link: String?
    private let slave: Int32
    /// Says when a client closes the slave; -1 when the system has no watch left.
    let watch: Int32

    // posix_openpt and the macros of these two requests do not reach Swift.
    private static let setLock: UInt = 0x4004_5431
    private static let getNumber: UInt = 0x8004_5430

    init(link: String?) throws(PseudoterminalError) {
        let master = unsafe open("/dev/ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC | O_NONBLOCK)
        guard master >= 0 else { throw .failed(call: "open /dev/ptmx", errno: errno) }
        let pair: (slave: Int32, path: String)
        do {
            pair = try Self.openSlave(of: master)
        } catch {
            close(master)
            throw error
        }
        do {
            if let link { try Self.makeLink(link, to: pair.path) }
        } catch {
            close(pair.slave)
            close(master)
            throw error
        }
        self.master = master
        (slave, path) = pair
        self.link = link
        watch = inotify_init1(Int32(IN_CLOEXEC) | Int32(IN_NONBLOCK))
        if watch >= 0 { _ = unsafe inotify_add_watch(watch, pair.path, UInt32(IN_CLOSE)) }
    }

    private static func openSlave(of master: Int32) throws(PseudoterminalError) -> (slave: Int32, path: String) {
        var locked: Int32 = 0
        guard unsafe ioctl(master, setLock, &locked) == 0 else { throw .failed(call: "unlock", errno: errno) }
        var number: Int32 = 0
        guard unsafe ioctl(master, getNumber, &number) == 0 else { throw .failed(call: "number", errno: errno) }
        let path = "/dev/pts/\(number)"
        let slave = unsafe open(path, O_RDWR | O_NOCTTY | O_CLOEXEC)
        guard slave >= 0 else { throw .failed(call: "open \(path)", errno: errno) }
        var settings = termios()
        unsafe cfmakeraw(&settings)
        settings.c_cflag |= tcflag_t(CREAD | CLOCAL)
        unsafe cfsetspeed(&settings, speed_t(B115200))
        guard unsafe tcsetattr(slave, TCSANOW, &settings) == 0 else {
            let reason = errno
            close(slave)
            throw .failed(call: "tcsetattr", errno: reason)
        }
        return (slave, path)
    }

    /// Makes the link; one that a killed run left behind, and that leads nowhere any more, is replaced.
    private static func makeLink(_ link: String, to path: String) throws(PseudoterminalError) {
        if unsafe symlink(path, link) == 0 { return }
        guard errno == EEXIST else { throw .cannotLink(path: link, errno: errno) }
        let isLink = target(of: link) != nil
        guard isLink, unsafe access(link, F_OK) != 0 else { throw .linkExists(path: link) }
        guard unsafe unlink(link) == 0, unsafe symlink(path, link) == 0 else {
            throw .cannotLink(path: link, errno: errno)
        }
    }

    private static func target(of link: String) -> String? {
        var buffer = [CChar](repeating: 0, count: 256)
        let count = unsafe readlink(link, &buffer, buffer.count)
        guard count >= 0 else { return nil }
        return String(decoding: buffer.prefix(count).map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    /// Lets anybody open the slave again: a client's exclusive claim outlives its descriptor on a pseudo-terminal.
    borrowing func endExclusiveUse() {
        _ = ioctl(slave, UInt(TIOCNXCL))
    }

    deinit {
        // A link that by now leads elsewhere belongs to somebody else.
        if let link, Self.target(of: link) == path { unsafe unlink(link) }
        if watch >= 0 { close(watch) }
        close(slave)
        close(master)
    }
}
