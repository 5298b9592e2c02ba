// SPDX-License-Identifier: Apache-2.0

import CardModel
import TestSupport
import Testing

@Suite("Damaged files of other tools", .waits)
struct ImporterErrorTests {
    static let files = TestFiles.names(in: "Fixtures/formats").filter { $0 != "NOTES.md" }.flatMap { format in
        TestFiles.names(in: "Fixtures/formats/\(format)").filter { !$0.hasSuffix(".expected") }
            .map { "\(format)/\($0)" }
    }

    /// Whether two words of lower-case English stand side by side; names of members and paths hold no blanks.
    private static func isEnglish(_ text: String) -> Bool {
        let words = text.split(separator: " ").map { word in
            word.utf8.count > 1 && word.utf8.allSatisfy { (0x61...0x7A).contains($0) }
        }
        return zip(words, words.dropFirst()).contains { $0 && $1 }
    }

    @Test("An error is told in Japanese too, and names the file", arguments: files)
    func inJapanese(_ file: String) throws {
        let original = try TestFiles.read("Fixtures/formats/\(file)")
        let folder = try TemporaryFolder()
        var random = SeededGenerator(seed: 11)
        var errors = 0
        for number in 0..<8 {
            var bytes = original
            for _ in 0...number / 2 {
                let place = Int.random(in: bytes.indices, using: &random)
                bytes[place] = Array("xZ|:{\" 0".utf8).randomElement(using: &random) ?? 0
            }
            if number == 0 { bytes = Array(original.prefix(original.count * 2 / 3)) }
            let path = try folder.write(bytes, as: "file\(number)")
            let result = try Kazasu.run("decode", path, "--lang", "ja")
            if result.hasEnded(0) { continue }
            errors += 1
            #expect(result.hasEnded(65), "\(result.errors)")
            #expect(result.errors.contains(path))
            // What expat says of XML is in English, within brackets.
            if file.hasPrefix("metrodroid-xml/") { continue }
            #expect(!Self.isEnglish(result.messages.first.map { String($0) } ?? ""), "\(result.errors)")
        }
        #expect(errors > 0)
    }

    @Test("A file that cannot be read is converted to nothing: what stood there stays, byte for byte", arguments: files)
    func nothingIsWritten(_ file: String) throws {
        let folder = try TemporaryFolder()
        let original = try TestFiles.read("Fixtures/formats/\(file)")
        var random = SeededGenerator(seed: UInt64(original.count))
        var refused = 0
        for number in 0..<12 {
            var bytes = original
            switch number {
            case 0: bytes = Array("{".utf8) + original.prefix(50)
            case 1: bytes = Array(original.prefix(original.count / 2))
            case 2: bytes = Array(original.dropLast(3))
            default:
                for _ in 0..<number { bytes[Int.random(in: bytes.indices, using: &random)] = UInt8(ascii: "Z") }
            }
            let source = try folder.write(bytes, as: "source")
            let kept = try folder.write(Array("kept".utf8), as: "kept.json")
            let result = try Kazasu.run("convert", source, "--to", "json", "-o", kept)
            if result.hasEnded(0) {
                // What is written is a dump.
                #expect(throws: Never.self) { try CardDump(parsing: TestFiles.read(kept)) }
                continue
            }
            refused += 1
            result.expectError(65, source)
            #expect(try TestFiles.read(kept) == Array("kept".utf8))
            #expect(folder.names == ["kept.json", "source"], "nothing is left beside it")
        }
        #expect(refused > 2)
    }
}
