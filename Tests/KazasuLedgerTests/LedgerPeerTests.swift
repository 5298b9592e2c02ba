// SPDX-License-Identifier: Apache-2.0

import CardDecoders
import Glibc
import KazasuLedger
import LedgerSupport
import TestSupport
import Testing

/// The programs that exports are for: Debian's hledger and ofx, and ofxtools, ofxparse and beancount from PyPI (`make venv`).
enum Peers {
    static let python = getenv("KAZASU_PYTHON").map { String(cString: $0) } ?? TestFiles.root + "/.venv/bin/python"

    static func has(_ module: String) -> Bool {
        (try? ChildProcess.run(python, ["-c", "import \(module)"]))?.end == .exited(0)
    }

    static let hasOFX = has("ofxtools") && has("ofxparse")
    static let hasBeancount = has("beancount")
    static let hledger = "/usr/bin/hledger"
    static let ofxdump = "/usr/bin/ofxdump"
    static let office = "/usr/bin/soffice"
    static func isThere(_ program: String) -> Bool { access(program, X_OK) == 0 }
}

@Suite("Other programs accept the exports")
struct LedgerPeerTests {
    /// Half a year of three cards, with gaps, and a name that is awkward everywhere.
    static func ledger() throws -> Ledger {
        let ledger = try ExampleCard.ledger()
        for (number, kind) in [LedgerCardMaker.Kind.transit, .waon, .coop].enumerated() {
            var maker = LedgerCardMaker(kind, idm: 0x0101_0312_0000_0100 + UInt64(number), seed: 77)
            maker.live(records: 300, from: 8_705)
            var visit = 10
            while visit < 300 {
                try ledger.keep(maker.dump(after: visit))
                visit += 1 + visit * 7 % (kind.window * 2)
            }
        }
        try ledger.name("0101031200000100", as: "定期 & \"仕事\"; <1>")
        return ledger
    }

    static func files() throws -> (folder: TemporaryFolder, sums: [LedgerFormat: LedgerExport]) {
        let (folder, ledger) = (try TemporaryFolder(), try ledger())
        var exports: [LedgerFormat: LedgerExport] = [:]
        for format in LedgerFormat.allCases where format != .sfcard {
            let written = try ledger.export(format)
            let (data, export) = (written.data, written.export)
            _ = try folder.write(data, as: format.rawValue)
            exports[format] = export
        }
        return (folder, exports)
    }

    @Test(
        "hledger finds every balance right",
        .enabled(if: Peers.isThere(Peers.hledger), "no /usr/bin/hledger: make deps-test"))
    func hledger() throws {
        let (folder, _) = try LedgerPeerTests.files()
        let check = try ChildProcess.run(
            Peers.hledger, ["-f", folder.path + "/hledger", "check", "--strict"], environment: ["LC_ALL": "C.UTF-8"])
        #expect(check.end == .exited(0), "\(check.errors)")
        // The balance of a card, as hledger works it out.
        let ledger = try LedgerPeerTests.ledger()
        let card = try #require(try ledger.cards().first { $0.purse.kind == "waon" })
        let balance = try ChildProcess.run(
            Peers.hledger, ["-f", folder.path + "/hledger", "balance", "--no-total", "0101"],
            environment: ["LC_ALL": "C.UTF-8"])
        #expect(balance.output.contains("\(try #require(card.balance)) JPY  Assets:Transit:Card-0101"))
    }

    /// The exports after two visits and after a file that has some of the records between them, one behind the other.
    static func continued(_ format: LedgerFormat) throws -> [UInt8] {
        let (ledger, visits) = (try ExampleCard.ledger(visits: 0), try ExampleCard.visits())
        var options = LedgerExportOptions()
        options.skipsExported = true
        let between = [
            try ExampleCard.record(26, "2019-01-25", .rail, nil, 3_451),
            try ExampleCard.record(28, "2019-01-26", .rail, nil, 3_251),
        ]
        var file: [UInt8] = []
        for records in [visits[0], visits[1], between + visits[1]] {
            try ExampleCard.keep(records, ledger)
            let written = try ledger.export(format, options)
            let (data, export) = (written.data, written.export)
            try ledger.didWrite(export)
            file += data
        }
        return file
    }

    @Test(
        "hledger finds the balances of continued exports right",
        .enabled(if: Peers.isThere(Peers.hledger), "no /usr/bin/hledger: make deps-test"))
    func continuedHledger() throws {
        let folder = try TemporaryFolder()
        let file = try folder.write(try LedgerPeerTests.continued(.hledger), as: "journal")
        let check = try ChildProcess.run(
            Peers.hledger, ["-f", file, "check", "--strict"], environment: ["LC_ALL": "C.UTF-8"])
        #expect(check.end == .exited(0), "\(check.errors)")
    }

    @Test(
        "So does bean-check", .enabled(if: Peers.hasBeancount, "KAZASU_PYTHON names no Python with beancount"))
    func continuedBeancount() throws {
        let folder = try TemporaryFolder()
        let file = try folder.write(try LedgerPeerTests.continued(.beancount), as: "file")
        let check = try ChildProcess.run(
            Peers.python, ["-m", "beancount.scripts.check", file], environment: ["LC_ALL": "C.UTF-8"])
        #expect(check.end == .exited(0) && check.errors.isEmpty, "\(check.output)\(check.errors)")
    }

    @Test("bean-check says nothing", .enabled(if: Peers.hasBeancount, "KAZASU_PYTHON names no Python with beancount"))
    func beancount() throws {
        let (folder, _) = try LedgerPeerTests.files()
        let check = try ChildProcess.run(
            Peers.python, ["-m", "beancount.scripts.check", folder.path + "/beancount"],
            environment: ["LC_ALL": "C.UTF-8"])
        #expect(check.end == .exited(0))
        #expect(check.errors.isEmpty && check.output.isEmpty, "\(check.errors.prefix(800))")
    }

    @Test(
        "ofxtools and ofxparse read every transaction without a warning",
        .enabled(if: Peers.hasOFX, "KAZASU_PYTHON names no Python with ofxtools and ofxparse"))
    func ofx() throws {
        let (folder, exports) = try LedgerPeerTests.files()
        let script = """
            import sys, warnings
            warnings.simplefilter('error')
            from ofxtools.Parser import OFXTree
            tree = OFXTree()
            with open(sys.argv[1], 'rb') as file: tree.parse(file)
            statements = tree.convert().statements
            print(sum(len(s.transactions) for s in statements), len({t.fitid for s in statements for t in s.transactions}))
            warnings.simplefilter('default')
            import codecs
            from ofxparse import OfxParser
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter('always')
                with open(sys.argv[1], 'rb') as file: ofx = OfxParser.parse(file)
            print(sum(len(a.statement.transactions) for a in ofx.accounts))
            print([str(w.message) for w in caught if 'ofx' in str(w.message).lower()])
            print([t.payee for a in ofx.accounts for t in a.statement.transactions][0])
            print([str(s.ledgerbal.balamt) for s in statements] == [str(a.statement.balance) for a in ofx.accounts])
            """
        let result = try ChildProcess.run(
            Peers.python, ["-c", script, folder.path + "/ofx"], environment: ["PYTHONUTF8": "1"])
        let count = try #require(exports[.ofx]?.records)
        #expect(
            result.output == "\(count) \(count)\n\(count)\n[]\n六本木一丁目 → 後楽園\nTrue\n", "\(result.errors.suffix(800))")
    }

    @Test(
        "libofx, which GnuCash imports with, reads every transaction",
        .enabled(if: Peers.isThere(Peers.ofxdump), "no /usr/bin/ofxdump: make deps-test"))
    func libofx() throws {
        let (folder, exports) = try LedgerPeerTests.files()
        let result = try ChildProcess.run(Peers.ofxdump, [folder.path + "/ofx"], environment: ["LC_ALL": "C.UTF-8"])
        #expect(result.end == .exited(0))
        let count = try #require(exports[.ofx]?.records)
        #expect(
            result.output.split(separator: "\n").count { $0.contains("institution's ID for this transaction") } == count
        )
        #expect(result.output.contains("六本木一丁目 → 後楽園"))
        #expect(!result.errors.contains("ERROR"), "\(result.errors.prefix(800))")
    }

    /// The cells of CSV without their quotation marks.
    private static func cells(_ text: String) -> [[String]] {
        var (rows, cell, isQuoted): ([[String]], String, Bool) = ([[]], "", false)
        func end() {
            rows[rows.count - 1].append(cell)
            cell = ""
        }
        for character in text {
            switch character {
            case "\"": isQuoted.toggle()
            case "," where !isQuoted: end()
            case "\n" where !isQuoted, "\r\n" where !isQuoted:
                end()
                rows.append([])
            default: cell.append(character)
            }
        }
        return rows.filter { !$0.isEmpty }
    }

    @Test(
        "LibreOffice opens CSV and saves every cell as it was",
        .enabled(if: Peers.isThere(Peers.office), "no /usr/bin/soffice: make deps-test"))
    func libreOffice() throws {
        let (folder, ledger) = (try TemporaryFolder(), try LedgerPeerTests.ledger())
        var options = LedgerExportOptions()
        (options.hasGaps, options.hasByteOrderMark) = (true, true)
        let data = try ledger.export(.csv, options).data
        let file = try folder.write(data, as: "ledger.csv")
        let result = try ChildProcess.run(
            Peers.office,
            [
                "--headless", "-env:UserInstallation=file://\(folder.path)/profile", "--infilter=CSV:44,34,76,1,,1041",
                "--convert-to", "csv:Text - txt - csv (StarCalc):44,34,76,1", "--outdir", folder.path + "/saved", file,
            ], limit: .seconds(180))
        #expect(result.end == .exited(0), "\(result.errors)")
        let written = LedgerPeerTests.cells(String(decoding: data.dropFirst(3), as: UTF8.self))
        let saved = LedgerPeerTests.cells(
            String(decoding: try TestFiles.read(folder.path + "/saved/ledger.csv"), as: UTF8.self))
        #expect(saved.count == written.count)
        for (before, after) in zip(written, saved) {
            // LibreOffice shows the seconds of every time.
            #expect(zip(before, after).allSatisfy { $0 == $1 || $0 + ":00" == $1 }, "\(before)\n\(after)")
        }
    }

    // MARK: Hostile names

    /// What a table of stations may call a station.
    static let hostileNames = [
        "\"x\"\u{301},=1+1,\"\u{301}y\"", "a,\u{301}b", "a;\u{301}b|\u{301}c", "a\t\u{301}b", "=1+1", "＝1+1",
        "@\u{301}x",
        "x\"\u{301}\\\u{301}", "line\r\n2018-11-13 other\n", "\u{2028}x\u{85}",
    ]

    struct HostileStations: StationNames {
        let name: String
        func station(_ code: StationCode, on date: CalendarDate?) -> StationName? {
            StationName(company: name, line: name, name: name)
        }
        func busStop(_ code: BusStopCode, on date: CalendarDate?) -> StationName? { nil }
    }

    private static func hostile(_ name: String) throws -> Ledger {
        let ledger = try LedgerFolder().open { $0.stations = HostileStations(name: name) }
        for visit in try ExampleCard.visits() { try ExampleCard.keep(visit, ledger) }
        return ledger
    }

    @Test(
        "Python's csv reads the columns that were written, and no formula, whatever a station is called",
        arguments: hostileNames)
    func python(_ name: String) throws {
        let (folder, ledger) = (try TemporaryFolder(), try LedgerPeerTests.hostile(name))
        try ledger.name("2345", as: name.split(whereSeparator: \.isNewline).first.map(String.init) ?? name)
        var files: [String] = []
        func write(
            _ format: LedgerFormat, _ separator: String, _ first: Int, _ change: (inout LedgerExportOptions) -> Void
        ) throws {
            var options = LedgerExportOptions()
            change(&options)
            let path = try folder.write(try ledger.export(format, options).data, as: "\(files.count).csv")
            files += [path, separator, String(first), format == .sfcard ? "cp932" : "utf-8-sig"]
        }
        try write(.csv, ",", 0) { $0.hasGaps = true }
        try write(.csv, ",", 0) { ($0.isClaim, $0.hasGaps) = (true, true) }
        for (word, separator) in [(";", ";"), ("tab", "\t"), (",", ",")] {
            try write(.csv, separator, 0) {
                $0.columns = try? LedgerColumns(
                    "@separator \(word)\nd = date\n\(name.filter { !$0.isNewline }) = title\nf = from\n")
            }
        }
        try write(.moneyforward, ",", 0) { $0.hasGaps = true }
        try write(.zaim, ",", 0) { $0.hasGaps = true }
        // The line of the card's number comes first.
        try write(.sfcard, ",", 1) { $0.hasGaps = true }
        let script = """
            import csv, re, sys
            for path, separator, first, encoding in zip(*[iter(sys.argv[1:])] * 4):
                rows = list(csv.reader(open(path, newline='', encoding=encoding), delimiter=separator))[int(first):]
                assert len(rows) > 5, path
                assert len({len(row) for row in rows}) == 1, (path, [len(row) for row in rows])
                for row in rows:
                    for cell in row:
                        number = re.fullmatch(r'-?[0-9.]*', cell)
                        assert number or not re.match('[=+@\\t\\r＝＋＠-]', cell), (path, row)
            """
        let result = try ChildProcess.run(
            "/usr/bin/env", ["python3", "-c", script] + files, environment: ["PYTHONUTF8": "1"])
        #expect(result.end == .exited(0), "\(result.errors)")
    }

    @Test(
        "bean-check and hledger accept every name of a station",
        .enabled(if: Peers.hasBeancount && Peers.isThere(Peers.hledger), "needs hledger and beancount"),
        arguments: hostileNames)
    func hostileJournals(_ name: String) throws {
        let (folder, ledger) = (try TemporaryFolder(), try LedgerPeerTests.hostile(name))
        let written = try ledger.export(.hledger)
        let (hledger, export) = (written.data, written.export)
        let journal = try folder.write(hledger, as: "h.journal")
        let check = try ChildProcess.run(
            Peers.hledger, ["-f", journal, "check", "--strict"], environment: ["LC_ALL": "C.UTF-8"])
        #expect(check.end == .exited(0), "\(check.errors)")
        let print = try ChildProcess.run(Peers.hledger, ["-f", journal, "stats"], environment: ["LC_ALL": "C.UTF-8"])
        // The opening and a gap beside the records.
        #expect(print.output.contains(": \(export.records + 2) ("), "\(print.output)")
        let beancount = try folder.write(try ledger.export(.beancount).data, as: "b.beancount")
        let bean = try ChildProcess.run(
            Peers.python, ["-m", "beancount.scripts.check", beancount], environment: ["LC_ALL": "C.UTF-8"])
        #expect(bean.end == .exited(0) && bean.errors.isEmpty && bean.output.isEmpty, "\(bean.errors.prefix(800))")
    }
}
