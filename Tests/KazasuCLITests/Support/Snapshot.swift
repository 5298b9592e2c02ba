// SPDX-License-Identifier: Apache-2.0

import Glibc
import TestSupport
import Testing

/// Reviewed answers in `Fixtures/cli`. `KAZASU_RECORD=1` writes them again.
enum Snapshot {
    /// Checks a text against what was recorded under this name; places and times of this run are left out.
    static func check(_ text: String, _ name: String, sourceLocation: SourceLocation = #_sourceLocation) throws {
        let path = "\(TestFiles.root)/Fixtures/cli/\(name)"
        let stable = text.replacing(TestFiles.root, with: "…").replacing(/"readAt": "[^"]*"/, with: #""readAt": "…""#)
        if let record = getenv("KAZASU_RECORD"), record.pointee != 0 {
            let file = try #require(fopen(path, "wb"), "no folder for \(path)", sourceLocation: sourceLocation)
            fputs(stable, file)
            fclose(file)
        }
        let recorded = String(decoding: try TestFiles.read(path), as: UTF8.self)
        #expect(stable == recorded, "\(name)", sourceLocation: sourceLocation)
    }
}
