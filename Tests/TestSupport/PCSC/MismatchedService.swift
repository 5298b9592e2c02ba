// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// A socket at which somebody answers as a pcscd does to a client of another protocol version: with its own version and
/// SCARD_E_SERVICE_STOPPED. It answers one client after another until it is deinitialized.
package final class MismatchedService: Sendable {
    /// Where it listens.
    package let socket: String

    private let folder: TemporaryFolder
    private let listener: Int32

    package init() throws {
        folder = try TemporaryFolder()
        socket = "\(folder.path)/pcscd.comm"
        listener = Glibc.socket(AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: socket.utf8.prefix($0.count - 1)) }
        let result = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(listener, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        guard result == 0, listen(listener, 8) == 0 else {
            throw ChildProcess.NotStarted(program: socket, code: errno)
        }
        var thread = pthread_t()
        let number = Unmanaged.passRetained(Number(listener))
        pthread_create(
            &thread, nil,
            { argument in
                guard let argument else { return nil }
                MismatchedService.serve(Unmanaged<Number>.fromOpaque(argument).takeRetainedValue().value)
                return nil
            }, number.toOpaque())
        pthread_detach(thread)
    }

    private final class Number: Sendable {
        let value: Int32
        init(_ value: Int32) { self.value = value }
    }

    deinit {
        shutdown(listener, Int32(SHUT_RDWR))
        close(listener)
    }

    /// A message is a header, its size and CMD_VERSION, and the version: major, minor, result (pcsc-lite, `winscard_msg.h`).
    private static func serve(_ listener: Int32) {
        while case let client = accept(listener, nil, nil), client >= 0 {
            var request = [UInt8](repeating: 0, count: 20)
            guard recv(client, &request, request.count, Int32(truncatingIfNeeded: MSG_WAITALL)) == request.count else {
                close(client)
                continue
            }
            let answer: [UInt8] = [4, 0, 0, 0, 99, 0, 0, 0, 0x1E, 0x00, 0x10, 0x80]
            _ = send(client, answer, answer.count, Int32(truncatingIfNeeded: MSG_NOSIGNAL))
            // Open until the client has read it and closes.
            _ = recv(client, &request, 1, 0)
            close(client)
        }
    }
}
