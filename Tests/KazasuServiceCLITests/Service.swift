// SPDX-License-Identifier: Apache-2.0

import CardModel
import Glibc
import TestSupport
import Testing

/// The second program, run as a user runs it.
enum Service {
    /// The one beside the test bundle.
    static let path: String = {
        var buffer = [CChar](repeating: 0, count: 4096)
        let count = max(0, readlink("/proc/self/exe", &buffer, buffer.count))
        let bundle = String(decoding: buffer.prefix(count).map(UInt8.init(bitPattern:)), as: UTF8.self)
        let candidates = [bundle] + CommandLine.arguments.filter { $0.hasSuffix(".xctest") }
        let programs = candidates.map { $0.split(separator: "/", omittingEmptySubsequences: false).dropLast() }
            .map { ($0 + ["kazasud"]).joined(separator: "/") }
        return programs.first { access($0, X_OK) == 0 } ?? "kazasud"
    }()

    /// A card that lies on a virtual reader.
    static let card = "\(TestFiles.root)/Fixtures/cards/suica-p1/card.json"
    /// A card that comes and goes.
    static let visitor = "\(TestFiles.root)/Fixtures/felica/two-purses.json"

    static let environment = [
        "LC_ALL": "C.UTF-8", "LC_MESSAGES": "", "LANG": "", "KAZASU_READER": "", "NO_COLOR": "", "TERM": "",
        "COLUMNS": "80", "TZ": "Asia/Tokyo", "XDG_DATA_HOME": "/dev/null/kazasu", "XDG_STATE_HOME": "/dev/null/kazasu",
        "JOURNAL_STREAM": "",
    ]

    /// Runs one command line to its end.
    static func run(_ arguments: String..., environment: [String: String] = [:]) throws -> ChildResult {
        try ChildProcess.run(
            path, arguments, environment: Self.environment.merging(environment) { $1 }, limit: .seconds(60))
    }

    /// Starts `watch`.
    static func watch(_ arguments: String..., environment: [String: String] = [:]) throws -> RunningChild {
        try RunningChild(
            path, ["watch"] + arguments, environment: Self.environment.merging(environment) { $1 }, limit: .seconds(120)
        )
    }

    /// Checks documents against their schemas where `KAZASU_PYTHON` names a Python with jsonschema.
    static func checkSchemas(_ output: String, sourceLocation: SourceLocation = #_sourceLocation) throws {
        guard let python = getenv("KAZASU_PYTHON"), python.pointee != 0 else { return }
        let folder = try TemporaryFolder()
        let file = try folder.write(Array(output.utf8), as: "documents")
        let result = try ChildProcess.run(
            String(cString: python), ["-c", schemaCheck, "\(TestFiles.root)/Docs/schemas", file], limit: .seconds(60))
        #expect(result.end == .exited(0), "\(result.errors)", sourceLocation: sourceLocation)
    }

    private static let schemaCheck = """
        import json, pathlib, sys
        from jsonschema import Draft202012Validator
        from referencing import Registry, Resource
        files = {path.name: json.loads(path.read_text("utf-8")) for path in pathlib.Path(sys.argv[1]).glob("*.json")}
        registry = Registry().with_resources((name, Resource.from_contents(file)) for name, file in files.items())
        schemas = {file["properties"]["schema"]["const"]: file for name, file in files.items() if name != "common.json"}
        text = pathlib.Path(sys.argv[2]).read_text("utf-8")
        try: documents = [json.loads(text)]
        except json.JSONDecodeError: documents = [json.loads(line) for line in text.splitlines()]
        assert documents
        for document in documents:
            Draft202012Validator(schemas[document["schema"]], registry=registry).validate(document)
        """
}

extension RunningChild {
    /// The next event; fails when there is none.
    func event(_ sourceLocation: SourceLocation = #_sourceLocation) throws -> JSONObject {
        let line = try #require(try line(of: .output), sourceLocation: sourceLocation)
        return try JSONCursor(JSONValue(parsing: Array(line.utf8))).object()
    }

    /// Reads events until one of this type.
    func event(of type: String) throws -> JSONObject {
        while true {
            let event = try event()
            if event["type"] == .string(type) { return event }
        }
    }

    /// Reads messages until one that contains this text.
    func message(containing text: String) throws -> String {
        while let line = try line(of: .errors) {
            if line.contains(text) { return line }
        }
        Issue.record("no message with '\(text)'")
        return ""
    }
}

extension TemporaryFolder {
    /// Makes a shell script.
    func script(_ lines: String, as name: String = "run") throws -> String {
        let path = try write(Array("#!/bin/sh\n\(lines)\n".utf8), as: name)
        chmod(path, 0o755)
        return path
    }

    func text(_ name: String) throws -> String {
        String(decoding: try TestFiles.read("\(path)/\(name)"), as: UTF8.self)
    }
}
