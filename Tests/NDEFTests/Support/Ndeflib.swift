// SPDX-License-Identifier: Apache-2.0

import ByteCodec
import CardModel
import Glibc
import TestSupport

/// ndeflib from PyPI, in the Python that `KAZASU_PYTHON` names, or in the repository's virtual environment.
enum Ndeflib {
    private static let python: String = {
        if let value = getenv("KAZASU_PYTHON") { return String(cString: value) }
        return "\(TestFiles.root)/.venv/bin/python"
    }()

    /// Reads messages, one a line in hexadecimal; says of each `error` and why, or its records as `TYPE|ID|what it says`, and the
    /// message as ndeflib writes it again.
    private static let reader = """
        import sys, ndef, urllib.parse
        for line in sys.stdin:
            try:
                records = list(ndef.message_decoder(bytes.fromhex(line.strip())))
            except Exception as problem:
                print("error", " ".join(str(problem).split())); continue
            try:
                said = []
                for r in records:
                    if isinstance(r, ndef.TextRecord): what = "text", r.language, r.encoding, r.text.encode("utf-8").hex()
                    elif isinstance(r, ndef.UriRecord): what = "uri", r.iri.encode("utf-8").hex()
                    elif isinstance(r, ndef.SmartposterRecord):
                        what = ("poster", r.resource.iri.encode("utf-8").hex(),
                                ",".join(f"{k}={v.encode('utf-8').hex()}" for k, v in sorted(r.titles.items())))
                    else: what = "data", r.data.hex()
                    said.append("|".join([urllib.parse.quote(r.type, safe=":/.-"), r.name.encode("latin-1").hex(), *what]))
                again = b"".join(ndef.message_encoder(records)).hex()
            except Exception as problem:
                print("unreadable", repr(problem)); continue
            print(";".join(said) + " " + again)
        """

    /// What ndeflib says of messages; `nil` where there is no ndeflib.
    static func read(_ messages: [[UInt8]]) throws -> [Substring]? {
        guard access(python, X_OK) == 0 else { return nil }
        let folder = try TemporaryFolder()
        let script = try folder.write(Array(reader.utf8), as: "read.py")
        let input = try folder.write(
            Array(messages.map { Hex.encode($0) + "\n" }.joined().utf8), as: "messages")
        let result = try ChildProcess.run(
            "/bin/sh", ["-c", "exec \"$1\" \"$2\" < \"$3\"", "sh", python, script, input], limit: .seconds(120))
        guard result.end == .exited(0) else { throw Failed(errors: result.errors) }
        return result.output.split(separator: "\n", omittingEmptySubsequences: false).dropLast()
    }

    /// The script failed.
    struct Failed: Error {
        let errors: String
    }
}
