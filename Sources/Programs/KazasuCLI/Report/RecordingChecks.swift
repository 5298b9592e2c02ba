// SPDX-License-Identifier: Apache-2.0

import Kazasu
import Recordings

/// `kazasu contribute --check FILE…`
package struct RecordingChecks {
    private let files: [String]
    private let rows: Bool

    /// - Parameter rows: whether to print rows for `Docs/tested-with.md` instead of nothing.
    package init(_ files: [String], rows: Bool) {
        (self.files, self.rows) = (files, rows)
    }

    /// Checks all files.
    ///
    /// - Throws: ``CommandError``: 65 after the faults of all of them were printed, 66 for one that cannot be read.
    package func run(_ context: Context) throws {
        let checks = try files.map { path in (path: path, check: try Self.check(path)) }
        let faults = checks.contains { !$0.check.faults.isEmpty }
        if context.json {
            try context.print(Self.json(checks))
        } else {
            var lines: [String] = []
            for (path, check) in checks {
                lines += check.faults.map { "\(path):\($0.line): \($0.fault.words)" }
            }
            if rows {
                let found = checks.compactMap { RecordingRow($0.check, name: Self.name($0.path)) }
                lines += found.sorted().map { $0.text(Language.current) }
            }
            if !lines.isEmpty { try context.print(lines.map { $0 + "\n" }.joined()) }
        }
        guard faults else { return }
        throw CommandError(.recordingNotMasked)
    }

    private static func check(_ path: String) throws -> RecordingCheck {
        do throws(CommandError) {
            let bytes = try Files.read(path, limit: Recording.longestFile)
            return RecordingCheck(bytes, name: path == "-" ? nil : name(path))
        } catch {
            guard error.reason == "tooLong" else { throw error }
            return .tooLong
        }
    }

    private static func name(_ path: String) -> String {
        path.split(separator: "/").last.map { String($0) } ?? path
    }

    private static func json(_ checks: [(path: String, check: RecordingCheck)]) -> JSONValue {
        let isValid = checks.allSatisfy { $0.check.faults.isEmpty }
        return [
            "schema": "kazasu.check/1", "valid": .bool(isValid), "state": isValid ? "valid" : "malformed",
            "reason": isValid ? .null : "badFile",
            "files": .array(
                checks.map { path, check in
                    [
                        "path": .string(path),
                        "faults": .array(
                            check.faults.map { ["line": .int($0.line), "fault": .string($0.fault.word)] }),
                    ]
                }),
        ]
    }
}

extension RecordingCheck.Fault {
    /// The fault, without the value.
    fileprivate var words: String {
        switch self {
        case .notThisForm: tr("not a line of this form", "この形式の行ではありません")
        case .version(let found):
            tr("made by another version of Kazasu (\(found))", "別のバージョンの Kazasu で作られています（\(found)）")
        case .tooLong: tr("longer than 4 MiB", "4 MiB を超えています")
        case .tooManyLines: tr("more than 100,000 lines", "10 万行を超えています")
        case .digest: tr("the digest in the name does not match", "ファイル名のダイジェストが一致しません")
        case .unmasked: tr("a value is not masked", "伏せられていない値があります")
        case .notHarmless: tr("a frame that 'contribute' never sends", "contribute が送らないフレームです")
        case .timeGoesBack: tr("the time goes back", "時刻が前の行より戻っています")
        }
    }
}
