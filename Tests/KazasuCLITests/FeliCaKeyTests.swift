// SPDX-License-Identifier: Apache-2.0

import CardModel
import Glibc
import TestSupport
import Testing

/// The card's and the files' keys are test data.
@Suite("kazasu read, dump, balance, history, standard --keys", .waits)
struct FeliCaKeyTests {
    private static let card = """
        {"schema": "kazasu.card/1", "idm": "010A4B0012345678", "pmm": "0144220427674EFF", "systems": [
          {"code": "0003", "keyVersions": {"1408": "0007"},
           "nodes": ["1000-1FFE", "1408", "200B"],
           "blocks": {"1408": ["000102030405060708090A0B0C0D0E0F", "101112131415161718191A1B1C1D1E1F"], "200B": 1},
           "keys": {"FFFF": "64B34B0A2BC199B1", "0000": "6612317B4FD74F39", "1000": "EFAA8C23162FBB60",
                    "1408": "A989255BF6DACD10"},
           "issueId": "1112131415161718", "issueParameter": "2122232425262728"},
          {"code": "FE00", "nodes": ["0048"], "blocks": {"0048": 1},
           "aesKeys": {"0048": "0F0E0D0C0B0A09080706050403020100"}}]}
        """

    private static let keys = """
        0003 FFFF 64B34B0A2BC199B1
        0003 0000 6612317B4FD74F39
        0003 1000 EFAA8C23162FBB60
        0003 1408 A989255BF6DACD10 0007
        FE00 0048 0F0E0D0C0B0A09080706050403020100
        """

    /// A card, a file with keys and a folder for what is remembered.
    private struct Stand {
        let folder: TemporaryFolder
        let reader: String
        let keys: String

        init(_ keys: String = FeliCaKeyTests.keys, card: String = FeliCaKeyTests.card) throws {
            folder = try TemporaryFolder()
            reader = "virtual:" + (try folder.write(Array(card.utf8), as: "card.json"))
            self.keys = try folder.write(Array(keys.utf8), as: "keys.txt")
            chmod(self.keys, 0o600)
        }

        func run(_ arguments: String...) throws -> ChildResult {
            try Kazasu.run(
                arguments + ["-r", reader, "--keys", keys], environment: ["XDG_STATE_HOME": folder.path])
        }
    }

    @Test("Reads what keys of DES and AES open")
    func read() throws {
        let stand = try Stand()
        let des = try stand.run("read", "1408", "200B", "--system", "0003")
        #expect(des.end == .exited(0), "\(des.errors)")
        #expect(
            des.output == """
                0003 1408 0000 000102030405060708090A0B0C0D0E0F
                0003 1408 0001 101112131415161718191A1B1C1D1E1F
                0003 200B 0000 00000000000000000000000000000000

                """)
        let aes = try stand.run("read", "0048", "--system", "FE00", "--json")
        #expect(aes.end == .exited(0), "\(aes.errors)")
        #expect(aes.output.contains(#""opened": "aes""#))
    }

    @Test("A wrong key is used once, and again with --retry; it is not in what is remembered")
    func wrongKey() throws {
        let wrong = "0123456789ABCDEF"
        let stand = try Stand(Self.keys.replacing("A989255BF6DACD10", with: wrong))
        try stand.run("read", "1408", "--system", "0003").expectError(77, "the card does not confirm the keys")
        try stand.run("read", "1408", "--system", "0003").expectError(77, "the keys for service 1408 were not used")
        try stand.run("read", "1408", "--system", "0003", "--retry").expectError(
            77, "the card does not confirm the keys")
        let kept = String(
            decoding: try TestFiles.read(stand.folder.path + "/kazasu/felica-keys.tsv"), as: UTF8.self)
        #expect(kept.contains("failed\t"))
        for text in [wrong, wrong.lowercased(), "010A4B0012345678", "010a4b0012345678"] {
            #expect(!kept.contains(text))
        }
    }

    @Test("No key of a node, and a key of another version")
    func unused() throws {
        let without = try Stand(Self.keys.replacing("0003 1000 EFAA8C23162FBB60\n", with: ""))
        try without.run("read", "1408", "--system", "0003").expectError(77, "no key of node 1000")
        let none = try Stand("0003 FFFF 64B34B0A2BC199B1")
        try none.run("read", "1408", "--system", "0003").expectError(77, "no key of node 1408")
        let other = try Stand(Self.keys.replacing(" 0007", with: " 0008"))
        try other.run("read", "1408", "--system", "0003").expectError(77, "another version of the key of node 1408")
    }

    @Test("A bad line is named and not shown")
    func badFile() throws {
        let stand = try Stand("0003 1408 A989255BF6DACD10\n0003 1408 A989255BF6DACD11\n")
        let result = try stand.run("read", "1408")
        result.expectError(65, "line 2")
        #expect(!result.errors.contains("A989"))
    }

    @Test("A file that others can read is used, and that is said")
    func openFile() throws {
        let stand = try Stand()
        chmod(stand.keys, 0o644)
        let result = try stand.run("read", "1408", "--system", "0003")
        #expect(result.end == .exited(0))
        #expect(result.errors.contains("others can read the keys"))
    }

    @Test("A dump says what was opened, and --redact masks the issue numbers")
    func dump() throws {
        let stand = try Stand()
        let whole = try stand.run("dump", "--json")
        #expect(whole.end == .exited(0), "\(whole.errors)")
        #expect(whole.output.contains(#""opened": "des""#))
        #expect(whole.output.contains(#""opened": "aes""#))
        #expect(whole.output.contains(#""issueId": "1112131415161718""#))
        let masked = try stand.run("dump", "--json", "--redact")
        #expect(masked.output.contains(#""issueId": "0000000000000000""#))
        #expect(masked.output.contains(#""issueParameter": "0000000000000000""#))
        let wrong = try Stand(
            "0003 1408 0123456789ABCDEF\n" + Self.keys.replacing("0003 1408 A989255BF6DACD10 0007\n", with: ""))
        let some = try wrong.run("dump", "--json")
        #expect(some.end == .exited(0), "\(some.errors)")
        #expect(some.output.contains(#""reason": "wrongKey""#))
        #expect(some.errors.contains("0003 1408: the card does not confirm the keys"))
        #expect(try wrong.run("dump").output.contains("# 0003 1408 not opened: keyFailedBefore\n"))
        let none = try Stand("1234 1408 0123456789ABCDEF").run("dump", "--json")
        #expect(none.end == .exited(77))
        #expect(none.output.contains(#""state": "keyRequired""#))
    }

    @Test("A scan tells the versions of AES keys from those of DES, where the card does")
    func scan() throws {
        let stand = try Stand(
            card: Self.card.replacing(#""aesKeys":"#, with: #""aesKeyVersions": {"0048": "0009"}, "aesKeys":"#))
        let text = try Kazasu.run("scan", "-r", stand.reader)
        #expect(text.output.contains("AES 0009"), "\(text)")
        let json = try Kazasu.run("scan", "--json", "-r", stand.reader)
        let systems = try JSONCursor(JSONValue(parsing: Array(json.output.utf8))).required("systems").elements()
        let first = try systems[0].required("nodes").elements()
        #expect(try first.allSatisfy { try $0.optional("aesKeyVersion")?.text() == nil })
        let common = try systems[1].required("nodes").elements()
        let service = try #require(try common.first { try $0.required("code").text() == "0048" })
        #expect(try service.required("aesKeyVersion").text() == "0009", "\(json.output)")
        let transit = "virtual:\(TestFiles.root)/Fixtures/cards/suica-p1/card.json"
        #expect(try !Kazasu.run("scan", "--json", "-r", transit).output.contains("aesKeyVersion"))
    }

    @Test("Without --keys nothing is different")
    func withoutKeys() throws {
        let stand = try Stand()
        let result = try Kazasu.run("read", "1408", "--system", "0003", "-r", stand.reader)
        result.expectError(77, "the card refused service 1408")
        try Kazasu.run("read", "1408", "--retry", "-r", stand.reader).expectError(64, "requires")
    }

    /// A transit card whose purse and history need keys.
    private static let purse = """
        {"schema": "kazasu.card/1", "idm": "0101031234567890", "pmm": "0120220427674EFF", "systems": [
          {"code": "0003", "nodes": ["0088", "090C"],
           "blocks": {"0088": ["00000000000000002000000A000001E3"],
                      "090C": ["16010002166CE33BE6210A000001E300", "16010002166BE336E338AA000001E100"]},
           "keys": {"FFFF": "64B34B0A2BC199B1", "0000": "6612317B4FD74F39", "0088": "25BB0E7AF2C9D04D",
                    "090C": "4D0134D6E8B5C6FD"}}]}
        """
    private static let purseKeys = """
        0003 FFFF 64B34B0A2BC199B1
        0003 0000 6612317B4FD74F39
        0003 0088 25BB0E7AF2C9D04D
        0003 090C 4D0134D6E8B5C6FD
        """

    @Test("Balance and history of a card whose services need keys")
    func balanceAndHistory() throws {
        let stand = try Stand(Self.purseKeys, card: Self.purse)
        try Kazasu.run("balance", "-r", stand.reader).expectError(76, "no balance")
        #expect(try stand.run("balance").output == "10\n")
        let history = try stand.run("history", "--json")
        #expect(history.end == .exited(0), "\(history.errors)")
        #expect(history.output.matches(of: /"serial"/).count == 2)
        let dump = stand.folder.path + "/keyed.json"
        #expect(try stand.run("dump", "-o", dump).end == .exited(0))
        #expect(try Kazasu.run("balance", dump).output == "10\n")
        try Kazasu.run("balance", dump, "--keys", stand.keys).expectError(64, "cannot be used with a dump")
        try Kazasu.run("history", "-r", stand.reader, "--retry").expectError(64, "requires --keys")
    }

    @Test("A wrong key of a purse is named in both languages, and used once", arguments: ["balance", "history"])
    func wrongPurseKey(_ command: String) throws {
        let wrong = Self.purseKeys.replacing("25BB0E7AF2C9D04D", with: "0123456789ABCDEF")
            .replacing("4D0134D6E8B5C6FD", with: "0123456789ABCDEF")
        let stand = try Stand(wrong, card: Self.purse)
        try stand.run(command).expectError(77, "the card does not confirm the keys for service")
        try stand.run(command, "--lang", "ja").expectError(77, "鍵は使いませんでした")
        try stand.run(command, "--retry", "--lang", "ja").expectError(77, "鍵がカードの鍵と一致しません")
    }

    @Test("Shows key versions without keys, and which keys fit")
    func info() throws {
        let stand = try Stand()
        let plain = try Kazasu.run("standard", "info", "-r", stand.reader)
        #expect(plain.end == .exited(0), "\(plain.errors)")
        #expect(plain.output.contains("1408  service  0007"))
        #expect(!plain.output.contains("fits"))
        let text = try stand.run("standard", "info")
        #expect(text.output.contains("1408  service  0007  fits"))
        let japanese = try stand.run("standard", "info", "--lang", "ja")
        #expect(japanese.output.contains("手持ちの鍵") && japanese.output.contains("サービス"))
        let json = try JSONCursor(JSONValue(parsing: Array(try stand.run("standard", "info", "--json").output.utf8)))
        let systems = try json.required("systems").elements()
        #expect(try systems.map { try $0.required("schemes").elements().map { try $0.text() } } == [["des"], ["aes"]])
        let wrong = try Stand(Self.keys.replacing("EFAA8C23162FBB60", with: "0123456789ABCDEF"))
        let some = try wrong.run("standard", "info")
        #expect(some.output.contains("1408  service  0007  wrongKey"), "\(some.output)")
        try Kazasu.run("standard", "info", "--retry", "-r", stand.reader).expectError(64, "requires --keys")
    }

    @Test("Proves that a card has the keys")
    func verify() throws {
        let stand = try Stand()
        let text = try stand.run("standard", "verify")
        #expect(text.end == .exited(0) && text.output == "genuine\n", "\(text.errors)")
        let json = try stand.run("standard", "verify", "--json")
        #expect(json.output.contains(#""issueId": "1112131415161718""#))
        let masked = try stand.run("standard", "verify", "--json", "--redact")
        #expect(masked.output.contains(#""issueId": "0000000000000000""#))
        #expect(masked.output.contains(#""issueParameter": "0000000000000000""#))
        #expect(!masked.output.contains("010a4b0012345678"))
        #expect(try stand.run("standard", "verify", "--system", "FE00").output == "genuine\n")
        let wrong = try Stand(Self.keys.replacing("A989255BF6DACD10", with: "0123456789ABCDEF"))
        let copy = try wrong.run("standard", "verify")
        #expect(copy.output == "not genuine\n")
        copy.expectError(77, "the card does not confirm the keys", after: 1)
        let again = try wrong.run("standard", "verify", "--lang", "ja")
        again.expectError(77, "鍵は使いませんでした")
        #expect(again.output.isEmpty)
        try wrong.run("standard", "verify", "--retry", "--lang", "ja").expectError(77, "カードが鍵を確認できません", after: 1)
    }

    @Test("Refuses another kind of card, no keys and a wrong command line")
    func refused() throws {
        let stand = try Stand()
        let lite = "virtual:\(TestFiles.root)/Fixtures/felica/lite-s.json"
        try Kazasu.run("standard", "info", "-r", lite).expectError(76, "not a FeliCa Standard card")
        try Kazasu.run("standard", "info", "-r", lite, "--lang", "ja").expectError(76, "FeliCa Standard のカードではありません")
        try Kazasu.run("standard", "verify", "--keys", stand.keys, "-r", lite).expectError(76, "system 0003")
        let own = try Stand("88B4 0008 0123456789ABCDEF\n")
        try Kazasu.run("standard", "verify", "--keys", own.keys, "-r", lite).expectError(76, "not a FeliCa Standard")
        try Kazasu.run("read", "0008", "--system", "88B4", "--keys", stand.keys, "-r", lite)
            .expectError(76, "not a FeliCa Standard")
        try Kazasu.run("standard", "verify", "-r", stand.reader).expectError(64, "--keys is required")
        try Kazasu.run("standard", "verify", "-r", stand.reader, "--lang", "ja").expectError(64, "--keys を指定してください")
        try own.run("standard", "verify", "--system", "0003").expectError(77, "no key of a service of system 0003")
        try stand.run("standard", "verify", "--system", "xyz").expectError(64, "xyz")
        let version = try Stand(Self.keys.replacing(" 0007", with: " 0008"))
        try version.run("standard", "verify").expectError(77, "another version of the key of node 1408")
    }

    @Test("Shows, writes and reads back; the same again writes nothing")
    func write() throws {
        let stand = try Stand()
        let data = "00112233445566778899AABBCCDDEEFF"
        let words = ["write", "1408", "1", data, "--system", "0003", "--keys", stand.keys]
        let dry = try Kazasu.run(words + ["--dry-run", "-r", stand.reader])
        #expect(dry.end == .exited(0), "\(dry.errors)")
        #expect(dry.output == "0003 1408 0001 101112131415161718191A1B1C1D1E1F -> \(data)\n")
        let reader = try SimulatedReader(
            stand.folder.path + "/card.json", link: "\(stand.folder.path)/card")
        let first = try Kazasu.run(words + ["--yes", "--json", "-r", reader.id])
        #expect(first.end == .exited(0), "\(first.errors)")
        let document = try JSONCursor(JSONValue(parsing: Array(first.output.utf8)))
        #expect(try document.required("schema").text() == "kazasu.write/1")
        #expect(try document.required("written").bool() && document.required("verified").bool())
        #expect(try document.required("opened").text() == "des")
        let again = try Kazasu.run(words + ["--yes", "-r", reader.id])
        #expect(again.end == .exited(0) && again.errors.contains("nothing to write"), "\(again)")
        let read = try Kazasu.run("read", "1408", "--system", "0003", "--keys", stand.keys, "-r", reader.id)
        #expect(read.output.hasSuffix("0003 1408 0001 \(data)\n"))
        let japanese = try Kazasu.run(words + ["--yes", "--lang", "ja", "-r", reader.id])
        #expect(japanese.errors.contains("何も書いていません"))
        #expect(reader.interrupt().hasEnded(0))
    }

    @Test("Refuses impossible writes, with the reason in both languages")
    func refusedWrites() throws {
        let stand = try Stand()
        let data = "00112233445566778899AABBCCDDEEFF"
        func run(_ words: String...) throws -> ChildResult {
            try Kazasu.run(["write"] + words + ["--yes", "--keys", stand.keys, "--system", "0003", "-r", stand.reader])
        }
        try run("200B", "0", data).expectError(77, "service 200B does not allow writing")
        try run("200B", "0", data, "--lang", "ja").expectError(77, "サービス 200B は書き込めません")
        try run("1408", "2", data).expectError(77, "service 1408 has no block 2")
        try run("1408", "2", data, "--lang", "ja").expectError(77, "ブロック 2 はありません")
        try run("1408", "0", "--decrement", "1").expectError(77, "does not allow decrements")
        try run("1408", "0", "--cashback", "1").expectError(77, "does not allow cashback")
        try run("1048", "0", data).expectError(77, "no key of node 1048")
        try run("1408", "0").expectError(64, "give what to write")
        try run("1408", "0", data, "--decrement", "1").expectError(64, "give what to write")
        try run("1408", "0", "0011").expectError(64, "sixteen bytes")
        try run("1408", "65536", data).expectError(64, "0 to 65535")
        try run("1408", "0", "--decrement", "0").expectError(64, "at least 1")
        try run("1408", "0", data, data, data, data, data, data, data, data, data, data, data, data, data).expectError(
            64, "do not fit into one command")
        let without = try Kazasu.run("write", "1408", "0", data, "--yes", "-r", stand.reader)
        without.expectError(77, "no key of node 1408")
        let lite = "virtual:\(TestFiles.root)/Fixtures/felica/lite-s.json"
        try Kazasu.run("write", "0009", "0", data, "--yes", "-r", lite).expectError(76, "not a FeliCa Standard card")
    }

    private static let newKeys = "0003 1000 0123456789ABCDEF 0002\n0003 1408 1122334455667788 0008\n"

    @Test(
        "A key change that is killed or stopped by Ctrl-C at any step is ended by resume",
        arguments: ["key 1408", "keyProved 1408", "key 1000", "keyProved 1000", "done"], [SIGKILL, SIGINT])
    func killed(_ step: String, _ signal: Int32) throws {
        let stand = try Stand()
        let new = try stand.folder.write(Array(Self.newKeys.utf8), as: "new.txt")
        chmod(new, 0o600)
        let reader = try SimulatedReader(stand.folder.path + "/card.json", link: "\(stand.folder.path)/card")
        let journal = stand.folder.path + "/journal"
        let files = ["--keys", stand.keys, "--new-keys", new, "--journal", journal, "-r", reader.id]
        let child = try RunningChild(
            Kazasu.path, ["standard", "keys", "--yes", "-v", "-v"] + files,
            environment: Kazasu.environment.merging(["XDG_STATE_HOME": stand.folder.path]) { $1 })
        #expect(try child.writes("step: \(step)\n", to: .errors))
        child.send(signal)
        _ = child.finish()
        let resumed = try Kazasu.run(["standard", "resume"] + files)
        #expect(resumed.hasEnded(0), "\(resumed)")
        let all = try stand.folder.write(
            Array(("0003 FFFF 64B34B0A2BC199B1\n0003 0000 6612317B4FD74F39\n" + Self.newKeys).utf8), as: "all.txt")
        chmod(all, 0o600)
        let verified = try Kazasu.run("standard", "verify", "--keys", all, "--system", "0003", "-r", reader.id)
        #expect(verified.output == "genuine\n", "\(verified)")
    }

    @Test("Changes keys with a journal, which goes on with the same files only")
    func changeKeys() throws {
        let stand = try Stand()
        let new = try stand.folder.write(Array(Self.newKeys.utf8), as: "new.txt")
        chmod(new, 0o600)
        let words = ["standard", "keys", "--new-keys", new, "--keys", stand.keys]
        let dry = try Kazasu.run(words + ["--dry-run", "-r", stand.reader])
        #expect(dry.end == .exited(0), "\(dry.errors)")
        #expect(
            dry.output
                == "the key of 1408: version 0007 becomes 0008\nthe key of 1000: version 0000 becomes 0002\n")
        let reader = try SimulatedReader(
            stand.folder.path + "/card.json", link: "\(stand.folder.path)/card")
        let journal = stand.folder.path + "/journal"
        let done = try Kazasu.run(words + ["--yes", "--json", "--journal", journal, "-r", reader.id])
        #expect(done.end == .exited(0), "\(done.errors)")
        #expect(done.output.contains(#""changed": true"#))
        let lines = String(decoding: try TestFiles.read(journal), as: UTF8.self)
        #expect(lines.split(separator: "\n").count == 6)
        for key in ["0123456789ABCDEF", "1122334455667788", "A989255BF6DACD10"] {
            #expect(!lines.uppercased().contains(key))
        }
        let merged = try stand.folder.write(
            Array(("0003 FFFF 64B34B0A2BC199B1\n0003 0000 6612317B4FD74F39\n" + Self.newKeys).utf8), as: "all.txt")
        chmod(merged, 0o600)
        let read = try Kazasu.run("read", "1408", "--system", "0003", "--keys", merged, "-r", reader.id)
        #expect(read.end == .exited(0), "\(read.errors)")
        // All is done; resuming proves it once more.
        let resume = ["standard", "resume", "--journal", journal, "--keys", stand.keys, "--new-keys"]
        let again = try Kazasu.run(resume + [new, "-r", reader.id])
        #expect(again.end == .exited(0), "\(again.errors)")
        let other = try stand.folder.write(Array("0003 1408 1122334455667788 0009\n".utf8), as: "other.txt")
        chmod(other, 0o600)
        try Kazasu.run(resume + [other, "-r", reader.id]).expectError(77, "another version of the key")
        try Kazasu.run(words + ["--yes", "--journal", journal, "-r", reader.id]).expectError(
            64, "needs a version other")
        #expect(reader.interrupt().hasEnded(0))
    }

    @Test(
        "Key changes that are refused",
        arguments: [
            ("0003 1408 0000000000000000 0008", 64, "zeros or a weak", "弱い鍵"),
            ("0003 1408 1122334455667788 0007", 64, "needs a version", "バージョンが必要"),
            ("0003 0000 1122334455667788 0007", 76, "is not public", "公開されていません"),
            ("0003 1448 1122334455667788 0007", 77, "no node 1448", "ノード 1448 はありません"),
            ("0003 1408 A989255BF6DACD10 0008", 64, "no new key differs", "変更する鍵がありません"),
        ])
    func refusedKeyChanges(_ line: String, _ status: Int32, _ english: String, _ japanese: String) throws {
        let stand = try Stand()
        let new = try stand.folder.write(Array(line.utf8), as: "new.txt")
        chmod(new, 0o600)
        let words = ["standard", "keys", "--new-keys", new, "--keys", stand.keys, "--yes", "-r", stand.reader]
        try Kazasu.run(words).expectError(status, english)
        try Kazasu.run(words + ["--lang", "ja"]).expectError(status, japanese)
    }

    @Test("A key change is in no trace")
    func tracesOfKeyChanges() throws {
        let stand = try Stand()
        let new = try stand.folder.write(Array(Self.newKeys.utf8), as: "new.txt")
        chmod(new, 0o600)
        let trace = stand.folder.path + "/trace"
        let result = try Kazasu.run(
            "standard", "keys", "--new-keys", new, "--keys", stand.keys, "--yes", "--journal",
            stand.folder.path + "/journal", "--trace", trace, "-r", stand.reader)
        #expect(result.end == .exited(0), "\(result.errors)")
        let text = String(decoding: try TestFiles.read(trace), as: UTF8.self)
        // A Write is masked after its code.
        let sent = text.lowercased().filter { $0 != " " }.matches(of: /2a16([0-9a-f]{80})/)
        #expect(!sent.isEmpty && sent.allSatisfy { $0.1.allSatisfy { $0 == "0" } }, "\(text)")
    }

    @Test("No key is in any output, trace or file")
    func noKeyIsShown() throws {
        let wrong = Self.keys.replacing("A989255BF6DACD10", with: "0123456789ABCDEF")
        for keys in [Self.keys, wrong] {
            let stand = try Stand(keys)
            let secrets = keys.split(separator: "\n").map { String($0.split(separator: " ")[2]) }
            for (number, command) in [
                ["standard", "info"], ["standard", "verify"], ["read", "1408"], ["dump"], ["balance"], ["history"],
            ].enumerated() {
                for form in [[], ["--json"], ["-v", "-v"]] {
                    let trace = "\(stand.folder.path)/trace\(number)\(form.count)"
                    let result = try Kazasu.run(
                        command + ["-r", stand.reader, "--keys", stand.keys, "--retry", "--trace", trace] + form,
                        environment: ["XDG_STATE_HOME": stand.folder.path])
                    let state = (try? TestFiles.read(stand.folder.path + "/kazasu/felica-keys.tsv")) ?? []
                    let all =
                        result.output + result.errors + String(decoding: try TestFiles.read(trace), as: UTF8.self)
                        + String(decoding: state, as: UTF8.self)
                    let digits = all.uppercased().filter { $0 != " " && $0 != ":" }
                    for secret in secrets { #expect(!digits.contains(secret), "\(command) \(form)") }
                }
            }
        }
    }
}
