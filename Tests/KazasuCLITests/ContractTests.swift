// SPDX-License-Identifier: Apache-2.0

import CardModel
import TestSupport
import Testing

@Suite("The rules of the command line", .waits)
struct ContractTests {
    @Test func version() throws {
        let result = try Kazasu.run("--version")
        #expect(result.end == .exited(0))
        #expect(result.output == "0.3.0\n")
        #expect(result.errors.isEmpty)
    }

    /// A wrong command line, and what is said of it in English and in Japanese.
    static let wrongLines: [(line: String, english: String, japanese: String)] = [
        ("frobnicate", "unknown command 'frobnicate'", "'frobnicate' というコマンドはありません"),
        ("poll --foo", "unknown option '--foo'", "'--foo' というオプションはありません"),
        ("poll --timeout", "--timeout needs a value", "--timeout に値がありません"),
        ("poll -t", "-t needs a value", "-t に値がありません"),
        ("poll --timeout soon", "invalid value 'soon' for --timeout", "--timeout の値 'soon' は正しくありません"),
        ("poll --timeout -1", "invalid value '-1' for --timeout", "--timeout の値 '-1' は"),
        ("doctor --timeout -1", "invalid value '-1' for --timeout", "--timeout の値 '-1' は"),
        ("poll --system 0G", "invalid value '0G' for --system", "--system の値 '0G' は"),
        ("poll --system 0003,,FE00", "invalid value '0003,,FE00'", "値 '0003,,FE00' は"),
        ("read", "missing argument <service>", "引数 <service> ... がありません"),
        ("read 090G", "invalid argument '090G'", "引数 '090G' は"),
        ("read zz", "write it as four hexadecimal digits, as in 090F", "090F（16 進 4 桁） のように書いてください"),
        ("poll --system 0G", "write it as four hexadecimal digits, as in 090F", "090F（16 進 4 桁） のように書いてください"),
        ("history --since lately", "write it as 2026-04-01", "2026-04-01 のように"),
        ("history --kind rail,chrage", "did you mean 'rail,charge'?", "'rail,charge' のことですか？"),
        ("history --kind topup", "did you mean 'top-up'?", "--kind の値 'topup' は"),
        ("history --since 2026-04-02 --until 2026-04-01", "--since is after --until", "--since が --until より後"),
        ("balance --card siuca", "did you mean 'suica'?", "'suica' のことですか？"),
        ("dump --format flippr", "invalid value 'flippr' for --format", "'flipper' のことですか？"),
        ("dump --format 1234", "invalid value '…' for --format", "--format の値 '…' は"),
        ("stations lookup 0-3-999", "invalid argument '0-3-999'", "引数 '0-3-999' は"),
        ("read 090F --blocks 5-2", "invalid value '5-2' for --blocks", "--blocks の値 '5-2' は"),
        ("read 090F --blocks 70000", "invalid value '70000'", "値 '70000' は"),
        ("dump --format xml", "for --format", "--format の値"),
        ("dump --hex-separator comma", "none, space, colon", "none、space、colon"),
        ("balance --card credit", "invalid value 'credit' for --card", "--card の値 'credit' は"),
        ("history --format pdf", "one of table, csv, json, ndjson", "使える値: table、csv、json、ndjson"),
        ("felica", "missing argument <", "引数 <"), ("balance --all=yes", "--all takes no value", "--all に値は"),
        ("poll -x", "unknown option '-x'", "'-x' というオプションは"),

        ("readers now", "unexpected argument 'now'", "余分な引数 'now'"),
        ("readers args here", "unexpected arguments 'args' 'here'", "余分な引数 'args' 'here'"),
        ("history --format csv,json", "one value only: table, csv, json, ndjson", "値は 1 つだけ指定してください: table、csv"),
        ("history --since 2026-01-01,today", "one value only, written as 2026-04-01", "1 つだけ指定してください（2026-04-01 の形）"),
        ("stations import --codes hex,decimal x", "one value only: hex, decimal", "値は 1 つだけ"),
        ("history --limit 0", "--limit takes 1 or more", "--limit は 1 以上"),
        ("dump --service 090G", "invalid value '090G' for --service", "--service の値 '090G' は"),
        ("license 1234", "never as an argument", "シェルの履歴に残っている"),
        ("license 1234", "unexpected argument '…'", "余分な引数 '…'"),
        ("license ABC12345", "unexpected argument '…'", "余分な引数 '…'"),
        ("tag read deadbeef", "unexpected argument '…'", "余分な引数 '…'"),
        ("license lic.json", "unexpected argument 'lic.json'", "余分な引数 'lic.json'"),
        ("classic read x", "invalid argument 'x'", "引数 'x' は"),
        ("passport SP1234567,800405,360614", "no such file", "ファイルがありません"),
        ("residence AA12345678BB", "unexpected argument '…'", "余分な引数 '…'"),
        ("mynumber 1234", "it is now in your shell's history", "シェルの履歴に残っている"),
        ("read 090F --blocks x", "write it as 0-19 or 0,3,5-7", "0-19、0,3,5-7 のように書いてください"),
        ("history --json --format csv", "--json cannot be used", "--json"), ("felica 0", "packet 1 is not", "パケット 1 は"),
        ("felica 00 xyz", "packet 2 is not hexadecimal", "パケット 2 は"),
        ("felica 00 --answer-timeout 0", "1 to 30000", "1 から 30000"),
        ("apdu", "missing argument <", "引数 <"), ("apdu 00", "Lc/Le does not match", "長さが合いません"),
        ("apdu 00A4 00A4040", "APDU 1: malformed APDU", "APDU 1: Lc・Le"),
        ("apdu 00A40000 00A4040", "APDU 2: not hexadecimal", "APDU 2: 16 進数では"),
        ("apdu 00A40000=>90", "four hexadecimal digits", "4 桁"), ("apdu 00A40000=>", "no status word", "がありません"),
        ("apdu 00A40000=>9000=>9000", "appears twice", "2 つ"), ("apdu 00A40000PIN1", "after CLA 20", "CLA 20"),
        ("apdu 00200181PIN", "P1 of VERIFY", "P1"), ("apdu 00A40000 --type c", "--type", "--type の値"),
        ("apdu 00A40000 --answer-timeout 0", "1 to 60000", "1 から 60000"),
        ("apdu 00A40000 --pin1-from 1234", "never the secret itself", "値そのものは書けません"),
        ("decode", "missing argument <", "引数 <"),
        ("balance x.json --virtual-writes y", "--virtual-writes cannot be used with a dump", "--virtual-writes はダンプと"),
        ("history x.json --wait-reader", "--wait-reader cannot be used with a dump", "--wait-reader はダンプと"),
        ("poll --system 0003 --applications", "--applications cannot be used with", "--applications と --system"),
        ("poll --system 0003 --technology a,b", "--technology cannot be used with --system", "--technology と --system"),
        ("tag write --uri a:b --permanent", "--permanent requires --page", "--permanent は --page と"),
        ("tag read --raw - --json", "--json cannot be used with --raw -", "--json と --raw -"),
        ("poll --lang fr", "invalid value 'fr' for --lang", "--lang の値 'fr' は"),
    ]

    @Test("A wrong command line", arguments: wrongLines)
    func usage(_ row: (line: String, english: String, japanese: String)) throws {
        let words = row.line.split(separator: " ").map(String.init)
        for (locale, expected) in [("en_US.UTF-8", row.english), ("ja_JP.UTF-8", row.japanese)] {
            let result = try Kazasu.run(words, environment: ["LC_ALL": locale])
            #expect(result.end == .exited(64))
            #expect(result.output.isEmpty)
            #expect(expected.split(separator: "|").contains { result.errors.contains($0) }, "\(result.errors)")
        }
        let json = try Kazasu.run(words + ["--json"])
        if json.hasEnded(64), !words.contains("--timeout") || words.count > 2 {
            #expect(try json.errorDocument().required("reason").text() == "usage")
        }
    }

    /// What is printed on a reader or names its port, and the hint.
    static let readerNames: [(line: String, english: String, japanese: String)] = [
        ("poll -r RC-S380", "did you mean 'rcs380'?", "'rcs380' のことですか？"),
        ("poll -r RC-S300/P", "did you mean 'rcs300'?", "'rcs300' のことですか？"),
        ("poll -r /dev/ttyUSB0", "did you mean 'pn532_uart:/dev/ttyUSB0'?", "'pn532_uart:/dev/ttyUSB0' のことですか？"),
        ("poll -r ttyACM1", "did you mean 'pn532_uart:/dev/ttyACM1'?", "'pn532_uart:/dev/ttyACM1' のことですか？"),
        ("poll -r ACR122U", "the ID of the ACS ACR122U", "ACS ACR122U の ID"),
        ("poll -r RC-S320", "did you mean 'rcs320'?", "'rcs320' のことですか？"),
        ("poll -r NFC-PRO", "NFC-PRO (not made by Sony): a clone", "NFC-PRO (not made by Sony): "),
    ]

    @Test("The name on a reader in place of its ID", arguments: readerNames)
    func readerName(_ row: (line: String, english: String, japanese: String)) throws {
        let words = row.line.split(separator: " ").map(String.init)
        for (language, hint) in [("en", row.english), ("ja", row.japanese)] {
            let result = try Kazasu.run(words + ["--lang", language])
            result.expectError(64, language == "en" ? "unknown reader ID" : "リーダー ID")
            #expect(result.messages.last?.contains(hint) == true, "\(result.errors)")
        }
    }

    /// A command or topic that does not exist, how it is named, and the nearest one.
    static let unknownCommands: [(line: String, name: String, nearest: String?)] = [
        ("balence", "balence", "kazasu balance"), ("histroy", "histroy", "kazasu history"),
        ("Balance", "Balance", "kazasu balance"), ("licence --free", "licence", "kazasu license"),
        ("hist", "hist", "kazasu history"), ("watsh --help", "watsh", "kazasu watch"), ("-h pol", "pol", "kazasu poll"),
        ("help nosuch", "nosuch", nil), ("help balence", "balence", "kazasu balance"),
        ("tag inof", "tag inof", "kazasu tag info"), ("help tag inof", "tag inof", "kazasu tag info"),
        ("tag help wirte", "tag wirte", "kazasu tag write"),
        ("stations lokup --help", "stations lokup", "kazasu stations lookup"),
        ("license1234", "…", nil), ("tag 1234", "tag …", nil),
    ]

    @Test("An unknown command or topic, with the nearest one", arguments: unknownCommands)
    func unknown(_ row: (line: String, name: String, nearest: String?)) throws {
        let words = row.line.split(separator: " ").map(String.init)
        for language in ["en", "ja"] {
            let result = try Kazasu.run(words + ["--lang", language])
            result.expectError(
                64, language == "en" ? "unknown command '\(row.name)'" : "'\(row.name)' というコマンドはありません")
            #expect(result.output.isEmpty)
            let hint = result.messages.last ?? ""
            #expect(hint.contains(row.nearest.map { "'\($0)'" } ?? " --help'"), "\(hint)")
            let document = try Kazasu.run(words + ["--json", "--lang", language]).errorDocument()
            #expect(try document.required("reason").text() == "usage")
            #expect(try hint.hasSuffix(document.required("hint").text()))
        }
    }

    /// An unknown option, how it is named, and the hint.
    static let unknownOptions = [
        ("poll --sytem 0003", "--sytem", "did you mean '--system'?", "'--system' のことですか？"),
        ("tag info --redct=x", "--redct", "did you mean '--redact'?", "'--redact' のことですか？"),
        ("balance --frob", "--frob", "'kazasu balance --help' lists", "一覧は 'kazasu balance --help'"),
        ("--json balance", "--json", "after the command: kazasu balance --json", "後に書いてください: kazasu balance --json"),
        ("license --1234", "--…", "'kazasu license --help' lists", "一覧は 'kazasu license --help'"),
    ]

    @Test("An unknown option, with the nearest one", arguments: unknownOptions)
    func unknownOption(_ row: (line: String, name: String, english: String, japanese: String)) throws {
        let words = row.line.split(separator: " ").map(String.init)
        for (language, hint) in [("en", row.english), ("ja", row.japanese)] {
            let result = try Kazasu.run(words + ["--lang", language])
            let document = try Kazasu.run(words + ["--json", "--lang", language]).errorDocument()
            #expect(try document.required("hint").text().contains(hint))
            guard !words.contains("--json") else { continue }
            result.expectError(
                64, language == "en" ? "unknown option '\(row.name)'" : "'\(row.name)' というオプションはありません")
            #expect(result.messages.last?.contains(hint) == true, "\(result.errors)")
        }
    }

    @Test("The first variable that is set says the language, the option before all")
    func language() throws {
        let card = Card.fixture("edy")
        func isJapanese(_ variables: [String: String], _ options: String...) throws -> Bool {
            try Kazasu.run(["poll", "-r", card] + options, environment: variables).output.contains("カード")
        }
        #expect(try isJapanese(["LC_ALL": "ja_JP.UTF-8", "LC_MESSAGES": "C", "LANG": "C"]))
        #expect(try isJapanese(["LC_ALL": "", "LC_MESSAGES": "ja_JP.UTF-8", "LANG": "C"]))
        #expect(try isJapanese(["LC_ALL": "", "LC_MESSAGES": "", "LANG": "ja"]))
        #expect(try !isJapanese(["LC_ALL": "C", "LANG": "ja_JP.UTF-8"]))
        #expect(try !isJapanese(["LC_ALL": "ja_JP.UTF-8"], "--lang", "en"))
        #expect(try isJapanese([:], "--lang", "ja"))
        #expect(try Kazasu.run("--lang", "ja", "poll", "-r", card).output.contains("カード"), "also before the command")
    }

    /// The keys of an object in a text, in their order, at the first level of a pretty document.
    private func keys(_ text: String) -> [Substring] {
        text.matches(of: /(?m)^  "([A-Za-z]+)":/).map(\.1)
    }

    @Test("Keys do not change with the language, and stand in their order")
    func keys() throws {
        let lines = [
            ("poll", ["schema", "card", "systemCode", "systemName", "next", "cards"]),
            ("scan", ["schema", "card", "systems"]),
            ("dump", ["schema", "tool", "readAt", "reader", "complete", "missing", "card", "felica"]),
            ("read 090F", ["schema", "card", "systemCode", "complete", "services"]),
            ("balance", ["schema", "card", "balances"]),
            ("history", ["schema", "card", "kind", "name", "currency", "exponent", "records"]),
            ("felica 0C:IDM", ["schema", "card", "exchanges"]),
        ]
        for (line, expected) in lines {
            let words = line.split(separator: " ").map(String.init)
            for language in ["en", "ja"] {
                let result = try Kazasu.run(
                    words + ["--json", "--lang", language, "-r", Card.fixture("suica-p1")],
                    environment: ["CLICOLOR_FORCE": "1"])
                #expect(result.end == .exited(0))
                #expect(result.output.contains(#""schema": "kazasu."#))
                let found = keys(result.output).map(String.init)
                if !found.isEmpty { #expect(found == expected, "\(line)") }
                _ = try JSONValue(parsing: Array(result.output.utf8))
                #expect(!result.output.contains("\u{1B}"), "no color")
            }
        }
    }

    @Test("Blocks upper case and packed for people, lower case in JSON; other separators on demand")
    func hex() throws {
        let card = Card.fixture("suica-p1")
        let line = "0003 090F 0000 16010002166CE33BE6210A000001E300\n"
        #expect(try Kazasu.run("read", "090F", "--blocks", "0", "-r", card).output == line)
        let spaced = try Kazasu.run("read", "0x090f", "--blocks", "0", "-r", card, "--hex-separator", "space")
        #expect(spaced.output == "0003 090F 0000 16 01 00 02 16 6C E3 3B E6 21 0A 00 00 01 E3 00\n")
        let colon = try Kazasu.run("read", "09:0f", "--system=00-03", "--blocks=0", "-r", card, "--hex-separator=colon")
        #expect(colon.output == "0003 090F 0000 16:01:00:02:16:6C:E3:3B:E6:21:0A:00:00:01:E3:00\n")
        let json = try Kazasu.run("read", "09 0F", "--blocks", "0", "-r", card, "--json", "--hex-separator=colon")
        #expect(json.output.contains(#""0000": "16010002166ce33be6210a000001e300""#))
        #expect(json.output.contains(#""idm": "0101031234567890""#))
        #expect(json.output.contains(#""code": "090F""#))
    }

    @Test("Several services are read at once, in their order and each once")
    func services() throws {
        let line = ["read", "090F", "008B", "090F", "--blocks", "0", "-r", Card.fixture("suica-p1")]
        let text = try Kazasu.run(line)
        #expect(text.hasEnded(0))
        #expect(
            text.output == """
                0003 090F 0000 16010002166CE33BE6210A000001E300
                0003 008B 0000 00000000000000002000000A000001E3

                """)
        let document = JSONCursor(try JSONValue(parsing: Array(try Kazasu.run(line + ["--json"]).output.utf8)))
        let codes = try document.required("services").elements().map { try $0.required("code").text() }
        #expect(codes == ["090F", "008B"])
        let part = try Kazasu.run("read", "090F", "0048", "--blocks", "0", "-r", Card.fixture("suica-p1"))
        part.expectError(77, "service 0048")
        #expect(part.output.contains("0003 090F 0000 "), "what was read is there")
    }

    @Test("A dump of services that the card lacks says so, and names those in the order of the wire")
    func absentServices() throws {
        let card = Card.fixture("suica-p1")
        let result = try Kazasu.run("dump", "--service", "0F09,090F,ABCB", "-r", card)
        #expect(result.hasEnded(0) && result.output.contains("0003 0F09 refused"), "\(result.errors)")
        let notes = "kazasu: the card has no service 0F09; did you mean 090F?\nkazasu: the card has no service ABCB\n"
        #expect(result.errors == notes)
        let japanese = try Kazasu.run("dump", "--service", "0F09", "-r", card, "--lang", "ja")
        #expect(japanese.errors == "kazasu: カードにサービス 0F09 はありません。090F ではありませんか？\n")
        #expect(try Kazasu.run("dump", "--service", "0F09", "-q", "-r", card).errors.isEmpty)
    }

    @Test("A code in the order of the wire is recognized", arguments: [("0F09", "090F"), ("8B00", "008B")])
    func swapped(code: String, meant: String) throws {
        let line = ["read", code, "-r", Card.fixture("suica-p1")]
        let result = try Kazasu.run(line)
        result.expectError(77, "service \(code)")
        #expect(result.messages.last == "  hint: did you mean \(meant)?")
        #expect(try Kazasu.run(line + ["--lang", "ja"]).messages.last?.contains("\(meant) ではありませんか") == true)
        let other = try Kazasu.run("read", "FFCB", "-r", Card.fixture("suica-p1"))
        #expect(other.messages.last?.contains("kazasu scan") == true)
    }

    @Test(
        "Every form of hexadecimal is taken, LEN and IDM are filled in",
        arguments: [
            "0C:IDM", "0a0cIDM", "0A 0C IDM", "0x0A 0x0C 01 01 03 12 34 56 78 90", "0a-0c-01-01-03-12-34-56-78-90",
            "0C0101031234567890", "0cidm",
        ])
    func rawPackets(packet: String) throws {
        let result = try Kazasu.run("felica", packet, "-r", Card.fixture("suica-p1"))
        #expect(result.end == .exited(0))
        #expect(result.output == "110D0101031234567890030003FE0086A7\n")
    }

    @Test("Packets before one that gets no answer are answered all the same")
    func rawPart() throws {
        let line = ["felica", "0C:IDM", "0C0000000000000000", "-r", Card.fixture("suica-p1"), "--answer-timeout", "50"]
        let text = try Kazasu.run(line + ["--hex-separator", "space"])
        text.expectError(77, "packet 2")
        #expect(text.output == "11 0D 01 01 03 12 34 56 78 90 03 00 03 FE 00 86 A7\n")
        let json = try Kazasu.run(line + ["--json"])
        #expect(try json.errorDocument().required("reason").text() == "noAnswer")
        let document = JSONCursor(try JSONValue(parsing: Array(json.output.utf8)))
        #expect(try document.required("exchanges").elements().count == 1)
    }

    @Test(
        "What a card refuses",
        arguments: [
            ("read 0048", "A5|A4|A6"), ("read FFCB", "A6"), ("read 090F --blocks 0,20", "A8"),
        ])
    func refused(line: String, flags: String) throws {
        let words = line.split(separator: " ").map(String.init)
        let result = try Kazasu.run(words + ["-r", Card.fixture("suica-p1")])
        result.expectError(77, "the card refused")
        #expect(flags.split(separator: "|").contains { result.errors.contains($0) }, "\(result.errors)")
        #expect(result.output.isEmpty == !line.contains("--blocks"), "what was read is there")
        try Kazasu.run(words + ["-r", Card.fixture("suica-p1"), "--lang=ja"]).expectError(77, "カードに拒否されました")
    }

    @Test(
        "--redact hides who, not what",
        arguments: ["poll", "scan", "dump", "dump --json", "felica 0C:IDM", "felica --json 0C:IDM"])
    func redact(line: String) throws {
        for card in [("suica-p1", "1031234567890"), ("edy", "1120312abcd0042")] {
            let result = try Kazasu.run(
                line.split(separator: " ").map(String.init) + ["--redact", "-v", "-r", Card.fixture(card.0)])
            #expect(result.end == .exited(0))
            #expect(!result.output.lowercased().contains(card.1))
            result.expectNoPersonalData()
            #expect(!result.output.contains("1234567890123456"), "the number of the Edy card")
        }
        let decoded = try Kazasu.run("decode", "--redact", Card.file("edy"))
        #expect(!decoded.output.contains("1234567890123456") && !decoded.output.contains("0312ABCD0042"))
        #expect(decoded.output.contains("10814"))
    }

    @Test("A trace is played again, and differs when something else is asked")
    func replay() throws {
        let folder = try TemporaryFolder()
        let trace = "\(folder.path)/trace"
        for command in [["poll"], ["balance"], ["history"], ["scan"], ["dump"], ["felica", "0C:IDM"]] {
            let first = try Kazasu.run(command + ["-r", Card.fixture("suica-p1"), "--trace", trace])
            #expect(first.end == .exited(0))
            #expect(try folder.text("trace").hasPrefix(#"{"schema":"kazasu.recording/1","course":"trace""#))
            let again = try Kazasu.run(command + ["-r", "replay:\(trace)"])
            #expect(again == first)
        }
        let other = try Kazasu.run("dump", "-r", "replay:\(trace)")
        other.expectError(65, "this recording does not match the command")
    }

    @Test("A masked trace passes the check, plays lists, and never what a card does not hold")
    func redactedTrace() throws {
        let folder = try TemporaryFolder()
        let trace = "\(folder.path)/trace"
        for command in ["dump", "scan", "balance"] {
            let first = try Kazasu.run(command, "-r", Card.fixture("edy"), "--trace", trace, "--redact")
            #expect(first.end == .exited(0))
            let text = try folder.text("trace")
            #expect(!text.contains("0312abcd0042") && !text.contains("1234567890123456"))
            #expect(text.contains(#""idm":"0112000000000001""#))
            #expect(text.contains(#"{"op":"section","command":"\#(command)","left":["contents"]}"#))
            let check = try Kazasu.shell("kazasu contribute --check - < '\(trace)'")
            #expect(check.hasEnded(0) && check.output.isEmpty, "\(check)")
            let again = try Kazasu.run(command, "-r", "replay:\(trace)", "--redact")
            if command == "scan" {
                #expect(again == first)
            } else {
                again.expectError(65, "the recording leaves out what the card answered")
            }
        }
    }

    @Test("-q keeps notes back, -v tells more, both on standard error")
    func verbosity() throws {
        let card = Card.fixture("five-systems")
        let plain = try Kazasu.run("history", "-r", card)
        let verbose = try Kazasu.run("history", "-v", "-r", card)
        let quiet = try Kazasu.run("history", "-q", "-r", card)
        #expect(plain.output == verbose.output && plain.output == quiet.output)
        #expect(verbose.errors.hasPrefix("kazasu: reader virtual:"))
        #expect(quiet.errors.isEmpty)
    }
}
