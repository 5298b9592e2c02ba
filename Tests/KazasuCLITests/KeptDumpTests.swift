// SPDX-License-Identifier: Apache-2.0

import CardModel
import Glibc
import TestSupport
import Testing

/// A card that the format cannot hold: the dump goes to a file beside the one that was asked for.
@Suite("A dump that its format cannot hold", .waits)
struct KeptDumpTests {
    /// A tag of type A: Metrodroid's files are for FeliCa.
    private static let reader = "virtual:\(TestFiles.root)/Fixtures/virtual/ntag213.json"

    @Test("Keeps the dump as FILE.json and leaves an older FILE unchanged", arguments: ["en", "ja"])
    func kept(language: String) throws {
        let folder = try TemporaryFolder()
        let path = try folder.write(Array("older".utf8), as: "dump")
        let result = try Kazasu.run(
            "dump", "-r", Self.reader, "-o", path, "--format", "metrodroid", "--lang", language)
        let hint = language == "en" ? "the data read so far is in \(path).json" : "読み取った内容は \(path).json に保存しました"
        result.expectError(65, hint)
        #expect(result.output.isEmpty)
        #expect(try folder.text("dump") == "older")
        let kept = try CardDump(parsing: Array(folder.text("dump.json").utf8))
        #expect(kept.type2?.pages.isEmpty == false)
        #expect(kept.isComplete)
    }

    @Test("When FILE.json cannot be written either, it goes to standard output")
    func printed() throws {
        let folder = try TemporaryFolder()
        #expect(mkdir("\(folder.path)/dump.json", 0o700) == 0)
        let result = try Kazasu.run("dump", "-r", Self.reader, "-o", "\(folder.path)/dump", "--format", "metrodroid")
        result.expectError(65, "the data read so far was written to standard output")
        #expect(try CardDump(parsing: Array(result.output.utf8)).type2 != nil)
    }

    @Test("--redact holds for the kept dump too")
    func redacted() throws {
        let folder = try TemporaryFolder()
        let result = try Kazasu.run(
            "dump", "-r", Self.reader, "-o", "\(folder.path)/dump", "--format", "metrodroid", "--redact")
        result.expectError(65, "dump.json")
        #expect(try !folder.text("dump.json").lowercased().contains("04a8d862bc2b80"))
    }
}
