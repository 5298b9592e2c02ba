// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

@Suite("What the documents show", .waits)
struct DocumentTests {
    private static func text(_ document: String) throws -> String {
        String(decoding: try TestFiles.read(document), as: UTF8.self)
    }

    /// A command line of a README, with the output below it.
    private struct Sample {
        var line: String
        var output = ""
    }

    private static func samples(_ text: String) -> [Sample] {
        var samples: [Sample] = []
        for block in text.split(separator: "```console\n").dropFirst() {
            for line in block.prefix(upTo: block.firstRange(of: "```")?.lowerBound ?? block.endIndex)
                .split(separator: "\n", omittingEmptySubsequences: false).dropLast()
            {
                if line.hasPrefix("$ ") {
                    samples.append(Sample(line: String(line.dropFirst(2))))
                } else if !samples.isEmpty {
                    samples[samples.count - 1].output += line + "\n"
                }
            }
        }
        return samples
    }

    private static func run(_ line: String, isJapanese: Bool) throws -> ChildResult {
        try Kazasu.shell(
            "cd '\(TestFiles.root)' && \(line)",
            environment: ["KAZASU_READER": Card.fixture("suica-p1"), "LC_ALL": isJapanese ? "ja_JP.UTF-8" : "C"])
    }

    @Test("The answers in a README are what the program prints", arguments: ["README.md", "README.ja.md"])
    func answers(document: String) throws {
        let samples = try Self.samples(Self.text(document))
        #expect(samples.count >= 1)
        for sample in samples {
            let result = try Self.run(sample.line, isJapanese: document.contains(".ja"))
            #expect(result.output == sample.output, "\(sample.line)\n\(result.errors)")
        }
    }

    @Test(
        "The picture of a terminal shows what the program prints; else 'make pictures' is due",
        arguments: ["terminal.svg", "terminal.ja.svg"])
    func pictures(name: String) throws {
        // The words of each line, by the place of the line.
        var lines: [Int: [String]] = [:]
        let picture = try Self.text("Docs/pictures/\(name)")
        for word in picture.matches(of: /<text [^>]*y="(\d+)"[^>]*>([^<]*)<\/text>/) {
            let text = word.2.replacing("&lt;", with: "<").replacing("&gt;", with: ">").replacing("&#x27;", with: "'")
                .replacing("&quot;", with: "\"").replacing("&amp;", with: "&")
            lines[Int(word.1) ?? 0, default: []].append(String(text))
        }
        var samples: [(command: String, output: [[String]])] = []
        for line in lines.sorted(by: { $0.key < $1.key }).map(\.value) {
            if line.first == "$" {
                samples.append((line.dropFirst().joined(separator: " "), []))
            } else if !samples.isEmpty {
                samples[samples.count - 1].output.append(line)
            }
        }
        #expect(samples.count == 3)
        for sample in samples {
            let result = try Self.run(sample.command, isJapanese: name.contains(".ja"))
            let printed = result.output.split(separator: "\n").map { $0.split { $0.isWhitespace }.map(String.init) }
            #expect(printed == sample.output, "\(sample.command)\n\(result.errors)")
        }
    }

    @Test("A README can be read in one sitting", arguments: ["README.md", "README.ja.md"])
    func length(document: String) throws {
        #expect(try Self.text(document).split(separator: "\n", omittingEmptySubsequences: false).count <= 151)
    }

    /// What two languages of a page have in common: its headings, table rows and list items, without their words.
    private static func outline(_ document: String) throws -> [String] {
        try text(document).split(separator: "\n").compactMap { line in
            if line.drop(while: { $0 == " " }).hasPrefix("```") { return "example" }
            if line.hasPrefix("#") { return String(line.prefix { $0 == "#" }) }
            if line.hasPrefix("| ") { return "row of \(line.split(separator: " | ").count)" }
            return line.hasPrefix("- ") || line.hasPrefix("* ") ? "item" : nil
        }
    }

    @Test(
        "A Japanese page has every section, row, item and example of the English one",
        arguments: ["", "Docs/", "Docs/recipes/"].flatMap { folder in
            TestFiles.names(in: folder).filter { $0.hasSuffix(".ja.md") }.map { "\(folder)\($0.dropLast(6))" }
        })
    func languages(page: String) throws {
        let english = try Self.outline(page + ".md")
        #expect(english.count > 2)
        #expect(try Self.outline(page + ".ja.md") == english)
    }

    @Test("A Japanese page links to Japanese pages where there are any", arguments: ["", "Docs/", "Docs/recipes/"])
    func japaneseLinks(folder: String) throws {
        let names = TestFiles.names(in: folder).filter { $0.hasSuffix(".ja.md") }
        #expect(!names.isEmpty)
        for name in names {
            for link in try Self.text(folder + name).matches(of: /\]\((?<page>[^()#:]*)\.md(?:#[^()]*)?\)/) {
                let isItsTwin = "\(link.page).ja.md" == name
                if link.page.hasSuffix(".ja") || isItsTwin { continue }
                let hasTwin = (try? TestFiles.read("\(folder)\(link.page).ja.md")) != nil
                #expect(!hasTwin, "\(folder)\(name) links to \(link.page).md")
            }
        }
    }

    @Test(
        "A hint names the page where it was installed, and as in the source where none was",
        arguments: [("bin/kazasu", Kazasu.path), ("libexec/kazasu/kazasud", Kazasu.service)])
    func installedPages(place: String, program: String) throws {
        let folder = try TemporaryFolder()
        let run = """
            cd '\(folder.path)' && mkdir -p bin libexec/kazasu && echo nonsense > card.txt
            [ -e \(place) ] || cp --link '\(program)' \(place) 2> /dev/null || cp '\(program)' \(place)
            \(place) decode card.txt --lang ja
            """
        #expect(try Kazasu.shell(run).errors.contains("対応する形式は Docs/formats.md にあります"))
        let pages = "share/doc/kazasu/Docs"
        let result = try Kazasu.shell("mkdir -p '\(folder.path)/\(pages)'\n" + run)
        #expect(result.errors.contains("対応する形式は \(folder.path)/\(pages)/formats.md にあります"), "\(result.errors)")
    }
}
