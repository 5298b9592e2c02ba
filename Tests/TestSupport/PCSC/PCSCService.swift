// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// A pcscd of its own with two virtual readers of vsmartcard's vpcd, in a mount namespace of its own, since its socket
/// has a fixed place. It ends with the object.
package final class PCSCService {
    /// What names the socket to libpcsclite, in the environment.
    package static let variable = "PCSCLITE_CSOCK_NAME"

    /// The names of its readers.
    package let readers = ["Kazasu Test 00 00", "Kazasu Test 00 01"]
    /// Where its socket is.
    package var socket: String { "\(folder)/pcscd.comm" }
    /// The port at which the first reader waits for its card; the second reader's is the next.
    package let port: UInt16

    private let child: RunningChild
    private var isStopped = false
    private let folder: String
    private let configuration: TemporaryFolder

    /// Why it cannot run here, or `nil` when it can.
    package static let obstacle: String? = {
        for path in ["/usr/sbin/pcscd", driver] where access(path, R_OK) != 0 {
            return "\(path) is missing: 'make deps-test' installs it"
        }
        let result = try? ChildProcess.run("/usr/bin/unshare", namespace + ["/bin/mount", "--bind", "/run", "/mnt"])
        return result?.end == .exited(0) ? nil : "no mount namespace of our own is allowed here"
    }()

    private static let driver = "/usr/lib/pcsc/drivers/serial/libifdvpcd.so"
    private static var namespace: [String] { geteuid() == 0 ? ["-m"] : ["-rm"] }

    /// Starts it and waits until it is ready.
    ///
    /// - Parameter folder: where its socket shall be; must exist.
    package init(folder: String) throws {
        self.folder = folder
        port = try PCSCService.freePort()
        configuration = try TemporaryFolder()
        let file = try configuration.write(
            Array(
                """
                FRIENDLYNAME "Kazasu Test"
                DEVICENAME /dev/null:\(port)
                LIBPATH \(PCSCService.driver)
                CHANNELID \(port)

                """.utf8), as: "reader.conf")
        let command =
            "mkdir -p /run/pcscd && mount --bind '\(folder)' /run/pcscd && "
            + "exec /usr/sbin/pcscd --foreground --info --config '\(file)' 2>&1"
        child = try RunningChild(
            "/usr/bin/unshare", PCSCService.namespace + ["/bin/sh", "-c", command], limit: .seconds(300),
            pipeSize: 1 << 20)
        while let line = try child.line(of: .output) {
            guard line.contains("daemon ready") else { continue }
            // It says so just before it makes its socket.
            for _ in 0..<10_000 where access(socket, F_OK) != 0 { poll(nil, 0, 1) }
            return
        }
        throw ChildProcess.NotStarted(program: "pcscd", code: 0)
    }

    /// Waits until it says that the card in the first reader is gone: until then it takes the next one for the same.
    package func waitForRemoval() throws {
        while let line = try child.line(of: .output) {
            if line.contains("Card Removed From \(readers[0])") { return }
        }
        throw ChildProcess.NotStarted(program: "pcscd", code: 0)
    }

    /// Waits until it says that a card is in the first reader.
    package func waitForInsertion() throws {
        while let line = try child.line(of: .output) {
            if line.contains("Card inserted into \(readers[0])") { return }
        }
        throw ChildProcess.NotStarted(program: "pcscd", code: 0)
    }

    /// Ends it as a service manager does.
    package func stop() {
        guard !isStopped else { return }
        isStopped = true
        child.send(SIGTERM)
        _ = child.finish()
    }

    /// Two ports side by side that nobody uses now.
    private static func freePort() throws -> UInt16 {
        for _ in 0..<100 {
            let candidate = UInt16.random(in: 20_000...30_000)
            if isFree(candidate), isFree(candidate + 1) { return candidate }
        }
        throw ChildProcess.NotStarted(program: "pcscd", code: EADDRINUSE)
    }

    private static func isFree(_ port: UInt16) -> Bool {
        let descriptor = socketHandle()
        defer { close(descriptor) }
        return withAddress(port) { bind(descriptor, $0, $1) } == 0
    }

    static func socketHandle() -> Int32 {
        Glibc.socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
    }

    static func withAddress<Result>(
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
