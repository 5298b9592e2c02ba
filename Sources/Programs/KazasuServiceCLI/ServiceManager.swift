// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// Notifies systemd: readiness, status, watchdog (`sd_notify(3)`, without libsystemd).
package struct ServiceManager: Sendable {
    /// `$NOTIFY_SOCKET`; `nil` when no service manager started this process.
    private let socket: String?
    /// How often the watchdog wants to be fed; `nil` for never.
    package let watchdog: Duration?

    /// Reads the variables of the environment.
    package init(_ environment: [String: String], process: Int32 = getpid()) {
        socket = environment["NOTIFY_SOCKET"].flatMap { $0.isEmpty ? nil : $0 }
        let isOurs = environment["WATCHDOG_PID"].map { Int32($0) == process } ?? true
        let limit = environment["WATCHDOG_USEC"].flatMap { Int($0) }
        watchdog = isOurs ? limit.flatMap { $0 > 0 ? .microseconds($0) : nil } : nil
    }

    package func ready(_ status: String) { send("READY=1\nSTATUS=\(status)") }
    package func status(_ text: String) { send("STATUS=\(text)") }
    package func stopping() { send("STOPPING=1") }
    package func feed() { send("WATCHDOG=1") }

    /// The configuration is read again.
    package func reloading() {
        var time = timespec()
        unsafe clock_gettime(CLOCK_MONOTONIC, &time)
        send("RELOADING=1\nMONOTONIC_USEC=\(Int(time.tv_sec) * 1_000_000 + Int(time.tv_nsec) / 1000)")
    }

    /// Sends one datagram; nothing depends on its arrival.
    private func send(_ text: String) {
        guard let socket else { return }
        let bytes = Array(text.split(separator: "\n").joined(separator: "\n").utf8)
        let file = Glibc.socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        guard file >= 0 else { return }
        defer { close(file) }
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        var path = Array(socket.utf8)
        // A leading @ is the abstract namespace, whose names begin with a zero byte and do not end with one.
        if path.first == UInt8(ascii: "@") { path[0] = 0 }
        let offset = MemoryLayout<sockaddr_un>.offset(of: \.sun_path) ?? 2
        guard path.count < MemoryLayout<sockaddr_un>.size - offset else { return }
        unsafe withUnsafeMutableBytes(of: &address) { raw in
            for (index, byte) in path.enumerated() { unsafe raw[offset + index] = byte }
        }
        unsafe withUnsafePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
                _ = unsafe sendto(
                    file, bytes, bytes.count, Int32(MSG_NOSIGNAL), pointer, socklen_t(offset + path.count))
            }
        }
    }
}
