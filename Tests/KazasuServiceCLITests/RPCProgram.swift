// SPDX-License-Identifier: Apache-2.0

import CardModel
import Glibc
import TestSupport
import Testing

/// A running `kazasu rpc`, and the client of it.
final class RPCProgram {
    private let folder: TemporaryFolder
    private let child: RunningChild
    private var input: Int32
    private var lastID: Int64 = 0
    /// Messages that nobody asked for yet.
    private(set) var others: [JSONObject] = []

    /// - Parameter setup: commands of a shell before the program, such as for descriptors.
    init(_ arguments: [String] = [], environment: [String: String] = [:], setup: String = "") throws {
        folder = try TemporaryFolder()
        let fifo = "\(folder.path)/input"
        guard mkfifo(fifo, 0o600) == 0 else { throw Missing(what: "FIFO") }
        let words = ([Service.path, "rpc"] + arguments).map { "'\($0)'" }.joined(separator: " ")
        child = try RunningChild(
            "/bin/sh", ["-c", "exec \(words) < '\(fifo)' \(setup)"],
            environment: Service.environment.merging(environment) { $1 }, limit: .seconds(120))
        input = open(fifo, O_WRONLY | O_CLOEXEC)
    }

    deinit { if input >= 0 { close(input) } }

    struct Missing: Error {
        var what: String
    }

    /// Writes bytes.
    func write(_ bytes: [UInt8]) {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Glibc.write(input, $0.baseAddress, $0.count) }
            guard count > 0 || errno == EINTR else {
                Issue.record("the program does not read")
                return
            }
            rest = rest.dropFirst(max(count, 0))
        }
    }

    func write(line: String) { write(Array((line + "\n").utf8)) }

    /// Sends a request.
    ///
    /// - Returns: its id.
    @discardableResult
    func send(_ method: String, _ params: JSONValue = [:]) -> JSONValue {
        lastID += 1
        let request: JSONValue = [
            "jsonrpc": "2.0", "id": .integer(lastID), "method": .string(method), "params": params,
        ]
        write(line: request.compactText)
        return .integer(lastID)
    }

    /// Sends a notification.
    func notify(_ method: String, _ params: JSONValue) {
        let message: JSONValue = ["jsonrpc": "2.0", "method": .string(method), "params": params]
        write(line: message.compactText)
    }

    /// The next line that the program writes: a message, or a batch of them.
    func nextValue() throws -> JSONValue {
        guard let line = try child.line(of: .output) else { throw Missing(what: "message") }
        return try JSONValue(parsing: Array(line.utf8))
    }

    /// The next message that the program writes.
    func message() throws -> JSONObject { try JSONCursor(nextValue()).object() }

    /// The response to a request.
    func response(to id: JSONValue) throws -> JSONObject {
        if let index = others.firstIndex(where: { $0["id"] == id && $0["method"] == nil }) {
            return others.remove(at: index)
        }
        while true {
            let message = try message()
            if message["id"] == id, message["method"] == nil { return message }
            others.append(message)
        }
    }

    /// The params of the next notification of this name.
    func notification(_ name: String) throws -> JSONValue {
        if let index = others.firstIndex(where: { $0["method"] == .string(name) }) {
            return try #require(others.remove(at: index)["params"])
        }
        while true {
            let message = try message()
            if message["method"] == .string(name) { return try #require(message["params"]) }
            others.append(message)
        }
    }

    /// Sends a request and waits for its result.
    func result(_ method: String, _ params: JSONValue = [:]) throws -> JSONValue {
        let response = try response(to: send(method, params))
        return try #require(response["result"], "\(response)")
    }

    /// Sends a request and waits for its error.
    func error(_ method: String, _ params: JSONValue = [:]) throws -> JSONCursor {
        let response = try response(to: send(method, params))
        return JSONCursor(try #require(response["error"], "\(response)"))
    }

    func signal(_ number: Int32) { child.send(number) }

    /// Reads its output no more.
    func closeOutput() { child.closeOutput() }

    /// Ends the input.
    func closeInput() {
        if input >= 0 { close(input) }
        input = -1
    }

    /// Waits for the end of the program.
    func end() -> ChildResult { child.finish() }

    /// Ends the input, and waits for the end of the program.
    func finish() -> ChildResult {
        closeInput()
        return child.finish()
    }
}
