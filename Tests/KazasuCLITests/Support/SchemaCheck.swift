// SPDX-License-Identifier: Apache-2.0

import CardModel
import Glibc
import Synchronization
import TestSupport
import Testing

/// Checks the JSON documents that the program prints in these tests against `Docs/schemas`, with jsonschema from PyPI in the
/// Python that `KAZASU_PYTHON` names; without that variable nothing is checked.
///
/// One Python does it for all tests: starting one for each document would take longer than all else.
final class SchemaCheck: Sendable {
    /// The one of this process; `nil` where no Python is named.
    static let shared: SchemaCheck? = {
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
            let script = try folder.write(Array(program.utf8), as: "check.py")
            let child = try RunningChild(
                python, [script, "\(TestFiles.root)/Docs/schemas", fifo], limit: .seconds(7200))
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
    func problem(arguments: [String], output: String, errors: String) -> String? {
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

    private static let program = """
        import json, pathlib, sys
        from jsonschema import Draft202012Validator
        from referencing import Registry, Resource

        def unique(pairs):
            keys = [key for key, _ in pairs]
            if len(keys) != len(set(keys)): raise ValueError(f"a key is there twice: {keys}")
            return dict(pairs)

        folder, fifo = pathlib.Path(sys.argv[1]), sys.argv[2]
        files = {path.name: json.loads(path.read_text("utf-8")) for path in folder.glob("*.json")}
        registry = Registry().with_resources((name, Resource.from_contents(file)) for name, file in files.items())
        validators = {}
        for name, file in files.items():
            Draft202012Validator.check_schema(file)
            if name != "common.json":
                validators[file["properties"]["schema"]["const"]] = Draft202012Validator(file, registry=registry)

        def deepest(error):
            return max(error.context, key=lambda inner: len(inner.absolute_path)) if error.context else error

        def problem(text, strict):
            if not text.lstrip().startswith("{"): return None
            try: documents = [json.loads(text, object_pairs_hook=unique)]
            except json.JSONDecodeError as whole:
                try: documents = [json.loads(line, object_pairs_hook=unique) for line in text.splitlines() if line[:1] == "{"]
                except json.JSONDecodeError: return f"not JSON: {whole}" if strict else None
            for document in documents:
                schema = document.get("schema")
                if schema not in validators:
                    if strict: return f"no schema for {schema}"
                    continue
                error = next(iter(sorted(validators[schema].iter_errors(document), key=str)), None)
                if error: return f"{schema} {error.json_path}: {error.message[:300]} / {deepest(error).message[:200]}"

        print("ready", flush=True)
        for line in open(fifo, encoding="utf-8"):
            run = json.loads(line)
            strict = "--json" in run["arguments"]
            try: found = problem(run["output"], strict) or problem(run["errors"], strict)
            except Exception as error: found = repr(error)
            print(" ".join(found.split()) if found else "ok", flush=True)
        """
}

extension ChildResult {
    /// Checks its documents against their schemas.
    func checkingSchemas(_ arguments: [String]) -> ChildResult {
        // Not every run prints JSON, and each one that is checked costs a line through a pipe.
        guard output.contains("{") || errors.hasPrefix("{"),
            let problem = SchemaCheck.shared?.problem(arguments: arguments, output: output, errors: errors)
        else { return self }
        Issue.record("kazasu \(arguments.joined(separator: " ")): \(problem)")
        return self
    }
}
