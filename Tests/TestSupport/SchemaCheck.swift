// SPDX-License-Identifier: Apache-2.0

internal import CardModel
internal import Glibc
internal import Synchronization

/// Checks the JSON documents that the program prints in these tests against `Docs/schemas`, with jsonschema from PyPI in the
/// Python that `KAZASU_PYTHON` names; without that variable nothing is checked.
///
/// One Python does it for all tests: starting one for each document would take longer than all else.
package final class SchemaCheck: Sendable {
    /// The one of this process; `nil` where no Python is named.
    package static let shared: SchemaCheck? = {
        guard let python = getenv("KAZASU_PYTHON"), python.pointee != 0 else { return nil }
        return SchemaCheck(String(cString: python))
    }()

    /// The Python that checks, or why there is none.
    private enum State {
        case running(RunningChild, input: Int32)
        case failed(String)
    }

    private let folder: TemporaryFolder?
    private let state: Mutex<State>

    private init(_ python: String) {
        folder = try? TemporaryFolder()
        state = Mutex(SchemaCheck.start(python, folder))
    }

    private static func start(_ python: String, _ folder: TemporaryFolder?) -> State {
        guard let folder else { return .failed("no temporary folder") }
        do {
            let fifo = "\(folder.path)/documents"
            guard mkfifo(fifo, 0o600) == 0 else { return .failed("no FIFO") }
            let child = try RunningChild(
                python, ["\(TestFiles.root)/Tests/Schemas/check.py", "\(TestFiles.root)/Docs/schemas", fifo],
                limit: .seconds(7200))
            // The first line says whether it can check at all; then it waits for documents.
            guard let line = try child.line(of: .output), line == "ready" else {
                let errors = child.finish().errors
                return .failed("Python cannot check schemas ('make venv' installs jsonschema): \(errors)")
            }
            return .running(child, input: open(fifo, O_WRONLY | O_CLOEXEC))
        } catch {
            return .failed("\(error)")
        }
    }

    /// What is wrong with the documents in the output of one run; `nil` where nothing is.
    package func problem(arguments: [String], output: String, errors: String) -> String? {
        let run: JSONValue = [
            "arguments": .array(arguments.map { .string($0) }), "output": .string(output), "errors": .string(errors),
        ]
        let line = Array((run.compactText + "\n").utf8)
        return state.withLock { state in
            guard case .running(let child, let input) = state else {
                guard case .failed(let reason) = state else { return nil }
                return reason
            }
            var sent = 0
            while sent < line.count {
                let count = line[sent...].withUnsafeBytes { write(input, $0.baseAddress, $0.count) }
                guard count > 0 || errno == EINTR else { break }
                sent += max(count, 0)
            }
            guard let answer = try? child.line(of: .output) else {
                state = .failed("the Python that checks schemas is gone: \(child.finish().errors)")
                return "the Python that checks schemas is gone"
            }
            return answer == "ok" ? nil : answer
        }
    }
}

extension ChildResult {
    /// What is wrong with its documents by their schemas; `nil` where nothing is, or nothing can be checked.
    ///
    /// - Parameter arguments: those of the program; with `--json`, every document needs a schema.
    package func schemaProblem(_ arguments: [String]) -> String? {
        // Not every run prints JSON, and each one that is checked costs a line through a pipe.
        guard output.contains("{") || errors.hasPrefix("{") else { return nil }
        return SchemaCheck.shared?.problem(arguments: arguments, output: output, errors: errors)
    }
}
