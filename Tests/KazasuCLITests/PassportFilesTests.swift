// SPDX-License-Identifier: Apache-2.0

import ByteCodec
import CardModel
import Glibc
import TestSupport
import Testing

/// `kazasu passport --save`, and passports from files, without a reader.
@Suite("kazasu passport with files", .waits)
struct PassportFilesTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private static let fixtures = "\(TestFiles.root)/Fixtures/iso7816/passport"
    private static let made = "\(TestFiles.root)/Fixtures/ids/passports"
    private static let chipAuthority = "\(fixtures)/chip-authority.der"
    private static let key = "SP1234567,800405,360614"

    private func run(_ arguments: [String], key: String? = nil) throws -> ChildResult {
        let line = ["passport"] + (key == nil ? [] : ["--mrz-from", "env:N"]) + arguments
        let quoted = line.map { "'\($0)'" }.joined(separator: " ")
        return try Kazasu.shell("exec setsid -w \"$KAZASU\" \(quoted)", environment: ["N": key ?? ""])
    }

    /// Reads a virtual passport and saves it.
    private func save(_ card: String, _ name: String, _ more: [String] = []) throws -> ChildResult {
        try run(
            ["-r", "virtual:\(Self.fixtures)/\(card).json", "--save", "\(folder.path)/\(name)"] + more, key: Self.key)
    }

    private func mode(_ name: String) -> mode_t {
        var status = stat()
        return lstat("\(folder.path)/\(name)", &status) == 0 ? status.st_mode & 0o777 : 0
    }

    /// A virtual passport, and whom its evidence convinces in English and Japanese.
    static let cards: [(String, String, String)] = [
        ("chip-pace", "anyone: the chip signed a challenge", "誰に対しても"),
        ("chip-mapping", "only whoever kept evidence.json", "保管した本人だけ"),
    ]

    @Test("Saved files are the owner's alone, and give the same answer without a reader", arguments: cards)
    func replays(_ card: (String, String, String)) throws {
        let saved = try save(card.0, "evidence", ["--ca", Self.chipAuthority, "--json", "--require-chip"])
        #expect(saved.end == .exited(0) && saved.errors.contains("evidence.json"), "\(saved)")
        #expect(mode("evidence") == 0o700)
        var names = ["DG1.bin", "DG2.bin", "EF_COM.bin", "EF_SOD.bin", "EF_CardAccess.bin", "evidence.json"]
        names += card.0 == "chip-pace" ? ["DG14.bin", "DG15.bin"] : ["EF_CardSecurity.bin"]
        for name in names { #expect(mode("evidence/\(name)") == 0o600, "\(name)") }
        let text = try folder.text("evidence/evidence.json")
        #expect(SchemaCheck.shared?.problem(arguments: ["--json"], output: text, errors: "") == nil)
        for personal in ["SP1234567", "800405", "123456", "SPECIMEN"] { #expect(!text.contains(personal)) }

        let path = "\(folder.path)/evidence"
        let again = try run([path, "--ca", Self.chipAuthority, "--json", "--require-chip"], key: Self.key)
        #expect(again.end == .exited(0), "\(again)")
        let (live, files) = (
            JSONCursor(try JSONValue(parsing: Array(saved.output.utf8))),
            JSONCursor(try JSONValue(parsing: Array(again.output.utf8)))
        )
        for name in ["signature", "access", "machineReadableZone", "number", "faults"] {
            #expect(try live.object()[name] == files.object()[name], "\(name)")
        }
        #expect(try files.object()["card"] == .null && files.object()["source"] == "files")
        #expect(try live.object()["source"] == "card")
        #expect(try run([path, "--ca", Self.chipAuthority, "--check", "--require-chip"]).output == "valid\n")
        for (language, words) in [("en", card.1), ("ja", card.2)] {
            let answer = try run([path, "--ca", Self.chipAuthority, "--lang", language])
            #expect(answer.end == .exited(0) && answer.output.contains(words), "\(answer)")
        }
        let other = try run([path, "--ca", Self.chipAuthority, "--json"], key: "SP1234568,800405,360614")
        #expect(other.end == .exited(65) && other.errors.contains("otherDocument"), "\(other)")
    }

    @Test("A copy stays a copy, and a changed digit of the evidence is never proof")
    func changedEvidence() throws {
        #expect(try save("chip-pace", "evidence").end == .exited(0))
        let path = "\(folder.path)/evidence"
        let text = try folder.text("evidence/evidence.json")
        for name in ["signature", "privateKey", "answer"] {
            let found = try #require(text.firstRange(of: "\"\(name)\": \""))
            var changed = Array(text.utf8)
            let place = text.utf8.distance(from: text.startIndex, to: found.upperBound) + 9
            changed[place] = changed[place] == UInt8(ascii: "0") ? UInt8(ascii: "1") : UInt8(ascii: "0")
            _ = try folder.write(changed, as: "evidence/evidence.json")
            let result = try run([path, "--ca", Self.chipAuthority, "--json"])
            #expect(result.end == .exited(65) && result.errors.contains(#""reason":"copy""#), "\(name): \(result)")
        }
        _ = try folder.write(
            Array(text.replacing("\"answer\": \"", with: "\"answer\": \"x").utf8), as: "evidence/evidence.json")
        let broken = try run([path, "--json"])
        #expect(broken.end == .exited(65) && broken.errors.contains("answer"), "\(broken)")
        // Without the evidence the chip is not checked, which is no proof.
        unlink("\(path)/evidence.json")
        #expect(try run([path, "--ca", Self.chipAuthority, "--check"]).end == .exited(0))
        let strict = try run([path, "--ca", Self.chipAuthority, "--check", "--require-chip"])
        #expect(strict.end == .exited(65) && strict.output.contains("no chip was asked"), "\(strict)")
    }

    @Test("A folder that is there, a link and a file are refused before the card is read; an empty folder is used")
    func places() throws {
        _ = try folder.write([1], as: "file")
        symlink("nowhere", "\(folder.path)/link")
        mkdir("\(folder.path)/full", 0o755)
        _ = try folder.write([1], as: "full/x")
        for name in ["file", "link", "full"] {
            let result = try save("chip-pace", name, ["--json"])
            #expect(result.end == .exited(73) && result.errors.contains(#""reason":"exists""#), "\(name): \(result)")
            #expect(result.output.isEmpty)
        }
        mkdir("\(folder.path)/empty", 0o755)
        #expect(try save("chip-pace", "empty").end == .exited(0))
        #expect(mode("empty") == 0o700)
        #expect(try save("chip-pace", "none/below").end == .exited(73))
        #expect(try save("chip-pace", "masked", ["--redact"]).end == .exited(64))
        // A wrong number saves nothing, and leaves nothing behind.
        let wrong = try run(
            ["-r", "virtual:\(Self.fixtures)/chip-pace.json", "--save", "\(folder.path)/wrong"],
            key: "SP1234568,800405,360614")
        #expect(wrong.end == .exited(77), "\(wrong)")
        #expect(folder.names.sorted() == ["empty", "file", "full", "link"], "\(folder.names)")
    }

    @Test("Files of other programs: by bytes, in Base64, in one JSON object, with padding")
    func otherPrograms() throws {
        let authority = ["--ca", "\(Self.made)/csca.der", "--at", "2026-11-28"]
        let files = ["dg1.bin", "dg2.bin", "sod-plain-standard.bin"]
        let paths = files.map { "\(Self.made)/\($0)" }
        let bare = try run(paths + authority + ["--json"])
        #expect(bare.end == .exited(0) && bare.output.contains(#""at": "2026-11-28""#), "\(bare)")
        // The name says nothing.
        mkdir("\(folder.path)/dump", 0o700)
        for (index, path) in paths.enumerated() {
            let bytes = try TestFiles.read(path) + [UInt8](repeating: 0, count: index * 10)
            _ = try folder.write(bytes, as: "dump/\(9 - index).BIN")
        }
        _ = try folder.write(Array("notes".utf8), as: "dump/README.txt")
        mkfifo("\(folder.path)/dump/pipe", 0o600)
        symlink("dump", "\(folder.path)/dump/loop")
        symlink("/dev/zero", "\(folder.path)/dump/endless")
        let file = open("\(folder.path)/dump/huge", O_CREAT | O_WRONLY, 0o600)
        #expect(ftruncate(file, 1 << 30) == 0)
        close(file)
        let whole = try run(["\(folder.path)/dump"] + authority)
        #expect(whole.end == .exited(0) && whole.output.contains("UT7654321"), "\(whole)")
        for name in ["README.txt", "pipe", "loop", "endless", "huge"] {
            #expect(whole.errors.contains(name), "\(name)")
        }
        #expect(whole.errors.contains("padding"), "\(whole.errors)")
        let long = try run(["\(folder.path)/dump/huge"])
        #expect(long.end == .exited(65), "\(long)")
        // Another DG1.
        var other = try TestFiles.read(paths[0])
        other[other.count - 1] ^= 1
        _ = try folder.write(other, as: "dump/another")
        let two = try run(["\(folder.path)/dump", "--json"] + authority)
        #expect(two.end == .exited(64) && two.errors.contains("DG1"), "\(two)")
        let foreign = try run(["\(Self.made)/csca.der", "--json"])
        #expect(foreign.end == .exited(65) && foreign.errors.contains("csca.der"), "\(foreign)")
        #expect(try run(["\(folder.path)/none"]).end == .exited(66))
    }

    @Test("-o writes a dump for the owner alone, which is read again; masked, nothing of the holder is in it")
    func dumps() throws {
        let path = "\(folder.path)/dump.json"
        let reader = "virtual:\(Self.fixtures)/card.json"
        #expect(try run(["-r", reader, "-o", path], key: Self.key).end == .exited(0))
        #expect(mode("dump.json") == 0o600)
        let again = try run([path, "--ca", "\(Self.fixtures)/authority.der", "--check"], key: Self.key)
        #expect(again.end == .exited(0) && again.output == "valid\n", "\(again)")
        #expect(
            try run(["-r", reader, "-o", "\(folder.path)/masked.json", "--redact"], key: Self.key).end == .exited(0))
        #expect(try !folder.text("masked.json").contains(Hex.encode(Array("SP1234567".utf8))))
        #expect(try run([path, "-o", "x.json"]).end == .exited(64))
        #expect(try run(["-r", reader, "-o", "\(folder.path)/x"], key: "SP1234568,800405,360614").end == .exited(77))
        #expect(!folder.names.contains("x"))
    }

    @Test("Options of a reader are refused with files, and the word lists is still a command")
    func options() throws {
        let file = "\(Self.made)/dg1.bin"
        for options in [
            ["-r", "virtual:x"], ["--can-from", "env:N"], ["--save", "\(folder.path)/x"], ["--use-last-try"],
        ] {
            let result = try run([file] + options)
            #expect(result.end == .exited(64), "\(options): \(result)")
        }
        for number in [Self.key, "123456", "SP12345679UTO8004059M3606148<<<<<<<<<<<<<<<0"] {
            let result = try run([number])
            result.expectError(64, "shell's history")
            #expect(!result.errors.contains(number), "\(result)")
        }
        #expect(try run(["--at", "2026-11-28"]).end == .exited(64))
        #expect(try run([file, "--at", "2026-02-30"]).end == .exited(64))
        for words in [["lists", "\(Self.made)/csca.der"], ["-q", "lists", "\(Self.made)/csca.der"]] {
            #expect(try run(words).end == .exited(0), "\(words)")
        }
        #expect(try run(["lists", "--help"]).output.contains("passport lists"))
        let alone = try run(["\(Self.made)/sod-plain-standard.bin", "--ca", "\(Self.made)/csca.der", "--json"])
        #expect(alone.end == .exited(77) && alone.output.contains(#""list": "valid""#), "\(alone)")
        // An expired document as of its time, and now.
        let expired = ["\(Self.made)/dg1.bin", "\(Self.made)/dg2.bin", "\(Self.made)/sod-plain-standard.bin"]
        let check = ["--ca", "\(Self.made)/csca.der", "--check"]
        #expect(try run(expired + check + ["--at", "2026-11-28"]).output == "valid\n")
        let late = try run(expired + check + ["--at", "2033-01-01"])
        #expect(late.end == .exited(65) && late.output != "valid\n", "\(late)")
        let photo = try run(expired + ["--photo", "\(folder.path)/face.jp2"])
        #expect(photo.end == .exited(0) && mode("face.jp2") == 0o600, "\(photo)")
        #expect(try run(["\(folder.path)"]).end == .exited(65))
    }
}
