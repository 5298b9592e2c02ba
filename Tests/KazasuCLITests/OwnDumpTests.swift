// SPDX-License-Identifier: Apache-2.0

import CardModel
import TestSupport
import Testing

/// Every kind of card whose own command writes a dump, and what `decode`, `convert`, `diff`, `simulate` and `virtual:` make of it.
@Suite("Dumps that a card's own command writes", .waits)
struct OwnDumpTests {
    /// A kind of card. A command that writes a dump and has none here fails ``everyCommand()``.
    struct Kind: Sendable, CustomStringConvertible {
        /// The command, and the options that open the card.
        let command: [String]
        let options: [String]
        /// The virtual card, below Fixtures.
        let card: String
        /// `kind` of the report in `decode`.
        let kind: String
        /// A text of the report, and whether it is about the holder.
        let shown: String
        let isPersonal: Bool
        /// Bytes of a file in hexadecimal digits, and the name of that file.
        let bytes: String
        let file: String
        /// The options that read the virtual card of the dump, and whether that gives the same dump again.
        var again: [String]?
        var isWhole = true

        var description: String { card }
    }

    private static let passport = ["--mrz-from", "env:MRZ"]
    private static let authority = "\(TestFiles.root)/Fixtures/iso7816/mynumber/authority.bin"
    private static let zone = "53504543494d454e"

    static let kinds: [Kind] = [
        Kind(
            command: ["license"], options: ["--pin1-from", "env:PIN1", "--pin2-from", "env:PIN2"],
            card: "iso7816/license/sample", kind: "license", shown: "123456789000", isPersonal: true,
            bytes: "313233343536373839303030", file: "DF1/EF01", again: ["--free"], isWhole: false),
        Kind(
            command: ["license"], options: ["--pin1-from", "env:LICENSE"], card: "iso7816/license/my-number-licence",
            kind: "license", shown: "123456789000", isPersonal: true, bytes: "313233343536373839303030", file: "WEF02",
            again: ["--free"], isWhole: false),
        Kind(
            command: ["mynumber"], options: ["--pin-from", "env:PIN"], card: "iso7816/mynumber/card", kind: "mynumber",
            shown: "日本　花子", isPersonal: true, bytes: "e697a5e69cac", file: "Name, address, birth date, sex",
            again: ["--free"], isWhole: false),
        Kind(
            command: ["mynumber"], options: ["--face", "--number-from", "env:FACE", "--ca", authority],
            card: "iso7816/mynumber/face", kind: "mynumber", shown: "1975-06-01", isPersonal: true,
            bytes: "3139373530363031", file: "Face of the card", again: ["--free"], isWhole: false),
        Kind(
            command: ["residence"], options: ["--number-from", "env:NUMBER"], card: "iso7816/residence/second",
            kind: "residence", shown: "AA12345678BB", isPersonal: true, bytes: "413132333435363738", file: "Card number"
        ),
        Kind(
            command: ["residence"], options: ["--number-from", "env:NUMBER"], card: "iso7816/residence/first",
            kind: "residence", shown: "西新宿", isPersonal: true, bytes: "31333130", file: "Address", again: [],
            isWhole: false),
        Kind(
            command: ["passport"], options: passport, card: "iso7816/passport/card", kind: "passport",
            shown: "SPECIMEN", isPersonal: true, bytes: zone, file: "Machine-readable zone (DG1)"),
        Kind(
            command: ["passport"], options: passport, card: "iso7816/passport/pace", kind: "passport",
            shown: "SPECIMEN", isPersonal: true, bytes: zone, file: "Machine-readable zone (DG1)"),
        Kind(
            command: ["classic", "dump"], options: ["--keys", "KEYS"], card: "virtual/classic-1k", kind: "classic",
            shown: "MIFARE Classic", isPersonal: false, bytes: "", file: ""),
    ]

    /// What opens these cards, in the variables that their options name.
    static let secrets = [
        "PIN1": "1234", "PIN2": "5678", "LICENSE": "2580", "PIN": "2222", "FACE": "50060120311234",
        "NUMBER": "AA12345678BB", "MRZ": "SP1234567,800405,360614",
    ]

    private let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
        _ = try folder.write(Array(ClassicCommandTests.keys.utf8), as: "keys")
    }

    /// Runs a command without a terminal.
    private func run(_ arguments: [String]) throws -> ChildResult {
        let line = arguments.map { "'\($0 == "KEYS" ? "\(folder.path)/keys" : $0)'" }.joined(separator: " ")
        return try Kazasu.shell("exec setsid -w \"$KAZASU\" \(line)", environment: Self.secrets)
    }

    /// The dump that the card's own command writes.
    private func dump(_ kind: Kind, _ reader: String? = nil, as name: String = "card.json") throws -> String {
        let path = "\(folder.path)/\(name)"
        let reader = reader ?? "virtual:\(TestFiles.root)/Fixtures/\(kind.card).json"
        let result = try run(kind.command + ["-r", reader, "-o", path] + kind.options)
        // The keys that are built in are not those of these cards.
        #expect(result.end == .exited(0) || kind.kind == "mynumber" && result.end == .exited(65), "\(result)")
        return path
    }

    private func report(_ path: String, _ options: [String] = []) throws -> JSONObject {
        let result = try Kazasu.run(["decode", path, "--json"] + options)
        #expect(result.end == .exited(0) && result.errors.isEmpty, "\(result)")
        let document = JSONCursor(try JSONValue(parsing: Array(result.output.utf8)))
        return try #require(try document.required("reports").elements().last).object()
    }

    // MARK: The walk

    @Test("Every command that writes a dump has a card here")
    func everyCommand() throws {
        func commands(_ listing: JSONCursor, _ path: [String]) throws -> [[String]] {
            let own = try listing.required("arguments").elements().filter {
                try $0.required("names").elements().contains { try $0.text() == "-o" }
            }
            let isDump = try own.contains {
                let words = try $0.required("abstract").text()
                return words.contains("dump") || words.contains("kazasu decode")
            }
            let below = try listing.required("subcommands").elements().flatMap { command in
                try commands(command, path + [command.required("commandName").text()])
            }
            return (isDump ? [path] : []) + below
        }
        let answer = try ChildProcess.run(Kazasu.path, ["---describe"], environment: Kazasu.environment)
        let listing = JSONCursor(try JSONValue(parsing: Array(answer.output.utf8)))
        let found = Set(try commands(listing.required("command"), []))
        #expect(found.isSuperset(of: [["license"], ["passport"]]), "\(found)")
        // Of the commands for cards in general, and of `classic dump`, the page says what they write.
        #expect(found == Set(Self.kinds.map(\.command)).subtracting([["classic", "dump"]]))
    }

    @Test("decode shows what the card's own command shows without a reader", arguments: kinds)
    func decodes(_ kind: Kind) throws {
        let path = try dump(kind)
        for language in ["en", "ja"] {
            let text = try Kazasu.run("decode", path, "--lang", language)
            #expect(text.end == .exited(0) && text.errors.isEmpty, "\(text)")
            #expect(text.output.contains(kind.shown), "\(text.output)")
        }
        let found = try report(path)
        #expect(found["kind"] == .string(kind.kind))
        let masked = try Kazasu.run("decode", path, "--redact")
        #expect(masked.output.contains(kind.shown) == !kind.isPersonal, "\(masked.output)")
        #expect(try report(path, ["--redact"])["kind"] == .string(kind.kind))
        guard kind.kind != "classic" else { return }
        let reader = "virtual:\(TestFiles.root)/Fixtures/\(kind.card).json"
        let own = try run(kind.command + ["-r", reader, "--json"] + kind.options)
        let document = try JSONCursor(JSONValue(parsing: Array(own.output.utf8))).object()
        // How a chip was opened, and what it proves, is not in a dump; nor are the user's authorities.
        let live = ["schema", "card", "kind", "access", "chip", "source", "signature", "certificates"]
        for member in document.members where !live.contains(member.key) {
            #expect(found[member.key] == member.value, "\(member.key)")
        }
    }

    @Test("convert keeps the document, or says that the format cannot", arguments: kinds)
    func converts(_ kind: Kind) throws {
        let path = try dump(kind)
        let formats = [
            "json", "hex", "proxmark", "flipper", "metrodroid", "libpafe", "mfd", "mct", "eml",
        ]
        for format in formats {
            let copy = "\(folder.path)/copy-\(format)"
            let result = try Kazasu.run("convert", path, "--to", format, "-o", copy)
            guard result.end == .exited(0) else {
                #expect([.exited(65), .exited(73)].contains(result.end), "\(format): \(result)")
                #expect(result.messages.last?.contains("json") == true, "\(format): \(result)")
                #expect(!folder.names.contains("copy-\(format)"), "\(format)")
                continue
            }
            #expect(try report(copy)["kind"] == .string(kind.kind), "\(format)")
            if kind.isPersonal { #expect(try Kazasu.run("decode", copy).output.contains(kind.shown), "\(format)") }
        }
        for format in ["json", "hex"] {
            let result = try Kazasu.run("diff", path, "\(folder.path)/copy-\(format)")
            #expect(result.output == "no difference\n", "\(format): \(result)")
        }
    }

    @Test("diff names the file that changed, and --redact shows nothing of it", arguments: kinds)
    func differs(_ kind: Kind) throws {
        guard !kind.bytes.isEmpty else { return }
        let path = try dump(kind)
        let text = try folder.text("card.json")
        #expect(text.contains(kind.bytes))
        let changed = "00" + kind.bytes.dropFirst(2)
        let other = try folder.write(Array(text.replacing(kind.bytes, with: changed).utf8), as: "other.json")
        let result = try Kazasu.run("diff", path, other)
        #expect(result.end == .exited(0) && result.output.contains("  \(kind.file)\n"), "\(result)")
        #expect(try Kazasu.run("diff", path, other, "--lang", "ja").output.contains(" bytes") == false)
        let document = JSONCursor(
            try JSONValue(parsing: Array(Kazasu.run("diff", path, other, "--json").output.utf8)))
        let names = try document.required("files").elements().map { try $0.required("name").text() }
        #expect(names.contains(kind.file), "\(names)")
        let masked = try Kazasu.run("diff", path, other, "--redact").output.lowercased()
        #expect(!masked.contains(kind.bytes) && !masked.contains(changed), "\(masked)")
    }

    @Test("simulate and virtual: are the card again, as far as the dump has it", arguments: kinds)
    func simulates(_ kind: Kind) throws {
        let path = try dump(kind)
        let simulated = try SimulatedReader(path, link: "\(folder.path)/pn532")
        for (number, reader) in ["virtual:\(path)", simulated.id].enumerated() {
            let copy = "\(folder.path)/again-\(number).json"
            let result = try run(kind.command + ["-r", reader, "-o", copy] + (kind.again ?? kind.options))
            #expect(result.end == .exited(0), "\(reader): \(result)")
            let difference = try Kazasu.run("diff", path, copy)
            #expect((difference.output == "no difference\n") == kind.isWhole, "\(difference)")
            #expect(try report(copy)["kind"] == .string(kind.kind))
        }
        #expect(simulated.interrupt().end == .exited(0))
    }
}
