// SPDX-License-Identifier: Apache-2.0

import CardModel
import DumpFormats
import DumpFormatsXML
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

    /// The first of these bytes that no importer reads, and why.
    private static func firstError(_ damaged: [[UInt8]]) -> (bytes: [UInt8], error: DocumentError)? {
        for bytes in damaged {
            do throws(DocumentError) {
                _ = try readDumps(bytes, formats: .complete)
            } catch {
                return (bytes, error)
            }
        }
        return nil
    }

    @Test("An error is told in Japanese too, and names the file", arguments: files)
    func inJapanese(_ file: String) throws {
        let original = try TestFiles.read("Fixtures/formats/\(file)")
        var random = SeededGenerator(seed: 11)
        var damaged = [Array(original.prefix(original.count * 2 / 3))]
        for number in 1..<8 {
            var bytes = original
            for _ in 0...number / 2 {
                let place = Int.random(in: bytes.indices, using: &random)
                bytes[place] = Array("xZ|:{\" 0".utf8).randomElement(using: &random) ?? 0
            }
            damaged.append(bytes)
        }
        for bytes in damaged {
            guard let (_, error) = Self.firstError([bytes]) else { continue }
            // What expat says of XML is in English, within brackets.
            if file.hasPrefix("metrodroid-xml/") { continue }
            #expect(!Self.isEnglish(error.message.japanese), "\(error)")
        }
        // The program says the same, and which file it is.
        let (bytes, error) = try #require(Self.firstError(damaged))
        let folder = try TemporaryFolder()
        let path = try folder.write(bytes, as: "file")
        let result = try Kazasu.run("decode", path, "--lang", "ja")
        #expect(result.hasEnded(65), "\(result.errors)")
        #expect(result.errors.contains(path) && result.errors.contains(error.message.japanese), "\(result.errors)")
    }

    @Test("A file that cannot be read is converted to nothing: what stood there stays, byte for byte", arguments: files)
    func nothingIsWritten(_ file: String) throws {
        let folder = try TemporaryFolder()
        let original = try TestFiles.read("Fixtures/formats/\(file)")
        var random = SeededGenerator(seed: UInt64(original.count))
        var damaged = [
            Array("{".utf8) + original.prefix(50), Array(original.prefix(original.count / 2)),
            Array(original.dropLast(3)),
        ]
        for number in 3..<12 {
            var bytes = original
            for _ in 0..<number { bytes[Int.random(in: bytes.indices, using: &random)] = UInt8(ascii: "Z") }
            damaged.append(bytes)
        }
        // The program reads the first and the last of them; the others are a matter of the importer.
        let refused = damaged.filter { Self.firstError([$0]) != nil }
        #expect(refused.count > 2)
        let last = try #require(refused.last)
        for bytes in [refused[0], last] {
            let source = try folder.write(bytes, as: "source")
            let kept = try folder.write(Array("kept".utf8), as: "kept.json")
            try Kazasu.run("convert", source, "--to", "json", "-o", kept).expectError(65, source)
            #expect(try TestFiles.read(kept) == Array("kept".utf8))
            #expect(folder.names == ["kept.json", "source"], "nothing is left beside it")
        }
        // What is read all the same is a dump, as it is when it is written.
        for bytes in damaged where !refused.contains(bytes) {
            for dump in try readDumps(bytes, formats: .complete) {
                #expect(throws: Never.self) { try CardDump(parsing: Array(dump.json.compactText.utf8)) }
            }
        }
    }
}
