// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// A pcscd that lets libpcsclite connect, and says nothing, as one that was stopped.
package final class SilentPCSCService: Sendable {
    /// Why it cannot be asked here, or `nil` when it can.
    package static let obstacle =
        dlopen("libpcsclite.so.1", RTLD_LAZY) == nil ? "libpcsclite is missing: 'make deps-test' installs it" : nil

    /// What leads a program to it.
    package let environment: [String: String]
    private let folder: TemporaryFolder
    private let listener: Int32

    package struct NoSocket: Error {}

    package init() throws {
        folder = try TemporaryFolder()
        listener = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        let path = "\(folder.path)/pcscd.comm"
        environment = [PCSCService.variable: path]
        guard path.utf8.count < MemoryLayout.size(ofValue: address.sun_path) else { throw NoSocket() }
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
        let status = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(listener, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        guard status == 0, listen(listener, 100) == 0 else { throw NoSocket() }
    }

    deinit { close(listener) }

    /// Waits until a program has connected, and waits for an answer.
    package func waitForProgram() throws {
        // The connection stays open until the test has ended.
        guard accept(listener, nil, nil) >= 0 else { throw NoSocket() }
    }
}
