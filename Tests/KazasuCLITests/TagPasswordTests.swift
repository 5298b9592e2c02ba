// SPDX-License-Identifier: Apache-2.0

import CardModel
import TestSupport
import Testing

@Suite("kazasu tag --password-from", .waits)
struct TagPasswordTests {
    private static let password = "DEADBEEF"

    /// A tag whose pages from 5 on need its password, in a folder of its own that also remembers failures.
    private struct Bench {
        let folder: TemporaryFolder
        let file: String

        /// - Parameters:
        ///   - access: the first byte of CFG1.
        ///   - members: further members of the tag.
        init(access: String = "00", from page: String = "05", _ members: String = "", model: String = "ntag213") throws
        {
            folder = try TemporaryFolder()
            let config = model == "mf0ul11" ? ("10", "11") : ("29", "2A")
            file = try folder.write(
                Array(
                    """
                    { "schema": "kazasu.card/1", "type2": { "model": "\(model)", "uid": "04a8d862bc2b80",
                      "pages": { "03": "e1101200", "04": "0303d000", "05": "00fe0000", "\(config.0)": "040000\(page)",
                                 "\(config.1)": "\(access)050000" },
                      "password": "deadbeef", "passwordAnswer": "1234"\(members) } }
                    """.utf8), as: "card.json")
        }

        func run(_ arguments: String..., password: String? = TagPasswordTests.password) throws -> ChildResult {
            let from = password == nil ? [] : ["--password-from", "env:PASSWORD"]
            return try Kazasu.run(
                arguments + ["-r", "virtual:\(file)"] + from,
                environment: ["PASSWORD": password ?? "", "XDG_STATE_HOME": folder.path])
        }

        /// The file of failed passwords; empty if there is none.
        var failures: String { (try? folder.text("kazasu/tag-passwords.tsv")) ?? "" }
    }

    @Test("V18: describes a tag whose pages cannot be read without its password")
    func information() throws {
        let closed = try Bench(access: "80", from: "04")
        let without = try closed.run("tag", "info", password: nil)
        #expect(without.hasEnded(0) && without.output.contains("it cannot be read without a key"), "\(without)")
        let info = try closed.run("tag", "info", "--use-last-try", "--json")
        #expect(info.hasEnded(0) && info.output.contains(#""formatted": true"#), "\(info)")
        #expect(!info.output.lowercased().contains("deadbeef"))
    }

    @Test("Opens what the password protects, for reading and writing")
    func opens() throws {
        // Its configuration needs the password, too: whether there is a limit of tries cannot be read.
        let closed = try Bench(access: "80")
        #expect(try closed.run("tag", "read", password: nil).hasEnded(76))
        try closed.run("tag", "read").expectError(77, "does not reveal whether wrong ones lock it forever")
        let read = try closed.run("tag", "read", "--json", "--use-last-try")
        #expect(read.hasEnded(0), "\(read.errors)")
        #expect(read.errors.isEmpty)
        let pages = try closed.run("tag", "pages", "--pages", "4-8", "--use-last-try")
        #expect(pages.output.hasPrefix("04 0303D000\n05 00FE0000\n"))
        let bench = try Bench()
        let written = try bench.run("tag", "write", "--text", "hello", "--yes")
        #expect(written.hasEnded(0) && written.messages.last == "kazasu: 12 bytes written and read back")
        #expect(try bench.run("tag", "write", "--page", "8", "01020304", "--yes").hasEnded(0))
        try bench.run("tag", "write", "--page", "8", "01020304", "--yes", password: nil)
            .expectError(77, "page 08 needs the tag's password")
        #expect(bench.failures.isEmpty)
    }

    @Test(
        "PACK is compared where it is given",
        arguments: [("DEADBEEF:1234", 0), ("de:ad:be:ef 12 34", 0), ("DEADBEEF:1235", 77)])
    func acknowledgement(password: String, status: Int32) throws {
        let result = try Bench().run("tag", "read", password: password)
        #expect(result.hasEnded(status), "\(result.errors)")
        if status == 77 { result.expectError(77, "returned another PACK") }
    }

    @Test("A wrong password is sent once, remembered for this tag, and not sent again without --retry")
    func wrong() throws {
        let bench = try Bench()
        let trace = "\(bench.folder.path)/trace"
        let first = try bench.run("tag", "read", "--trace", trace, password: "00112233")
        first.expectError(77, "wrong password for this tag")
        #expect(!first.errors.contains("00112233"))
        let text = try bench.folder.text("trace")
        #expect(text.matches(of: /"tx":"1b/).count == 1)
        #expect(text.contains(#""tx":"1b00000000""#) && !text.contains("00112233"))
        #expect(bench.failures.matches(of: /(?m)^04a8d862bc2b80\t[0-9A-F]{4}$/).count == 1)
        let second = try bench.run("tag", "read", "--trace", trace, password: "00112233")
        second.expectError(77, "this tag did not accept it before")
        #expect(try !bench.folder.text("trace").contains(#""tx":"1b"#))
        try bench.run("tag", "pages", "--retry", password: "00112233").expectError(77, "wrong password")
        #expect(try bench.run("tag", "read").hasEnded(0), "another password is not held back")
        #expect(
            bench.failures.matches(of: /(?m)^04a8d862bc2b80\t[0-9A-F]{4}\t-$/).count == 1,
            "what was accepted ends the count, and the wrong one stays wrong")
        try bench.run("tag", "read", password: "00112233").expectError(77, "this tag did not accept it before")
    }

    @Test("A trace shows neither the password nor PACK")
    func trace() throws {
        let bench = try Bench()
        #expect(try bench.run("tag", "read", "--trace", "\(bench.folder.path)/trace").hasEnded(0))
        let text = try bench.folder.text("trace")
        #expect(text.contains(#""tx":"1b00000000","masked":{"from":1,"count":4}"#) && text.contains(#""rx":"0000""#))
        #expect(!text.contains("deadbeef") && !text.contains("\"1234\""))
    }

    @Test("A limit of tries is read first, and the password is not sent to such a tag without --use-last-try")
    func limit() throws {
        for access in ["01", "07"] {
            let bench = try Bench(access: access)
            let trace = "\(bench.folder.path)/trace"
            let held = try bench.run("tag", "pages", "--trace", trace)
            held.expectError(77, "locks itself forever after \(access.suffix(1)) wrong ones")
            #expect(try !bench.folder.text("trace").contains(#""tx":"1b"#))
            #expect(try bench.run("tag", "pages", "--use-last-try").hasEnded(0))
        }
    }

    @Test("A tag that is locked says so, to the right password too")
    func locked() throws {
        let bench = try Bench(access: "02", #", "wrongPasswords": 2"#)
        try bench.run("tag", "read", "--use-last-try").expectError(77, "accepts no password any more")
        let last = try Bench(access: "01")
        try last.run("tag", "read", "--use-last-try", password: "11111111").expectError(
            77, "accepts no password any more")
    }

    @Test("Nothing is sent to a tag that protects no page, and tags without a password say so")
    func notNeeded() throws {
        let bench = try Bench(access: "07", from: "FF")
        let trace = "\(bench.folder.path)/trace"
        #expect(try bench.run("tag", "read", "--trace", trace, password: "00000000").hasEnded(0))
        #expect(try !bench.folder.text("trace").contains(#""tx":"1b"#))
        for file in ["virtual/ultralight-c", "virtual/ultralight", "tags/type4", "cards/felica-lite-s/card"] {
            let other = try Kazasu.run(
                "tag", "read", "-r", "virtual:\(TestFiles.root)/Fixtures/\(file).json", "--password-from", "env:P",
                environment: ["P": Self.password])
            other.expectError(76, "does not support passwords")
        }
        #expect(try Bench(model: "mf0ul11").run("tag", "pages").hasEnded(0))
    }

    static let bad = ["", "DEADBEE", "DEADBEEF:12", "DEADBEEF1", "pa55w0rd", "0x", "DEADBEEF:1234:56"]

    @Test("Rejects what is not a password before it asks for a card", arguments: bad)
    func malformed(text: String) throws {
        let result = try Bench().run("tag", "read", password: text)
        result.expectError(64, "the password")
        #expect(text.count < 4 || !result.errors.contains(text))
    }

    @Test("Options that need another one, and a password that stands where its source belongs")
    func usage() throws {
        let bench = try Bench()
        for option in ["--use-last-try", "--retry"] {
            try bench.run("tag", "read", option, password: nil).expectError(
                64, "requires --key-from or --password-from")
        }
        try bench.run("tag", "read", "--key-from", "env:PASSWORD").expectError(64, "use either")
        let result = try Kazasu.run("tag", "read", "--password-from", Self.password)
        #expect(result.hasEnded(64) && !result.errors.contains(Self.password))
    }

    @Test("A failure is reported when it cannot be remembered")
    func noStateFolder() throws {
        let bench = try Bench()
        let result = try Kazasu.run(
            "tag", "read", "-r", "virtual:\(bench.file)", "--password-from", "env:P",
            environment: ["P": "00000001", "XDG_STATE_HOME": "/dev/null/none"])
        #expect(result.hasEnded(77) && result.errors.contains("no file can be written below XDG_STATE_HOME"))
    }

    @Test("A mirror is shown, and left out when what was written is compared")
    func mirror() throws {
        let bench = try Bench(access: "10", from: "FF", #", "counters": { "2": 16 }"#)
        let file = bench.file
        let text = try bench.folder.text("card.json").replacing("040000FF", with: "D4000CFF")
        _ = try bench.folder.write(Array(text.utf8), as: "card.json")
        let info = try Kazasu.run("tag", "info", "-r", "virtual:\(file)")
        #expect(info.output.contains("UID and counter from page 0C, byte 1"), "\(info.output) \(info.errors)")
        #expect(info.output.contains("Counter 2  ") && info.output.contains("  16\n"), "read before any page is")
        let json = try Kazasu.run("tag", "info", "--json", "-r", "virtual:\(file)")
        #expect(json.output.contains(#""mirror": {"content": "both", "page": 12, "byte": 1}"#))
        let long = "0123456789abcdefghijklmnopqrstuvwxyz0123456789abcdefghijklmnopqrstuvwxyz"
        let written = try Kazasu.run("tag", "write", "--text", long, "--yes", "-r", "virtual:\(file)")
        #expect(written.hasEnded(0), "\(written.errors)")
        let page = try Kazasu.run("tag", "write", "--page", "C", "0102030405060708", "--yes", "-r", "virtual:\(file)")
        #expect(page.hasEnded(0), "\(page.errors)")
    }
}
