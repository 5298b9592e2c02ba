// SPDX-License-Identifier: Apache-2.0

import CardModel
import TestSupport
import Testing

/// The command lines that a help page or a document shows.
struct ExamplePage: CustomTestStringConvertible, Sendable {
    var name: String
    var lines: [String]
    /// The output that is shown below each line, where one is.
    var outputs: [String: String] = [:]
    var testDescription: String { name }

    /// The examples of the help of every command, in both languages.
    static let help: [ExamplePage] = ["en", "ja"].flatMap { language -> [ExamplePage] in
        func pages(_ command: JSONCursor, below path: String) throws -> [ExamplePage] {
            let name = path + (try command.required("commandName").text())
            let discussion = try command.optional("discussion")?.text() ?? ""
            let lines = discussion.split(separator: "\n", omittingEmptySubsequences: false)
                .drop { $0 != "Examples:" && $0 != "例:" }.dropFirst().prefix { $0.hasPrefix("  ") }
                .map { String($0.dropFirst(2)) }
            let below = try command.optional("subcommands")?.list { command throws(DocumentError) in command } ?? []
            return try [ExamplePage(name: "\(name) (\(language))", lines: lines)]
                + below.flatMap { try pages($0, below: name + " ") }
        }
        return ((try? pages(Kazasu.listing(language), below: "")) ?? []).filter { !$0.lines.isEmpty }
    }

    /// The blocks of shell commands in the documents.
    static let documents: [ExamplePage] = documentNames.flatMap { name in
        let blocks = text(of: name).matches(of: /(?ms)^```(?<kind>[a-z]*)\n(?<text>.*?)^```$/)
        return blocks.enumerated().compactMap { index, block in
            let lines = block.text.replacing("\\\n", with: "").split(separator: "\n").map(String.init)
            var page = ExamplePage(name: "\(name), block \(index + 1)", lines: [])
            switch block.kind {
            case "sh", "bash": page.lines = lines.filter { !$0.hasPrefix("#") }
            case "console":
                for line in lines {
                    if line.hasPrefix("$ ") {
                        page.lines.append(String(line.dropFirst(2)))
                    } else if let command = page.lines.last {
                        page.outputs[command, default: ""] += line + "\n"
                    }
                }
            case "": page.lines = lines.filter { $0.hasPrefix("kazasu ") }
            default: break
            }
            return page.lines.isEmpty ? nil : page
        }
    }

    /// The commands in the running text and in the tables of the documents, each once.
    static let mentions: [String] = Set(
        documentNames.flatMap { name in
            let prose = text(of: name).replacing(/(?ms)^```.*?^```$/, with: "")
            return prose.matches(of: /`((?:sudo )?kazasu [A-Za-z][^`]*)`/).map { String($0.1) }
        }
    ).filter { !$0.contains("…") }.sorted()

    private static let documentNames: [String] =
        TestFiles.names(in: "").filter { $0.hasPrefix("README") || $0 == "CONTRIBUTING.md" }
        + TestFiles.names(in: "Docs").filter { $0.hasSuffix(".md") }.map { "Docs/\($0)" }

    private static func text(of document: String) -> String {
        String(decoding: (try? TestFiles.read(document)) ?? [], as: UTF8.self)
    }
}

/// A folder with the files that the examples name, in which a shell runs them.
struct ExampleShell {
    let folder: TemporaryFolder
    /// The reader of every line; `nil` for a card that goes with the line.
    private let reader: String?
    private let isJapanese: Bool

    init(reader: String? = nil, isJapanese: Bool = false) throws {
        (self.reader, self.isJapanese) = (reader, isJapanese)
        folder = try TemporaryFolder()
        let root = TestFiles.root
        let copies = [
            ("card.json", "cards/suica-p1/card.json"), ("tag.json", "tags/ntag213.json"),
            ("before.json", "cards/suica-p1/card.json"), ("authorities.pem", "iso7816/residence/authorities.pem"),
            ("countries.pem", "iso7816/passport/authority.der"),
            ("after.json", "cards/suica-p1/card.json"), ("suica.nfc", "formats/flipper/standard.nfc"),
        ]
        for (name, source) in copies { _ = try folder.write(try TestFiles.read("Fixtures/\(source)"), as: name) }
        func fixture(_ name: String) throws -> String {
            String(decoding: try TestFiles.read("Fixtures/\(name)"), as: UTF8.self)
        }
        let texts = [
            ("StationCode.csv", StationsTests.own), ("own.tsv", StationsTests.own),
            ("station_codes.csv", "0,E3,3B,東京地下鉄,銀座線,青山一丁目\n"),
            ("card.apdu", "00A4040007D276000085010100\n00A4000C02E103 => 9000 # the capability container\n"),
            ("pin.txt", "1234"), ("pin1", "1234"), ("pin", "2222"), ("number", "AA12345678BB"),
            ("b", "50060120311234"),
            ("mrz", "SP1234567,800405,360614\n"),
            ("key.txt", "00112233445566778899AABBCCDDEEFF"), ("sun.key", String(repeating: "0", count: 32)),
            ("password.txt", "FFFFFFFF\n"), ("keys.txt", ExampleShell.classicKeys),
            ("trailer.txt", "D3F7D3F7D3F77F078840FFFFFFFFFFFF\n"),
            ("key", "37363534333231306665646362613938\n"), ("master", ExampleShell.masterKey + "\n"),
            ("felica.txt", ExampleShell.standardKeys), ("own.txt", ExampleShell.standardKeys),
            ("old.txt", ExampleShell.standardKeys),
            ("gym.json", try fixture("provision/standard-profile.json")),
            ("seller.txt", try fixture("provision/standard-seller-keys.txt")),
            ("gym.txt", try fixture("provision/standard-issued-keys.txt")),
            ("new.txt", "0003 1408 1122334455667788 0008\n"),
            (
                "keys.jsonl",
                #"{"schema":"kazasu.standardJournal/1","idm":"010a4b0012345678","system":"0003","#
                    + #""keys":[{"node":"1408","from":"0007","to":"0008"}]}"# + "\n"
            ),
            ("door.json", #"{"schema": "kazasu.liteProfile/1", "keyVersion": "0001"}"#),
            (
                "interrupted.jsonl",
                #"{"schema":"kazasu.liteJournal/1","idm":"012e4cd2c0ffee42","profile":{"schema":"kazasu.liteProfile/1"}}"#
                    + "\n"
            ),
            ("tag.keys", ExampleShell.tagKeys), ("desfire.keys", ExampleShell.desfireKeys),
            ("masters.keys", ExampleShell.desfireKeys),
            ("key1", "101112131415161718191A1B1C1D1E1F\n"), ("key2", "202122232425262728292A2B2C2D2E2F\n"),
            ("plan.json", try fixture("provision/ntag424-plan.json")),
            ("tag.jsonl", ExampleShell.tagJournal),
            ("office.txt", "Date = date\nFrom = from\nTo = to\nFare = fare\n"),
            ("card.vcf", "BEGIN:VCARD\nVERSION:4.0\nFN:Example\nEND:VCARD\n"),
        ]
        for (name, text) in texts { _ = try folder.write(Array(text.utf8), as: name) }
        _ = try folder.write([0xD1, 0x01, 0x04, 0x54, 0x02, 0x65, 0x6E, 0x21], as: "message.ndef")
        let made = try Kazasu.shell(
            """
            cd '\(folder.path)' && mkdir -p dumps recordings phone data root/etc/udev/rules.d &&
                cp card.json dumps && cp card.json phone/1.nfc && ln -s '\(root)/Fixtures' Fixtures
            """)
        try #require(made.hasEnded(0), "\(made)")
    }

    /// Of the fixture that a master key was made for; test data.
    private static let masterKey = "000102030405060708090A0B0C0D0E0F1011121314151617"

    /// Of the FeliCa Standard of the fixtures.
    private static let standardKeys = """
        0003 FFFF 64B34B0A2BC199B1
        0003 0000 6612317B4FD74F39
        0003 1000 EFAA8C23162FBB60
        0003 1408 A989255BF6DACD10 0007
        FE00 0048 0F0E0D0C0B0A09080706050403020100

        """

    /// Of the NTAG 424 DNA of the fixtures.
    private static let tagKeys = """
        0 A0A1A2A3A4A5A6A7A8A9AAABACADAEAF
        1 1A1B1C1D1E1F10111213141516171819
        2 2A2B2C2D2E2F20212223242526272829
        3 3A3B3C3D3E3F30313233343536373839
        4 4A4B4C4D4E4F40414243444546474849

        """

    /// Of the MIFARE DESFire of the fixtures.
    private static let desfireKeys = """
        picc 0 30313233343536373031323334353637
        F5A1C0 0 00112233445566778899AABBCCDDEEFF
        F5A1C0 1 101112131415161718191A1B1C1D1E1F
        F5A1C0 2 202122232425262728292A2B2C2D2E2F

        """

    /// With the check values of those keys and of the factory's.
    private static let tagJournal =
        #"{"schema":"kazasu.tagJournal/1","uid":"04de5f1eacc040","plan":{"schema":"kazasu.tagPlan/1""#
        + #","chip":"ntag424","url":"https://kazasu.example/t?p={picc}&c={mac}","metaKey":2,"fileKey":"#
        + #"1},"old":{"salt":"499b2edb7ab6e54c8ea1b41eaba394ec","values":{"0":"cf190a0846dfb4be","1":""#
        + #"a1d7e6478f5c7be3","2":"63b5bdb7ec7d1b1f","3":"e79c6aa2598e7e9b","4":"56c7467fc41f2326"}},""#
        + #"new":{"salt":"fadbcb9ce55f970160eb3ffc9d000363","values":{"0":"97df85680eaee04c","1":"7896"#
        + #"68b585ccc6d3","2":"d62b00f05a7eb1f3","3":"0a49c1c295af9171","4":"6ac2e87c4c0356f8"}}}"# + "\n"

    /// Of the MIFARE Classic of the fixtures.
    private static let classicKeys =
        "0 A A0A1A2A3A4A5\n1 A D3F7D3F7D3F7\n2 A D3F7D3F7D3F7\n3 A 111111111111\n3 B 222222222222\n* A FFFFFFFFFFFF\n* B FFFFFFFFFFFF\n"

    /// What a line is shown with: the card that it is about, if that is not the one that its command has in `Scripts/commands.tsv`.
    private static let cards = [
        ("desfire ", "virtual/desfire.json"),
        ("classic ", "virtual/classic-1k.json"), ("tag verify", "virtual/ntag213-signed.json"),
        ("tag reset", "virtual/ntag424-owned.json"), ("tag.keys", "virtual/ntag424-factory.json"),
        ("felica.txt", "felica/standard-keys.json"), ("own.txt", "felica/standard-keys.json"),
        ("kazasu standard issue", "felica/standard-blank.json"), ("kazasu standard ", "felica/standard-keys.json"),
        ("lite info", "felica/lite-s-issued.json"), ("lite verify --master", "felica/lite-s-issued.json"),
        ("lite ", "felica/lite-s.json"),
        ("mynumber --face", "iso7816/mynumber/face.json"),
        ("3F00", "iso7816/license/sample.json"), ("technology a,b", "iso7816/license/sample.json"),
        ("apdu", "tags/type4.json"), ("key-number", "virtual/ntag424.json"), ("key-from", "virtual/ultralight-c.json"),
        ("tag ", "tags/ntag213.json"), ("12FC", "cards/felica-lite-s/card.json"),
    ]

    private func reader(for line: String) -> String {
        if let reader { return reader }
        let named = Self.cards.first { line.contains($0.0) }.map { "Fixtures/\($0.1)" }
        let command = line.firstMatch(of: /kazasu ([a-z]+)/).map { String($0.output.1) }
        let card = named ?? command.flatMap { CommandRow.all[$0]?.card } ?? "Fixtures/cards/suica-p1/card.json"
        return "virtual:\(TestFiles.root)/\(card)"
    }

    /// What the shell knows beside the files: `kazasu` is answered where it would ask, and is stopped where it would run
    /// until it is stopped; `sudo kazasu doctor` stays in the folder.
    private static let functions = """
        set -o pipefail
        kazasu() {
            case " $* " in
            *" --fix "*|*" --report "*|*" tag write "*|" write "*|*" standard keys "*|*" standard issue "*|*" tag provision "*|*" tag reset "*|*" lite issue "*|*" classic write "*|*" --set "*) set -- "$@" --yes ;;
            *" --free "*|*" --pin1-from "*|*" --pin-from "*|*" --mrz-from "*|*" --face "*) ;;
            *" passport lists "*) ;;
            *" passport "*) set -- "$@" --mrz-from file:mrz ;;
            *" license "*) set -- "$@" --pin1-from env:PIN1 --pin2-from env:PIN2 ;;
            *" mynumber "*) set -- "$@" --pin-from env:PIN ;;
            esac
            case " $* " in
            *" --watch "*)
                local notes; notes=$(mktemp -u "$PWD/notes.XXXXXX"); mkfifo "$notes"
                "$KAZASU" "$@" 2> "$notes" &
                { read -r _; kill -TERM $!; cat; } < "$notes"
                wait $! ;;
            *" simulate "*)
                mkfifo "$PWD/notes"
                "$KAZASU" "$@" 2> "$PWD/notes" &
                simulator=$!
                exec 7<> "$PWD/notes"
                local note; read -r note <&7; echo "$note" >&2
                rm "$PWD/notes"
                # What does not say how to stop it ends by itself: a signal would come before or after that.
                case $note in
                *Ctrl-C*) ;;
                *) local ended=$simulator; simulator=''; wait "$ended" ;;
                esac ;;
            *) "$KAZASU" "$@" ;;
            esac
        }
        sudo() { case $2 in doctor) "$@" --root "$PWD/root" ;; *) "$@" ;; esac; }
        notify-send() { echo "$*" >> notified; }
        jq() { command jq "$@" | tee -a selected; }
        """

    /// Runs the lines one after the other.
    ///
    /// - Returns: the exit status of each, what each printed, and what the shell did.
    func run(_ lines: [String]) throws -> (statuses: [Int32], outputs: [String], result: ChildResult) {
        var script = Self.functions + "\nexport simulator=''\n"
        // A ledger has a card, and the card a name.
        if lines.contains(where: { $0.contains("kazasu ledger") }) {
            let name = lines.contains { $0.contains("通勤") } ? "通勤" : "Work"
            script += "\"$KAZASU\" history card.json --keep -q > /dev/null\n"
            script += "\"$KAZASU\" ledger name transit \(name) > /dev/null\n"
            script += "\"$KAZASU\" ledger backup laptop.sqlite -q\n"
        }
        for name in ["old.mfd", "card.mfd"] where lines.contains(where: { $0.contains(name) }) {
            script += "\"$KAZASU\" classic dump -r 'virtual:\(TestFiles.root)/Fixtures/virtual/classic-1k.json' "
            script += "--keys keys.txt -o \(name) -q > /dev/null\n"
        }
        for line in lines {
            let table = line.contains("stations lookup") ? "StationCode.csv" : ""
            script += "export KAZASU_READER='\(reader(for: line))' KAZASU_STATIONS=\(table)\n"
            script += line.replacing("/tmp/", with: "$PWD/") + "\n"
            script += "echo $? >> statuses; printf '\\036'\n"
        }
        script += "if [ -n \"$simulator\" ]; then kill -TERM $simulator; wait $simulator || echo $? >> statuses; fi\n"
        let result = try ChildProcess.run(
            "/bin/bash", ["-c", "cd '\(folder.path)'\n" + script],
            environment: Kazasu.environment.merging([
                "KAZASU": Kazasu.path, "PIN": "2222", "PIN1": "1234", "PIN2": "5678",
                "TAG_KEY": "00112233445566778899AABBCCDDEEFF", "KEY": "37363534333231306665646362613938",
                "MASTER": ExampleShell.masterKey, "TAG_PASSWORD": "FFFFFFFF", "SECTOR_KEY": "D3F7D3F7D3F7",
                "SUN_KEY": String(repeating: "0", count: 32),
                "SITE": "https://kazasu.example/",
                "URL": "https://kazasu.example/?uid=041E3C8A2D6B80&ctr=000006&cmac=4B00064004B0B3D3",
                "XDG_DATA_HOME": "\(folder.path)/data", "XDG_STATE_HOME": "\(folder.path)/state",
                "XDG_CACHE_HOME": "\(folder.path)/cache",
                "LC_ALL": isJapanese ? "ja_JP.UTF-8" : "C.UTF-8",
            ]) { $1 }, limit: .seconds(120))
        let statuses = (try? folder.text("statuses"))?.split(separator: "\n").compactMap { Int32($0) }
        let outputs = result.output.split(separator: "\u{1E}", omittingEmptySubsequences: false).map(String.init)
        return (statuses ?? [], outputs, result)
    }
}
