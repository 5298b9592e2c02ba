// SPDX-License-Identifier: Apache-2.0

import CardModel
import Glibc
import TestSupport

@testable import MQTT

/// Debian's mosquitto on a port of loopback that the system chose.
final class MosquittoServer {
    static let program = "/usr/sbin/mosquitto"
    static var isInstalled: Bool { access(program, X_OK) == 0 }

    let port: UInt16
    let folder: TemporaryFolder
    private var child: RunningChild?
    private let configuration: String

    /// - Parameter settings: lines of its configuration; `FOLDER` stands for a folder of its own.
    init(_ settings: [String] = ["allow_anonymous true"], files: [String: String] = [:]) throws {
        folder = try TemporaryFolder()
        port = try LoopbackPort.free()
        for (name, text) in files { _ = try folder.write(Array(text.utf8), as: name) }
        let path = folder.path
        // Started by root, it would become another user, who cannot read the folder.
        let lines = ["listener \(port) 127.0.0.1", "user root", "log_type none"] + settings
        configuration = try folder.write(
            Array(lines.map { $0.replacing("FOLDER", with: path) + "\n" }.joined().utf8), as: "mosquitto.conf")
        try start()
    }

    func start() throws {
        child = try RunningChild(Self.program, ["-c", configuration], limit: .seconds(300))
        // It is there when it accepts connections.
        while !LoopbackPort.accepts(port) { poll(nil, 0, 5) }
    }

    func kill() {
        child?.send(SIGKILL)
        _ = child?.end()
        child = nil
    }

    deinit { kill() }

    var broker: MQTTBroker { MQTTBroker(host: "127.0.0.1", port: port) }
}

/// A client of the tests that keeps what it gets.
actor Subscriber {
    private let connection: MQTTConnection
    private let stream: AsyncStream<MQTTConnection.Event>
    private(set) var messages: [MQTTMessage] = []

    init(_ broker: MQTTBroker, _ filters: [String], id: String = "subscriber") async {
        let (stream, continuation) = AsyncStream<MQTTConnection.Event>.makeStream()
        var settings = MQTTConnection.Settings(broker: broker, clientID: id)
        settings.subscriptions = filters
        settings.firstPause = .milliseconds(20)
        connection = MQTTConnection(settings) { continuation.yield($0) }
        self.stream = stream
        connection.start()
        // What is retained may come before the answer to the subscription.
        for await event in stream {
            if case .message(let message) = event { messages.append(message) }
            if case .connected = event { break }
        }
    }

    /// The messages until this many are there that fit.
    func wait(for count: Int, where fits: @Sendable (MQTTMessage) -> Bool) async -> [MQTTMessage] {
        var found = messages.filter(fits)
        if found.count >= count { return found }
        for await event in stream {
            guard case .message(let message) = event else { continue }
            messages.append(message)
            if fits(message) { found.append(message) }
            if found.count >= count { break }
        }
        return found
    }

    func publish(_ topic: String, _ payload: String, isRetained: Bool = false) async -> [MQTTPublishResult] {
        await connection.publish([MQTTMessage(topic, payload, isRetained: isRetained)])
    }

    func close() async { await connection.close() }
}

extension MQTTMessage {
    var text: String { String(decoding: payload, as: UTF8.self) }
}
