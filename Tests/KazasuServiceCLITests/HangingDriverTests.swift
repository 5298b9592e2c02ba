// SPDX-License-Identifier: Apache-2.0

import CardModel
import Glibc
import TestSupport
import Testing

/// Programs whose driver does not answer: a pcscd that lets libpcsclite connect, and says nothing.
@Suite(
    "Programs do not hang with a driver", .timeLimit(.minutes(3)),
    .enabled(if: SilentPCSCService.obstacle == nil, "\(SilentPCSCService.obstacle ?? "")"))
struct HangingDriverTests {
    @Test("SIGTERM ends watch", arguments: [["-r", "pcsc:Reader"], []])
    func watch(readers: [String]) throws {
        let service = try SilentPCSCService()
        let child = try Service.watch(readers, environment: service.environment)
        try service.waitForProgram()
        child.send(SIGTERM)
        #expect(child.finish().end == .exited(0))
    }

    @Test("SIGTERM ends bridge")
    func bridge() throws {
        let service = try SilentPCSCService()
        let child = try RunningChild(
            Service.path, ["bridge", "-r", "pcsc:Reader", "--port", "\(try LoopbackPort.free())"],
            environment: Service.environment.merging(service.environment) { $1 }, limit: .seconds(120))
        try service.waitForProgram()
        child.send(SIGTERM)
        #expect(child.finish().end == .exited(0))
    }

    @Test("Requests end in time, and say which driver does not answer")
    func requests() throws {
        let pcscd = try SilentPCSCService()
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

/// A broker that takes connections and says nothing, or nothing more.
@Suite("Programs do not hang with a broker", .waits, .timeLimit(.minutes(3)))
struct SilentBrokerTests {
    /// When the broker falls silent.
    enum Moment: CaseIterable {
        /// Before it takes the connection.
        case before
        /// While the connection is opened: no CONNACK.
        case opening
        /// In mid-exchange, and while it is closed: no PUBACK.
        case publishing
    }

    static let cases: [(moment: Moment, scheme: String)] =
        // No packet of MQTT is reached in the opening of TLS.
        Moment.allCases.map { ($0, "mqtt") } + [(.before, "mqtts"), (.opening, "mqtts")]

    @Test("SIGTERM ends watch, and events are left for the next start", arguments: cases)
    func watch(moment: Moment, scheme: String) throws {
        let folder = try TemporaryFolder()
        let broker = try SilentBroker(folder, takesConnections: moment != .before, greets: moment == .publishing)
        let child = try Service.watch([
            "-r", "virtual:\(Service.card)", "--outbox", "\(folder.path)/o", "--mqtt",
            "\(scheme)://127.0.0.1:\(broker.port)",
        ])
        _ = try child.event(of: "on")
        if moment != .before { try broker.waitForData(moment == .publishing ? 2 : 1) }
        child.send(SIGTERM)
        let result = child.finish()
        #expect(result.end == .exited(0))
        #expect(result.errors.contains("left for the next start"), "\(result.errors)")
    }

    @Test("SIGTERM ends serve and collect", arguments: cases, ["serve", "collect"])
    func others(row: (moment: Moment, scheme: String), command: String) throws {
        let folder = try TemporaryFolder()
        let broker = try SilentBroker(
            folder, takesConnections: row.moment != .before, greets: row.moment == .publishing)
        let own =
            command == "serve"
            ? ["--listen", "127.0.0.1:0", "-r", "virtual:\(Service.card)", "--outbox", "\(folder.path)/o"]
            : ["--to", "sqlite:\(folder.path)/events"]
        let child = try RunningChild(
            Service.path, [command, "--mqtt", "\(row.scheme)://127.0.0.1:\(broker.port)"] + own,
            environment: Service.environment, limit: .seconds(120))
        _ = try child.message(containing: command == "serve" ? "serving at" : "collecting")
        // CONNECT, and then SUBSCRIBE or PUBLISH.
        if row.moment != .before { try broker.waitForData(row.moment == .publishing ? 2 : 1) }
        child.send(SIGTERM)
        #expect(child.finish().end == .exited(0))
    }
}

/// A TCP server that reads, and answers nothing, or only the first packet of a connection.
private struct SilentBroker {
    private static let source = """
        import socket, sys, threading
        listener = socket.socket()
        listener.bind(("127.0.0.1", 0))
        listener.listen(8)
        print(listener.getsockname()[1], flush=True)
        takes, greets = (word == "true" for word in sys.argv[1:])
        def serve(client):
            while data := client.recv(65536):
                if greets and data[0] == 0x10:
                    client.sendall(bytes([0x20, 2, 0, 0]))
                print(data[0] >> 4, flush=True)
        held = []
        while takes:
            held.append(listener.accept()[0])
            threading.Thread(target=serve, args=held[-1:], daemon=True).start()
        threading.Event().wait()
        """

    let port: String
    private let server: RunningChild

    init(_ folder: TemporaryFolder, takesConnections: Bool, greets: Bool) throws {
        let script = try folder.write(Array(Self.source.utf8), as: "broker.py")
        server = try RunningChild(
            "/usr/bin/python3", [script, "\(takesConnections)", "\(greets)"], limit: .seconds(120))
        port = try #require(try server.line(of: .output))
    }

    /// Waits until so much has come, on whatever connection.
    func waitForData(_ count: Int) throws {
        for _ in 0..<count { _ = try #require(try server.line(of: .output)) }
    }
}
