// SPDX-License-Identifier: Apache-2.0

import CardModel
import Glibc
import TestSupport
import Testing

/// Programs whose driver does not answer: a pcscd that lets libpcsclite connect, and says nothing.
@Suite(
    "Programs do not hang with a driver", .timeLimit(.minutes(3)),
    .enabled(if: dlopen("libpcsclite.so.1", RTLD_LAZY) != nil))
struct HangingDriverTests {
    private final class HangingService: Sendable {
        let environment: [String: String]
        private let folder: TemporaryFolder
        private let listener: Int32

        init() throws {
            folder = try TemporaryFolder()
            listener = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
            var address = sockaddr_un()
            address.sun_family = sa_family_t(AF_UNIX)
            let path = "\(folder.path)/pcscd.comm"
            environment = ["PCSCLITE_CSOCK_NAME": path]
            try #require(path.utf8.count < MemoryLayout.size(ofValue: address.sun_path))
            withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
            let status = withUnsafePointer(to: &address) {
                $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    bind(listener, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
                }
            }
            try #require(status == 0 && listen(listener, 100) == 0)
        }

        deinit { close(listener) }

        /// Waits until a program has connected, and waits for an answer.
        func waitForProgram() throws {
            // The connection stays open until the test has ended.
            try #require(accept(listener, nil, nil) >= 0)
        }
    }

    @Test("SIGTERM ends watch", arguments: [["-r", "pcsc:Reader"], []])
    func watch(readers: [String]) throws {
        let service = try HangingService()
        let child = try Service.watch(readers, environment: service.environment)
        try service.waitForProgram()
        child.send(SIGTERM)
        #expect(child.finish().end == .exited(0))
    }

    @Test("SIGTERM ends bridge")
    func bridge() throws {
        let service = try HangingService()
        let child = try RunningChild(
            Service.path, ["bridge", "-r", "pcsc:Reader", "--port", "\(try LoopbackPort.free())"],
            environment: Service.environment.merging(service.environment) { $1 }, limit: .seconds(120))
        try service.waitForProgram()
        child.send(SIGTERM)
        #expect(child.finish().end == .exited(0))
    }

    @Test("Requests end in time, and say which driver does not answer")
    func requests() throws {
        let pcscd = try HangingService()
        let program = try RPCProgram(["-r", "pcsc:Reader"], environment: pcscd.environment)
        for _ in 0..<2 {
            let error = try program.error("card.poll", ["timeout": 1])
            #expect(try error.required("message").text().contains("pcscd does not answer"))
        }
        let service = try JSONCursor(program.result("readers.list")).required("pcsc")
        #expect(try service.required("state").text() == "unavailable")
        #expect(try service.required("detail").text() == "pcscd does not answer")
        // Nothing keeps the program after the end of its input.
        program.send("card.poll", ["timeout": 1])
        #expect(program.finish().end == .exited(0))
    }
}
