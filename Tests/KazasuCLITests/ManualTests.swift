// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

@Suite("Man pages and the tables of the help", .waits)
struct ManualTests {
    private static let script = "\(TestFiles.root)/packaging/scripts/make-man.py"

    /// The pages of the program, made once.
    private static let made: Result<TemporaryFolder, any Error> = Result {
        let folder = try TemporaryFolder()
        let result = try ChildProcess.run(
            script, [Kazasu.service, folder.path], environment: Kazasu.environment, limit: .seconds(600))
        try #require(result.hasEnded(0), "\(result)")
        return folder
    }

    private static func page(_ command: String, _ language: String) -> String {
        let name = (["kazasu"] + command.split(separator: " ").map(String.init)).joined(separator: "-")
        return "man/\(language == "ja" ? "ja/" : "")man1/\(name).1"
    }

    @Test(
        "Every command has a page without a warning", .needs("/usr/bin/mandoc", "/usr/bin/groff"),
        arguments: SnapshotTests.commands, ["en", "ja"])
    func lint(command: String, language: String) throws {
        let folder = try Self.made.get()
        let path = "\(folder.path)/\(Self.page(command, language))"
        let mandoc = try Kazasu.shell("mandoc -Kutf-8 -Tlint -Wwarning '\(path)'")
        #expect(mandoc.hasEnded(0) && mandoc.output.isEmpty, "\(mandoc)")
        // Not every man loads the macros for Japanese.
        for japanese in language == "ja" ? ["-mja", ""] : [""] {
            let groff = try Kazasu.shell("groff -ww -Kutf8 -Tutf8 -man \(japanese) -P-c '\(path)'")
            #expect(groff.hasEnded(0) && groff.errors.isEmpty, "\(groff.errors)")
        }
    }

    @Test(
        "Completions have descriptions in the user's language", .needs("/usr/bin/fish"),
        arguments: [
            ("LC_ALL=ja_JP.UTF-8", "読む"), ("LC_ALL= LC_MESSAGES= LANG=ja_JP.UTF-8", "読む"),
            ("LC_ALL=C.UTF-8 LANG=ja", "Read"),
        ])
    func completions(language: (variables: String, word: String)) throws {
        let file = "\(try Self.made.get().path)/completions/kazasu.fish"
        let line = "source '\(file)'; complete -C 'kazasu li'"
        let path = Kazasu.path.split(separator: "/", omittingEmptySubsequences: false).dropLast().joined(separator: "/")
        let result = try Kazasu.shell(
            "env PATH='\(path)':\"$PATH\" \(language.variables) fish --no-config -c \"\(line)\"")
        #expect(result.hasEnded(0) && result.errors.isEmpty, "\(result.errors)")
        #expect(result.output.contains(language.word), "\(result.output.prefix(400))")
        #expect(result.output.contains("読む") == (language.word == "読む"))
    }

    /// The sections that every page has, and what is in them.
    private static let headings: [(language: String, sections: [String])] = [
        ("en", ["NAME", "SYNOPSIS", "DESCRIPTION", "OPTIONS", "EXIT STATUS", "ENVIRONMENT", "SEE ALSO"]),
        ("ja", ["名前", "書式", "説明", "オプション", "終了ステータス", "環境変数", "関連項目"]),
    ]

    @Test("The sections of a page", arguments: SnapshotTests.commands, headings)
    func sections(command: String, row: (language: String, sections: [String])) throws {
        let text = try Self.made.get().text(Self.page(command, row.language))
        let found = text.matches(of: /(?m)^\.SH "?([^"\n]*)"?$/).map { String($0.1) }
        #expect(found.filter(row.sections.contains) == row.sections, "\(found)")
        // Pages of documents may have other tables of numbers.
        let part = text.replacing("\"", with: "").split(separator: "\n.SH ")
            .first { $0.hasPrefix(row.sections[4]) }
        let statuses = try #require(part).matches(of: /(?m)^\.B (\d+)$/).map { String($0.1) }
        #expect(statuses == ["0", "1", "64", "65", "66", "69", "70", "73", "74", "75", "76", "77", "130", "143"])
    }

    @Test(
        "The examples of the help are in the page as they are", .needs("/usr/bin/mandoc", "/usr/bin/col"),
        arguments: ExamplePage.help)
    func examples(_ page: ExamplePage) throws {
        let words = page.name.split(separator: " ").map(String.init)
        let language = words.last == "(ja)" ? "ja" : "en"
        let path = Self.page(words.dropFirst().dropLast().joined(separator: " "), language)
        let shown = try Kazasu.shell(
            "mandoc -Kutf-8 -Tutf8 -Owidth=300 '\(try Self.made.get().path)/\(path)' | col -bx | sed 's/^ *//'")
        let lines = Set(shown.output.split(separator: "\n").map(String.init))
        for line in page.lines {
            let isShown = lines.contains(line)
            #expect(isShown, "\(line) is not in \(shown.output)")
        }
    }

    @Test("Made again on another day, a page is the same")
    func reproducible() throws {
        let folder = try TemporaryFolder()
        let again = try ChildProcess.run(
            Self.script, [Kazasu.service, folder.path],
            environment: Kazasu.environment.merging(["TZ": "Pacific/Kiritimati"]) { $1 }, limit: .seconds(300))
        try #require(again.hasEnded(0))
        let same = try Kazasu.shell("diff -r '\(try Self.made.get().path)' '\(folder.path)'")
        #expect(same.hasEnded(0), "\(same.output)")
        let dates = try Kazasu.shell("grep -rh '^\\.TH' '\(folder.path)/man' | cut -d' ' -f4 | sort -u")
        let released = try Kazasu.shell("'\(TestFiles.root)/packaging/scripts/changes.py' date")
        #expect(dates.output == "\"\(released.output.prefix { $0 != "\n" })\"\n", "\(dates.output)")
    }

    @Test("Every environment variable that the program reads is in the man pages and in the documents")
    func environment() throws {
        let sources = try Kazasu.shell(
            """
            cd '\(TestFiles.root)/Sources' &&
                grep -rhoE '"((KAZASU|LIBNFC|XDG|PCSCLITE)_[A-Z_]+|NO_COLOR|COLUMNS|LC_[A-Z]+|LANG)"' . | tr -d '"' | sort -u
            """)
        let names = sources.output.split(separator: "\n")
        #expect(names.contains("KAZASU_READER") && names.contains("KAZASU_STATIONS"))
        let document = String(decoding: try TestFiles.read("Docs/environment.md"), as: UTF8.self)
        // Hyphens and underscores stand as they are in both pages.
        let english = try Self.made.get().text(Self.page("", "en"))
        let japanese = try Self.made.get().text(Self.page("", "ja"))
        for name in names {
            for (place, text) in [
                ("man page", english), ("Japanese page", japanese), ("Docs/environment.md", document),
            ] {
                let isNamed = text.contains(name)
                #expect(isNamed, "\(name) is not in \(place)")
            }
        }
    }
}
