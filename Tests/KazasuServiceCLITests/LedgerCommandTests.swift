// SPDX-License-Identifier: Apache-2.0

import CardModel
import Glibc
import TestSupport
import Testing

@Suite("kazasu ledger, and --keep", .waits)
struct LedgerCommandTests {
    static let card = TestFiles.root + "/Fixtures/cards/suica-p1/card.json"

    /// A data folder with the records of one card.
    private static func filled() throws -> TemporaryFolder {
        let data = try TemporaryFolder()
        let kept = try Service.run(["history", card, "--keep"], data: data)
        try #require(kept.end == .exited(0), "\(kept.errors)")
        return data
    }

    private static func run(_ line: String, _ data: TemporaryFolder) throws -> ChildResult {
        try Service.run(line.split(separator: " ").map(String.init), data: data)
    }

    // MARK: --keep

    static let keeping = ["history", "balance", "decode"]

    @Test("--keep adds the records and says so once, beside the answer", arguments: keeping)
    func keeps(command: String) throws {
        let data = try TemporaryFolder()
        let plain = try Service.run([command, Self.card], data: data)
        let kept = try Service.run([command, Self.card, "--keep"], data: data)
        #expect(kept.end == .exited(0))
        #expect(kept.output == plain.output)
        #expect(kept.errors.contains("kazasu: ledger: 20 new records, 0 known already"), "\(kept.errors)")
        let again = try Service.run([command, Self.card, "--keep", "--lang", "ja"], data: data)
        #expect(again.errors.contains("台帳: 新しい履歴 0 件、既知 20 件"), "\(again.errors)")
        let quiet = try Service.run([command, Self.card, "--keep", "-q"], data: data)
        #expect(quiet.errors.isEmpty)
        let list = try Self.run("ledger list --format csv", data)
        #expect(list.output.split(separator: "\r\n").count == 21)
    }

    @Test("A card on a reader is the same card as its dump", arguments: ["history", "balance"])
    func reader(command: String) throws {
        let data = try TemporaryFolder()
        let read = try Service.run([command, "-r", "virtual:\(Self.card)", "--keep"], data: data)
        #expect(read.end == .exited(0))
        #expect(read.errors.contains("20 new records"), "\(read.errors)")
        let file = try Service.run(["history", Self.card, "--keep"], data: data)
        #expect(file.errors.contains("0 new records, 20 known already"), "\(file.errors)")
    }

    @Test("Filters choose what is shown, not what is kept")
    func filter() throws {
        let data = try TemporaryFolder()
        let shown = try Service.run(["history", Self.card, "--keep", "--kind", "bus"], data: data)
        #expect(shown.errors.contains("20 new records"))
    }

    @Test("--ledger without --keep is refused")
    func ledgerAlone() throws {
        let data = try TemporaryFolder()
        #expect(try Service.run(["history", Self.card, "--ledger", "x"], data: data).end == .exited(64))
        #expect(data.names.isEmpty)
    }

    // MARK: Questions

    /// A question, and what its answer contains.
    static let questions: [(line: String, words: String)] = [
        ("ledger list --month 2011-03", "2011-03-12  12:52  rail"),
        ("ledger list --since 2011-03-12 --until 2011-03-12 --kind rail", "-160"),
        ("ledger list --card transit --lang ja", "自動改札機"),
        ("ledger sum", "2011-03"), ("ledger sum --by kind --lang ja", "鉄道"),
        ("ledger sum --by station --format csv", "key,name,records,unknown,spent,received,amount,currency,gaps\r\n"),
        ("ledger sum --by line --format csv --header ja", "キー,名前,件数"), ("ledger sum --by card", "JPY"),
        ("ledger gaps --format csv", "cardId,card,after,before,missing"), ("ledger cards", "Suica"),
        ("ledger cards --lang ja", "Suica"), ("ledger list --ids", ".0001"),
        ("ledger list --year 2011 --card Suica", "2011-03-12"),
        ("ledger cards --format csv", "0x"),
        ("ledger export csv", ",id,gapMissing,gapAmount,entryStationEn,exitStationEn\r\n"),
        ("ledger export --claim --header ja", "日付,路線,出発,到着,片道・往復,片道運賃,金額,通貨,カード,備考,ID\r\n"),
        ("ledger export hledger", "Assets:Transit:"), ("ledger export ofx --lang ja", "<CURDEF>JPY"),
        ("ledger export qif", "!Type:Bank"), ("ledger export beancount", "operating_currency"),
        ("ledger export zaim", "日付,方法,カテゴリ"), ("ledger export moneyforward", "\"計算対象\""),
        ("ledger sum --by week", "2011-W10"), ("ledger sum --by year --lang ja", "合計"),
        ("ledger sum --by day --json", "\"totals\": ["), ("ledger forget --list", "card.json"),
        ("ledger export --claim --weekday sat,sun --total --purpose Visit", "total,,,,,,"),
        ("ledger report --lang ja", "<!DOCTYPE html>"), ("ledger redecode", "20 records, 0 changed"),
    ]

    @Test("A ledger keeps codes: names are those of the tables when it is asked, the user's first")
    func names() throws {
        let data = try TemporaryFolder()
        let kept = try Service.run(["history", Self.card, "--keep", "--stations", "none"], data: data)
        #expect(kept.output.contains("0-227-59") && !kept.output.contains("Aoyama-itchome"), "\(kept.errors)")
        let own = try data.write(
            Array("area\tline\tstation\tcompany\tline_name\tstation_name\n0\t230\t33\tX\tY\t甲乙\n".utf8), as: "own.tsv")
        func answer(_ line: String) throws -> String {
            try Service.run(line.split(separator: " ").map(String.init), data: data).output
        }
        #expect(try answer("ledger list --month 2011-03").contains("Aoyama-itchome  Shibuya"))
        #expect(try answer("ledger list --month 2011-03 --lang ja").contains("青山一丁目  渋谷"))
        #expect(try answer("ledger list --month 2011-03 --stations \(own)").contains("Aoyama-itchome  甲乙"))
        #expect(try answer("ledger list --month 2011-03 --stations none").contains("0-227-59"))
        #expect(try answer("ledger list --month 2011-03 --json").contains(#""nameEn": "Aoyama-itchome""#))
        #expect(try answer("ledger sum --by station --lang en").contains("Shibuya"))
        #expect(try answer("ledger sum --by station --lang ja").contains("渋谷"))
        #expect(try answer("ledger sum --by station --format csv").contains("0_230_33,Shibuya,"))
        #expect(try answer("ledger export --claim --header ja").contains(",東京メトロ 銀座線,青山一丁目,渋谷,片道,"))
        #expect(try answer("ledger export hledger --lang ja").contains("青山一丁目 → 渋谷"))
        #expect(try answer("ledger export csv").contains(",Aoyama-itchome,Shibuya\r\n"))
        #expect(try answer("ledger report --lang ja").contains("渋谷"))
    }

    /// A claim, and the row of one ride: in the language of `--lang`, else of the header; the locale changes nothing.
    static let claims: [(line: String, head: String, row: String)] = [
        ("", "date,line,from,", ",Tokyo Metro Ginza Line,Aoyama-itchome,Shibuya,one way,"),
        ("--lang ja", "日付,路線,出発,", ",東京メトロ 銀座線,青山一丁目,渋谷,片道,"),
        ("--header ja", "日付,路線,出発,", ",東京メトロ 銀座線,青山一丁目,渋谷,片道,"),
        ("--header ja --lang en", "日付,路線,出発,", ",Tokyo Metro Ginza Line,Aoyama-itchome,Shibuya,片道,"),
        ("--header en --lang ja", "date,line,from,", ",東京メトロ 銀座線,青山一丁目,渋谷,one way,"),
    ]

    @Test("A claim is in one language, or in those that were asked for", arguments: claims)
    func claimLanguages(_ row: (line: String, head: String, row: String)) throws {
        for locale in ["C.UTF-8", "ja_JP.UTF-8"] {
            let line = "ledger export --claim \(row.line)".split(separator: " ").map(String.init)
            let answer = try Service.run(line, data: try Self.filled(), environment: ["LC_ALL": locale])
            #expect(answer.output.hasPrefix(row.head) && answer.output.contains(row.row), "\(answer.output)")
        }
    }

    /// Names of one line, formal and as people write it.
    static let lines = ["東京メトロ 銀座線", "東京メトロ銀座線", "銀座線", "東京地下鉄 銀座線", "Tokyo Metro Ginza Line", "0-227"]

    @Test("A line is chosen by its everyday name and by its formal one", arguments: lines)
    func chosenLine(_ line: String) throws {
        let data = try Self.filled()
        let chosen = try Service.run(["ledger", "export", "--claim", "--lang", "ja", "--line", line], data: data)
        #expect(chosen.end == .exited(0), "\(chosen.errors)")
        #expect(chosen.output.contains("東京メトロ 銀座線") && !chosen.output.contains(",JR "), "\(chosen.output)")
        let unknown = try Service.run(["ledger", "export", "--claim", "--line", "東京メトロ 線"], data: data)
        #expect(unknown.end == .exited(64))
        let sums = try Service.run(["ledger", "sum", "--by", "line", "--lang", "ja"], data: data)
        #expect(sums.output.contains("東京メトロ 銀座線"), "\(sums.output)")
    }

    @Test("Every question has an answer", arguments: questions)
    func question(_ row: (line: String, words: String)) throws {
        let data = try Self.filled()
        let answer = try Self.run(row.line, data)
        #expect(answer.end == .exited(0), "\(answer.errors)")
        #expect(answer.output.contains(row.words), "\(answer.output.prefix(1_000))")
        let path = data.path + "/answer"
        let file = try Self.run(
            row.line
                + (row.line.contains("redecode") || row.line.contains("forget") || row.line.hasSuffix("cards")
                    ? "" : " -o \(path)"),
            data)
        #expect(file.end == .exited(0), "\(file.errors)")
        if data.names.contains("answer") { #expect(file.errors.contains("/answer"), "says what it wrote") }
        #expect(!file.errors.contains("0101"), "no number of a card in messages")
    }

    static let documents = [
        "ledger list", "ledger list --card transit --lang ja", "ledger list --card SUICA", "ledger list --month this",
        "ledger list --year 2011 --ids", "ledger sum --by station",
        "ledger gaps", "ledger cards",
        "ledger import \(card)", "ledger redecode", "ledger name transit Work", "ledger list --redact",
        "ledger cards --redact", "ledger sum --by week", "ledger forget --list", "ledger forget transit --yes",
        "ledger import --dry-run \(card)", "ledger undo", "ledger backup DATA/copy.sqlite",
    ]

    @Test("Every document matches its schema", arguments: documents)
    func document(line: String) throws {
        let data = try Self.filled()
        let answer = try Self.run(line.replacing("DATA", with: data.path) + " --json", data)
        #expect(answer.end == .exited(0) && answer.output.hasPrefix("{"), "\(answer.errors)")
        if line.contains("--redact") { #expect(!answer.output.contains("0101031234567890".dropFirst(4))) }
    }

    @Test("Top-ups are green where colors are asked for, and nowhere else")
    func colors() throws {
        let data = try Self.filled()
        #expect(try Self.run("ledger list --color always", data).output.contains("\u{1B}[32m+"))
        #expect(try !Self.run("ledger list", data).output.contains("\u{1B}"))
    }

    // MARK: Errors

    /// A command line on an empty data folder, and how it ends.
    static let failures: [(line: String, status: Int32, reason: String)] = [
        ("ledger list", 66, "noLedger"), ("ledger export ofx", 66, "noLedger"),
        ("ledger import /nowhere.json", 66, "unreadable"), ("ledger list --month 2026-13", 64, "usage"),
        ("ledger list --month 2026-11 --since 2026-11-02", 64, "usage"), ("ledger export", 64, "usage"),
        ("ledger export pdf", 64, "usage"), ("ledger export csv -o x.xlsx", 64, "usage"),
        ("ledger report -o x.docx", 64, "usage"), ("ledger list --year 2026 --month 2026-01", 64, "usage"),
        ("ledger list --year 26", 64, "usage"), ("ledger export ofx --claim", 64, "usage"),
        ("ledger export csv --account A", 64, "usage"), ("ledger export ofx --gaps --kind rail", 64, "usage"),
        ("ledger sum --by color", 64, "usage"), ("ledger forget", 64, "usage"),
        ("ledger forget transit --list", 64, "usage"), ("ledger export csv --from A", 64, "usage"),
        ("ledger export --claim --weekday someday", 64, "usage"), ("ledger undo", 66, "noLedger"),
        ("ledger merge /nowhere.sqlite", 66, "unreadable"),
        ("ledger name transit", 64, "usage"), ("ledger list --format csv --json", 64, "usage"),
        ("ledger list --bom", 64, "usage"), ("ledger report --json", 64, "usage"),
        ("ledger import \(TestFiles.root)/Fixtures/cards/octopus/card.json", 76, "noHistory"),
    ]

    @Test("Errors have their reason, and make no ledger", arguments: failures)
    func failure(_ row: (line: String, status: Int32, reason: String)) throws {
        let data = try TemporaryFolder()
        let words = row.line.contains("--json") ? row.line : row.line + " --json"
        let result = try Self.run(words.contains("export") || words.contains("report") ? row.line : words, data)
        #expect(result.end == .exited(row.status), "\(result.errors)")
        if result.errors.hasPrefix("{") {
            #expect(result.errors.contains("\"reason\":\"\(row.reason)\""), "\(result.errors)")
        }
        #expect(data.names.isEmpty)
    }

    /// A command line on a ledger with one card.
    static let filledFailures: [(line: String, status: Int32, reason: String)] = [
        ("ledger list --card Nobody", 64, "unknownCard"), ("ledger link transit Nobody", 64, "unknownCard"),
        ("ledger link transit 7890", 64, "sameCard"), ("ledger list --card PASMO", 64, "unknownCard"),
        ("ledger name pasmo Work", 64, "unknownCard"), ("ledger forget Nobody --yes", 64, "unknownCard"),
        ("ledger forget --import 99 --yes", 64, "unknownImport"), ("ledger forget transit", 64, "usage"),
        ("ledger merge \(card)", 65, "notALedger"), ("ledger backup /nowhere/copy.sqlite", 73, "cannotWrite"),
        ("ledger import --card transit \(TestFiles.root)/Fixtures/cards/edy/card.json", 76, "otherCard"),
    ]

    @Test("Unknown cards are refused", arguments: filledFailures)
    func noCard(_ row: (line: String, status: Int32, reason: String)) throws {
        let result = try Self.run(row.line + " --json", try Self.filled())
        #expect(result.end == .exited(row.status))
        #expect(result.errors.contains("\"reason\":\"\(row.reason)\""), "\(result.errors)")
    }

    @Test("Damaged and foreign files stay unchanged", arguments: ["not a ledger at all", ""])
    func damaged(text: String) throws {
        let data = try Self.filled()
        let path = data.path + "/kazasu/ledger.sqlite"
        var bytes = try TestFiles.read(path)
        if text.isEmpty { bytes.removeLast(bytes.count / 2) } else { bytes = Array(text.utf8) }
        _ = try data.write(bytes, as: "kazasu/ledger.sqlite")
        for line in ["ledger list", "ledger import \(Self.card)"] + Self.keeping.map({ "\($0) \(Self.card) --keep" }) {
            let result = try Self.run(line + " --json", data)
            #expect(result.end == .exited(65), "\(line): \(result.errors)")
            // What was asked is answered all the same.
            let plain = try Self.run(line.replacing("--keep", with: "") + " --json", data)
            if line.hasSuffix("--keep") { #expect(plain.end == .exited(0) && result.output == plain.output) }
            #expect(result.errors.contains("ledgerDamaged") || result.errors.contains("notALedger"))
            #expect(try TestFiles.read(path) == bytes)
        }
    }

    @Test("An empty name of a ledger is refused before anything is read")
    func emptyName() throws {
        let result = try Self.run("balance /nowhere.json --keep --ledger= --json", TemporaryFolder())
        #expect(result.end == .exited(64), "\(result.errors)")
    }

    @Test(
        "When the disk fills up after the first thousand dumps, the error says what was kept",
        .enabled(if: MountNamespace.obstacle == nil, "\(MountNamespace.obstacle ?? "")"))
    func fullDisk() throws {
        let folder = try TemporaryFolder()
        let card = String(decoding: try TestFiles.read(Self.card), as: UTF8.self)
        let line = card.split(separator: "\n").joined()
        // One card again and again, then many cards with twenty records each.
        let others = (0..<300).map { line.replacing("0101031234567890", with: "010103129999\(1_000 + $0)") }
        let dumps = [String](repeating: line, count: 1_000) + others
        let file = try folder.write(Array(dumps.joined(separator: "\n").utf8), as: "dumps.ndjson")
        try #require(mkdir(folder.path + "/disk", 0o700) == 0)
        let ledger = "--ledger '\(folder.path)/disk/l'"
        let child = try MountNamespace.start(
            "mount -t tmpfs -o size=1m kazasu '\(folder.path)/disk'"
                + " && { '\(Service.path)' ledger import '\(file)' \(ledger); echo $?;"
                + " '\(Service.path)' ledger list --format csv \(ledger) | wc -l; }",
            environment: Service.environment)
        let result = child.finish()
        #expect(result.output == "73\n21\n", "\(result.output.prefix(200))")
        #expect(result.errors.contains("20 new records are already kept"), "\(result.errors)")
    }

    @Test("One unreadable file does not stop the others")
    func badFile() throws {
        let data = try TemporaryFolder()
        let bad = try data.write(Array("{}".utf8), as: "bad.json")
        let result = try Service.run(["ledger", "import", bad, Self.card], data: data)
        #expect(result.end == .exited(65))
        #expect(result.output == "20 new records, 0 known already\n", "\(result.output)")
    }

    @Test(
        "Errors in a file of columns name the line", arguments: ["日付 = date\n金額 = price\n", "@date tomorrow\n", "#\n"])
    func columns(text: String) throws {
        let data = try Self.filled()
        let file = try data.write(Array(text.utf8), as: "columns.txt")
        let result = try Service.run(["ledger", "export", "--columns", file], data: data)
        #expect(result.end == .exited(65))
        #expect(result.errors.contains("line "), "\(result.errors)")
    }

    @Test("--new writes each record once, and only what reached its file counts")
    func new() throws {
        let data = try Self.filled()
        let failed = try Self.run("ledger export csv --new -o /nowhere/new.csv", data)
        #expect(failed.end == .exited(73))
        let first = try Self.run("ledger export csv --new", data)
        #expect(first.output.split(separator: "\r\n").count == 21)
        let second = try Self.run("ledger export csv --new", data)
        #expect(second.output.split(separator: "\r\n").count == 1)
        #expect(try Self.run("ledger export csv", data).output == first.output)
    }

    @Test("--new replaces no file, and leaves it as it is when nothing is new", arguments: ["en", "ja"])
    func newFile(language: String) throws {
        let (data, isEnglish) = (try Self.filled(), language == "en")
        let path = data.path + "/new.csv"
        let line = "ledger export csv --new -o \(path) --lang \(language)"
        #expect(try Self.run(line, data).end == .exited(0))
        let written = try TestFiles.read(path)
        let again = try Self.run(line, data)
        #expect(again.end == .exited(0))
        #expect(
            again.errors.contains(isEnglish ? "nothing new; \(path) was not changed" : "新しいものはありません。\(path) は変更していません"),
            "\(again.errors)")
        #expect(try TestFiles.read(path) == written)
        let none = try Self.run("ledger export csv --new -o \(path).2.csv --lang \(language)", data)
        #expect(none.end == .exited(0) && !data.names.contains("new.csv.2.csv"), "\(none.errors)")
        // A second card brings something new, which stays new until it has a file of its own.
        let edy = TestFiles.root + "/Fixtures/cards/edy/card.json"
        #expect(try Self.run("ledger import \(edy)", data).end == .exited(0))
        let refused = try Self.run(line, data)
        #expect(refused.end == .exited(73))
        #expect(
            refused.errors.contains(isEnglish ? "exists, and --new replaces no file" : "はすでにあります"), "\(refused.errors)")
        #expect(try TestFiles.read(path) == written)
        #expect(try Self.run("ledger export csv --new -o \(path).3.csv", data).end == .exited(0))
        #expect(String(decoding: try TestFiles.read(path + ".3.csv"), as: UTF8.self).contains(",edy,"))
    }

    @Test("Rides of earlier claims are told")
    func repeatedClaim() throws {
        let data = try Self.filled()
        let first = try Self.run("ledger export --claim --new --month 2011-03 -o \(data.path)/a.csv", data)
        #expect(first.end == .exited(0) && !first.errors.contains("earlier"), "\(first.errors)")
        let second = try Self.run("ledger export --claim --new -o \(data.path)/b.csv", data)
        #expect(second.errors.contains(/[0-9]+ of these rides were in earlier claims/), "\(second.errors)")
        let third = try Self.run("ledger export --claim --lang ja", data)
        #expect(third.errors.contains("件の乗車は以前の精算にも含まれています"), "\(third.errors)")
    }

    @Test("--except takes the cell of a return trip, and lists have the ids")
    func except() throws {
        let data = try Self.filled()
        let ids = try Self.run("ledger list --ids --kind rail", data).output.split(separator: "\n").dropFirst()
            .compactMap { $0.split(separator: " ").last.map(String.init) }.filter { $0.hasPrefix("0003.") }
        try #require(ids.count > 2)
        let whole = try Self.run("ledger export --claim", data).output
        let cell = ids.prefix(2).joined(separator: " ")
        let part = try Service.run(["ledger", "export", "--claim", "--except", cell], data: data)
        #expect(part.end == .exited(0), "\(part.errors)")
        for id in ids.prefix(2) { #expect(whole.contains(id) && !part.output.contains(id)) }
    }

    @Test("A section of a pass says what is wrong with it")
    func pass() throws {
        let data = try Self.filled()
        let alone = try Self.run("ledger export --claim --pass 渋谷", data)
        #expect(alone.end == .exited(64) && alone.errors.contains("--pass takes two stations, A-B"), "\(alone.errors)")
        let unknown = try Self.run("ledger export --claim --pass 渋谷-青山二丁目", data)
        #expect(unknown.errors.contains("no station or stop '青山二丁目'"), "\(unknown.errors)")
        #expect(unknown.errors.contains("did you mean '青山一丁目'?"), "\(unknown.errors)")
        let unused = try Self.run("ledger export --claim --pass 新宿駅-渋谷", data)
        #expect(unused.end == .exited(0), "\(unused.errors)")
        #expect(unused.errors.contains("no ride lies within the pass 新宿駅-渋谷"), "\(unused.errors)")
    }

    @Test(
        "A command of the ledger without its name is suggested with it", arguments: ["report", "sum", "gaps", "undo"])
    func withoutGroup(command: String) throws {
        let result = try Self.run(command, try TemporaryFolder())
        #expect(result.end == .exited(64))
        #expect(result.errors.contains("did you mean 'kazasu ledger \(command)'"), "\(result.errors)")
        let claim = try Self.run("claim --lang ja", try TemporaryFolder())
        #expect(claim.errors.contains("'kazasu ledger export --claim' のことですか？"), "\(claim.errors)")
    }

    @Test("The format claim suggests the option --claim")
    func suggestsClaimOption() throws {
        let data = try Self.filled()
        #expect(try Self.run("ledger export claim", data).errors.contains("did you mean --claim?"))
        #expect(try Self.run("ledger export", data).errors.contains("--claim"))
        #expect(try Self.run("ledger export claim --lang ja", data).errors.contains("--claim のことですか"))
    }

    @Test("The card that a file is of is checked, and the file named; a backup says what it wrote")
    func files() throws {
        let data = try Self.filled()
        let edy = TestFiles.root + "/Fixtures/cards/edy/card.json"
        let other = try Service.run(["ledger", "import", "--card", "suica", Self.card, edy], data: data)
        #expect(other.end == .exited(76))
        #expect(other.errors.contains("\(edy) is of another card"), "\(other.errors)")
        let copy = data.path + "/copy.sqlite"
        let backup = try Self.run("ledger backup \(copy)", data)
        #expect(backup.errors.contains("wrote \(copy): 20 records of 1 card"), "\(backup.errors)")
        let again = try Self.run("ledger backup \(copy) --lang ja", data)
        #expect(again.errors.contains("\(copy) はすでにあります"), "\(again.errors)")
        let merge = try Self.run("ledger merge /nowhere.sqlite", data)
        #expect(merge.errors.contains("/nowhere.sqlite cannot be read: no such file"), "\(merge.errors)")
    }

    @Test(
        "The brand of a card on a reader is kept; one that no card has is refused", arguments: ["history", "balance"])
    func brandOfReader(command: String) throws {
        let data = try TemporaryFolder()
        let kept = try Service.run([command, "-r", "virtual:\(Self.card)", "--keep"], data: data)
        #expect(kept.end == .exited(0), "\(kept.errors)")
        #expect(try Self.run("ledger cards --json", data).output.contains("\"brand\": \"suica\""))
        #expect(try Self.run("ledger cards --format csv", data).output.contains(",suica\r\n"))
        let sum = try Self.run("ledger sum --card suica", data)
        #expect(sum.end == .exited(0) && !sum.errors.contains("brand unknown"), "\(sum.errors)")
        #expect(try Self.run("ledger sum --card icoca", data).end == .exited(64))
    }

    @Test("The brand that a dump tells is kept, and names the card")
    func brand() throws {
        let data = try Self.filled()
        let list = try Self.run("ledger list --json", data)
        #expect(list.output.contains("\"kind\": \"transit\", \"brand\": \"suica\""), "\(list.output.prefix(400))")
        #expect(try Self.run("ledger list --format csv", data).output.contains(",transit,suica,"))
        #expect(try Self.run("ledger sum --by card", data).output.contains("Suica …7890"))
    }

    @Test("records_view answers SQL questions")
    func view() throws {
        let data = try Self.several()
        let script = """
            import sqlite3, sys
            db = sqlite3.connect(sys.argv[1])
            print(db.execute('SELECT count(*) = (SELECT count(*) FROM record) FROM records_view').fetchone())
            print(db.execute('SELECT date, kind, amount, currency, brand, gapAtLeast FROM records_view WHERE amount = -180').fetchone())
            print(db.execute('SELECT card, gapAtLeast, gapAtMost, gapAmount FROM records_view WHERE gapAtLeast > 0').fetchall())
            """
        let result = try ChildProcess.run(
            "/usr/bin/env", ["python3", "-c", script, data.path + "/kazasu/ledger.sqlite"])
        #expect(
            result.output == """
                (1,)
                ('2025-11-30', 'rail', -180.0, 'BDT', 'dhaka', None)
                [('okica', 3, 6, -260)]

                """, "\(result.output)\(result.errors)")
    }

    // MARK: Changes

    @Test("A wrong import is looked at first, or undone, or forgotten; a copy and a merge bring it back")
    func changes() throws {
        let data = try TemporaryFolder()
        let preview = try Service.run(["ledger", "import", "--dry-run", Self.card], data: data)
        #expect(preview.output == "20 new records, 0 known already\n", "\(preview.errors)")
        #expect(
            preview.errors.contains("new in the ledger: …7890")
                && preview.errors.contains("nothing was added"))
        #expect(data.names.isEmpty)
        let kept = try Service.run(["ledger", "import", Self.card], data: data)
        #expect(kept.errors.contains("import 1; 'kazasu ledger undo' takes it back"), "\(kept.errors)")
        let copy = data.path + "/copy.sqlite"
        #expect(try Service.run(["ledger", "backup", copy], data: data).end == .exited(0))
        #expect(try Service.run(["ledger", "backup", copy], data: data).end == .exited(73))
        #expect(try Self.run("ledger forget --import 1 --yes", data).output == "removed: 20 records\n")
        #expect(try Self.run("ledger undo", data).output.hasPrefix("undone: a removal, 2"))
        #expect(try Self.run("ledger undo", data).end == .exited(64))
        #expect(try Self.run("ledger forget 7890 --yes", data).end == .exited(0))
        #expect(try Self.run("ledger cards", data).output.isEmpty)
        let merged = try Service.run(["ledger", "merge", copy], data: data)
        #expect(merged.output == "20 new records, 0 known already\n", "\(merged.errors)")
        #expect(try Self.run("ledger undo --lang ja", data).output.hasPrefix("取り消しました: 台帳の統合（"))
    }

    @Test("A merge leaves no copy of the other ledger, one of an earlier format neither")
    func noCopies() throws {
        let (data, temporary) = (try TemporaryFolder(), try TemporaryFolder())
        let other = TestFiles.root + "/Fixtures/0.1.0/ledger.sqlite"
        let merged = try Service.run(["ledger", "merge", other], data: data, environment: ["TMPDIR": temporary.path])
        #expect(merged.end == .exited(0), "\(merged.errors)")
        #expect(temporary.names.isEmpty)
    }

    @Test("A signal while a temporary ledger exists removes it", arguments: [SIGINT, SIGTERM])
    func interrupted(signal: Int32) throws {
        let (data, temporary) = (try TemporaryFolder(), try TemporaryFolder())
        let fifo = data.path + "/fifo"
        try #require(mkfifo(fifo, 0o600) == 0)
        let child = try RunningChild(
            Service.path, ["ledger", "import", "--dry-run", fifo],
            environment: Service.environment.merging(
                ["TMPDIR": temporary.path, "XDG_DATA_HOME": data.path]) { $1 })
        // Somebody reads: the folder is there.
        let deadline = ContinuousClock.now + .seconds(60)
        var end: Int32 = -1
        while end < 0, ContinuousClock.now < deadline {
            end = open(fifo, O_WRONLY | O_NONBLOCK | O_CLOEXEC)
            sched_yield()
        }
        try #require(end >= 0)
        defer { close(end) }
        #expect(temporary.names.count == 1)
        child.send(signal)
        #expect(child.finish().end == .exited(signal == SIGINT ? 130 : 143))
        #expect(temporary.names.isEmpty)
    }

    @Test("--keep says how long the records last at the owner's pace")
    func pace() throws {
        let data = try TemporaryFolder()
        let kept = try Service.run(["history", Self.card, "--keep"], data: data)
        #expect(kept.errors.contains("20 records last about "), "\(kept.errors)")
    }

    @Test("A claim names the rides that have no fare")
    func unknownFare() throws {
        let claim = try Self.run("ledger export --claim", try Self.filled())
        #expect(
            claim.errors.contains("1 ride with an unknown fare is not included in the total: 2010-09-24 "),
            "\(claim.errors)")
    }

    @Test("Names and kinds of cards are completed, and completion makes no ledger")
    func completion() throws {
        let data = try Self.filled()
        _ = try Self.run("ledger name transit Work", data)
        let words = ["---completion", "bash", "4", "kazasu", "ledger", "list", "--card", ""]
        let values = try Service.run(words, data: data).output
        #expect(values.contains("Work") && values.contains("transit"), "\(values)")
        let empty = try TemporaryFolder()
        _ = try Service.run(words, data: empty)
        #expect(empty.names.isEmpty)
    }

    @Test("A gap does not widen the column of a place")
    func gapRow() throws {
        let list = try Self.run("ledger list --card okica", try Self.several()).output
        #expect(list.contains("  gap 3-6  "), "\(list)")
    }

    // MARK: What is missing

    /// A ledger with a card of yen that has a gap, one of taka, and one of rupiah without balances.
    private static func several() throws -> TemporaryFolder {
        let data = try TemporaryFolder()
        for name in ["okica", "dhaka", "kmt"] {
            let kept = try Service.run(
                ["ledger", "import", "\(TestFiles.root)/Fixtures/cards/\(name)/card.json"], data: data)
            try #require(kept.end == .exited(0), "\(kept.errors)")
        }
        return data
    }

    /// A command line, and what it says on standard error.
    static let reports: [(line: String, words: [String])] = [
        ("ledger sum", ["1 gap in the period, 3 to 6 records lost: the sums are incomplete"]),
        ("ledger sum --by kind --lang ja", ["期間内に欠落が 1 か所（履歴 3～6 件）あり"]),
        (
            "ledger export --claim",
            [
                "lines, total Tk 660.00, Rp 6,500, ¥", "gap between 2024-12-01 and 2025-03-10: 3 to 6 records lost",
            ]
        ),
        ("ledger export --claim --month 2025-01", ["0 lines", "gap between 2024-12-01 and 2025-03-10"]),
        (
            "ledger export moneyforward",
            ["left out: the format does not hold their currency: Dhaka MRT Pass or Rapid Pass …005d (BDT), KMT"]
        ),
        ("ledger export qif --lang ja", ["この形式では扱えない通貨のため", "ダッカMRT Pass・Rapid Pass …005d (BDT)"]),
        ("ledger export ofx", ["left out: the format needs a balance with its day: KMT (COMMET) …005a (IDR)"]),
        ("ledger export hledger", ["gap between 2024-12-01 and 2025-03-10"]),
    ]

    @Test("Reports omitted and missing records with the answer", arguments: reports)
    func missing(_ row: (line: String, words: [String])) throws {
        let result = try Self.run(row.line, try Self.several())
        #expect(result.end == .exited(0), "\(result.errors)")
        for words in row.words { #expect(result.errors.contains(words), "\(result.errors)") }
    }

    @Test("A card whose currency the format cannot hold is refused by its name", arguments: ["sfcard", "moneyforward"])
    func otherCurrency(format: String) throws {
        let result = try Self.run("ledger export \(format) --card dhaka", try Self.several())
        #expect(result.end == .exited(64) && result.output.isEmpty)
        #expect(result.errors.contains("Dhaka MRT Pass or Rapid Pass …005d (BDT)"), "\(result.errors)")
    }

    @Test("Columns without a currency are reported when there are several")
    func currencyColumn() throws {
        let data = try Self.several()
        for (fields, isReported) in [("d = date\nm = total\n", true), ("m = total\nc = currency\n", false)] {
            let file = try data.write(Array(fields.utf8), as: "columns.txt")
            let result = try Self.run("ledger export --claim --columns \(file)", data)
            #expect(result.errors.contains("several currencies (BDT, IDR, JPY)") == isReported, "\(result.errors)")
        }
    }

    @Test("An unknown format names the nearest and all others")
    func unknownFormat() throws {
        let result = try Self.run("ledger export beancuont", try TemporaryFolder())
        #expect(result.end == .exited(64))
        #expect(result.errors.contains("did you mean 'beancount'? The formats are csv, sfcard,"), "\(result.errors)")
    }

    @Test("Amounts have their currency beside them where there is another than yen")
    func currencies() throws {
        let data = try Self.several()
        #expect(try Self.run("ledger cards", data).output.contains("340.00  BDT"))
        let list = try Self.run("ledger list", data).output
        #expect(list.contains("CURRENCY") && list.contains("BDT"), "\(list)")
        let yen = try Self.run("ledger list --card okica", data).output
        #expect(!yen.contains("CURRENCY") && !yen.contains("CARD"), "\(yen)")
    }

    /// A line with an output file, and the beginning of that file.
    static let endings: [(line: String, start: String)] = [
        ("list -o x.csv", "\u{FEFF}cardId,"), ("list -o x.json", "{\n  \"schema\": \"kazasu.ledger/1\""),
        ("list -o x.txt", "DATE "), ("list -o plain", "DATE "), ("list --format csv -o x.dat", "\u{FEFF}cardId,"),
        ("sum -o x.CSV --header ja", "\u{FEFF}キー,"),
        ("sum --by kind -o x.json", "{\n  \"schema\": \"kazasu.ledgerSum/1\""),
        ("gaps -o x.csv", "\u{FEFF}cardId,"), ("cards -o x.json", "{\n  \"schema\": \"kazasu.ledgerCards/1\""),
        ("export -o x.csv", "\u{FEFF}cardId,"), ("export -o x.ofx", "OFXHEADER"), ("export -o x.qif", "!"),
        ("export --format hledger -o x.journal", "commodity "), ("export --format zaim -o x.csv", "日付,"),
        ("export ofx --format ofx -o x.dat", "OFXHEADER"), ("export --claim -o x.csv", "\u{FEFF}date,"),
        ("report -o x.html", "<!DOCTYPE html>"),
    ]

    @Test("The ending of an output file decides its format, --format is its word everywhere", arguments: endings)
    func ending(_ row: (line: String, start: String)) throws {
        let data = try Self.filled()
        let name = String(row.line.split(separator: " ").first { $0.hasPrefix("x.") || $0 == "plain" } ?? "")
        let line = row.line.replacing(name, with: "\(data.path)/\(name)")
        let result = try Self.run("ledger \(line)", data)
        #expect(result.end == .exited(0), "\(result.errors)")
        let text = try data.text(name)
        #expect(text.hasPrefix(row.start), "\(text.prefix(80))")
    }

    @Test(
        "An ending that says another format is a mistake, and nothing is written",
        arguments: [
            "list --format json -o x.csv", "list --json -o x.csv", "list -o x.ndjson", "sum -o x.html",
            "cards -o x.xlsx",
            "gaps --bom -o x.json", "export ofx -o x.csv", "export --format qif -o x.ofx", "export --claim -o x.qif",
            "export -o x.dat", "export -o x.json", "export ofx --format qif", "report -o x.csv",
        ])
    func contradiction(line: String) throws {
        let data = try Self.filled()
        let names = data.names
        for language in ["en", "ja"] {
            let line = line.replacing("x.", with: "\(data.path)/x.")
            let result = try Self.run("ledger \(line) --lang \(language)", data)
            #expect(result.end == .exited(64), "\(result.errors)")
        }
        #expect(data.names == names)
    }

    /// Runs a command on a terminal.
    private static func onTerminal(_ line: String, _ data: TemporaryFolder, columns: Int = 80) throws -> ChildResult {
        let script = "import os, pty, sys; sys.exit(os.waitstatus_to_exitcode(pty.spawn(sys.argv[1:])))"
        return try ChildProcess.run(
            "/usr/bin/env",
            ["python3", "-c", script, Service.path] + line.split(separator: " ").map(String.init),
            environment: Service.environment.merging(["XDG_DATA_HOME": data.path, "COLUMNS": "\(columns)"]) { $1 },
            limit: .seconds(120))
    }

    @Test(
        "On a narrow terminal no row is broken; the card's number and the sums stay whole",
        arguments: [
            ("cards", "0101fe5500000005"), ("sum --by card", "…005d"), ("list", "2026-01-04"),
            ("gaps", "3 to 6 records"),
        ], ["en", "ja"])
    func narrow(row: (line: String, part: String), language: String) throws {
        let data = try Self.several()
        let five = "\(TestFiles.root)/Fixtures/cards/five-systems/card.json"
        _ = try Service.run(["ledger", "import", five], data: data)
        for columns in [60, 80] {
            let answer = try Self.onTerminal("ledger \(row.line) -q --lang \(language)", data, columns: columns)
            #expect(answer.end == .exited(0), "\(answer.output)")
            let part = language == "ja" && row.line == "gaps" ? "3～6 件" : row.part
            #expect(answer.output.contains(part), "\(answer.output)")
            for line in answer.output.split(separator: "\r\n") {
                let width = line.unicodeScalars.reduce(0) { $0 + ((0x2E80...0xFF60).contains($1.value) ? 2 : 1) }
                #expect(width <= columns, "\(line)")
            }
        }
    }

    @Test("A report is refused on a terminal, where nobody can read HTML")
    func terminal() throws {
        let result = try Self.onTerminal("ledger report", Self.filled())
        #expect(result.end == .exited(64), "\(result.output)")
        #expect(result.output.contains("-o report.html") && !result.output.contains("<!DOCTYPE"), "\(result.output)")
    }
}
