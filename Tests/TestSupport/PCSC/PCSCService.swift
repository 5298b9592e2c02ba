// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// A pcscd of its own with two virtual readers of vsmartcard's vpcd, in a mount namespace of its own, since its socket
/// has a fixed place. It ends with the object.
package final class PCSCService {
    /// What names the socket to libpcsclite, in the environment.
    package static let variable = "PCSCLITE_CSOCK_NAME"

    /// The names of its readers.
    package let readers: [String]
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
        return MountNamespace.obstacle
    }()

    /// vpcd's driver.
    package static let driver = "/usr/lib/pcsc/drivers/serial/libifdvpcd.so"

    /// Starts it and waits until it is ready.
    ///
    /// - Parameters:
    ///   - folder: where its socket shall be; must exist.
    ///   - name: what its readers are called before their numbers.
    ///   - driver: a library that has the functions of vpcd's.
    package init(folder: String, name: String = "Kazasu Test", driver: String = PCSCService.driver) throws {
        self.folder = folder
        readers = ["\(name) 00 00", "\(name) 00 01"]
        port = try LoopbackPort.free()
        configuration = try TemporaryFolder()
        let file = try configuration.write(
            Array(
                """
                FRIENDLYNAME "\(name)"
                DEVICENAME /dev/null:\(port)
                LIBPATH \(driver)
                CHANNELID \(port)

                """.utf8), as: "reader.conf")
        let command =
            "mkdir -p /run/pcscd && mount --bind '\(folder)' /run/pcscd && "
            + "exec /usr/sbin/pcscd --foreground --info --config '\(file)' 2>&1"
        child = try MountNamespace.start(command, pipeSize: 1 << 20)
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

    /// Stops it as a debugger does: it keeps its connections, and answers nothing until ``resume()``.
    package func pause() { child.send(SIGSTOP) }

    package func resume() { child.send(SIGCONT) }

    /// Ends it as a service manager does.
    package func stop() {
        guard !isStopped else { return }
        isStopped = true
        child.send(SIGTERM)
        _ = child.finish()
    }
}
