// SPDX-License-Identifier: Apache-2.0

import CardDecoders
import CardModel
import Glibc
import KazasuCLI
import Server
import TestSupport
import Testing

@testable import KazasuServiceCLI

@Suite("kazasu rpc", .waits)
struct RPCTests {
    private static func fixture(_ name: String) -> String { "\(TestFiles.root)/Fixtures/\(name)" }

    /// A request, and the command that gives the same answer.
    struct Example: Sendable, CustomTestStringConvertible {
        var method: String
        var params: JSONValue
        var card: String
        var arguments: [String]
        var testDescription: String { "\(method) \(params.compactText)" }

        init(method: String, params: JSONValue, card: String, arguments: [String]) {
            (self.method, self.params, self.card, self.arguments) = (method, params, card, arguments)
        }

        /// The row of a method's command; `nil` if the command is another method without what this one fixes, needs a journal, or
        /// has no reader.
        init?(_ method: CommandMethod) {
            guard method.declared.subject == .card, method.declared.fixed.isEmpty,
                let row = CommandRow.all[method.words.joined(separator: " ")], let card = row.card,
                !row.words.contains("JOURNAL"), method.words.last != "resume"
            else { return nil }
            let words = row.words.map { $0.hasPrefix("Fixtures/") ? "\(TestFiles.root)/\($0)" : $0 }
            var (params, rest, arguments) = (JSONObject(), words[...], method.options.filter { $0.name == nil }[...])
            while let word = rest.popFirst() {
                let option = word.hasPrefix("--") ? method.options.first { $0.name == word } : arguments.popFirst()
                guard let parameter = option?.parameter else { return nil }
                let text = option?.name == nil ? word : parameter.kind == .flag ? nil : rest.popFirst()
                let value = text.map { parameter.kind == .integer ? JSONValue.int(Int($0) ?? 0) : .string($0) }
                params[parameter.name] = value ?? true
            }
            self.init(
                method: method.name, params: .object(params), card: String(card.dropFirst("Fixtures/".count)),
                arguments: method.words + words)
        }
    }

    /// The secrets that those rows name.
    private static let secrets = [
        "KEY": "00112233445566778899AABBCCDDEEFF", "KEY6": "FFFFFFFFFFFF", "MRZ": "SP1234567,800405,360614",
    ]

    private static let suica = "cards/suica-p1/card.json"
    private static let tag = "tags/ntag213.json"
    /// The master key of the issued card of the fixtures.
    private static let master = fixture("felica/lite-s-master.txt")

    private static let classic = "virtual/classic-1k.json"

    private static func identity(_ name: String) -> String { fixture("iso7816/\(name)") }

    /// What opens the cards of the fixtures, as the files that a program names.
    private static let files = try? TemporaryFolder()
    private static func secret(_ text: String, _ name: String) -> String {
        (try? files?.write(Array(text.utf8), as: name)) ?? ""
    }
    private static let number = secret("50060120311234\n", "number-b")
    private static let residenceNumber = secret("AA12345678BB\n", "number")
    private static let zone = secret("SP1234567,800405,360614\n", "mrz")
    private static let classicKeys = secret("FFFFFFFFFFFF\nA0A1A2A3A4A5\nD3F7D3F7D3F7\n", "keys.txt")
    private static let standard = "felica/standard-keys.json"
    private static let tagPlan = fixture("provision/ntag424-plan.json")
    private static let tagKeys = fixture("provision/ntag424-keys.txt")
    private static let standardKeys = fixture("felica/standard-keys.txt")
    private static let sunKey = secret(String(repeating: "0", count: 32) + "\n", "sun.key")
    private static let sun = "https://kazasu.example/?uid=041E3C8A2D6B80&ctr=000006&cmac=4B00064004B0B3D3"

    /// Every method that reads a card, called as `Scripts/commands.tsv` calls its command, and others.
    static let examples: [Example] = OwnProgramCommands.methods.compactMap { Example($0) } + chosen

    private static let chosen: [Example] = [
        Example(
            method: "card.poll", params: ["system": ["0003", "FE00"]], card: suica,
            arguments: ["poll", "--system", "0003,FE00"]),
        Example(
            method: "card.poll", params: ["technology": "a,b", "applications": true], card: "tags/type4.json",
            arguments: ["poll", "--technology", "a,b", "--applications"]),
        Example(
            method: "card.dump", params: ["service": ["090F"]], card: suica, arguments: ["dump", "--service", "090F"]),
        Example(method: "card.balance", params: ["all": true], card: suica, arguments: ["balance", "--all"]),
        Example(
            method: "card.history", params: ["kind": ["rail"], "since": "2005-01-01", "stations": "none"], card: suica,
            arguments: ["history", "--kind", "rail", "--since", "2005-01-01", "--stations", "none"]),
        Example(
            method: "card.read", params: ["service": ["008B", "090F"], "system": "0003", "blocks": "0-1"], card: suica,
            arguments: ["read", "008B", "090F", "--system", "0003", "--blocks", "0-1"]),
        Example(
            method: "card.apdu", params: ["commands": ["00A4040007D276000085010100", "00A4000C02E103 => 9000"]],
            card: "tags/type4.json", arguments: ["apdu", "00A4040007D276000085010100", "00A4000C02E103 => 9000"]),
        Example(
            method: "card.felica", params: ["commands": "0C0000030104FFFF0100"], card: suica,
            arguments: ["felica", "0C0000030104FFFF0100"]),
        Example(
            method: "tag.pages", params: ["pages": ["0-3", "29"]], card: tag,
            arguments: ["tag", "pages", "--pages", "0-3,29"]),
        Example(
            method: "tag.write", params: ["uri": ["https://kazasu.example"], "yes": true], card: tag,
            arguments: ["tag", "write", "--uri", "https://kazasu.example", "--yes"]),
        Example(method: "lite.info", params: [:], card: "felica/lite-s-issued.json", arguments: ["lite", "info"]),
        Example(
            method: "lite.verify", params: ["masterKeyFrom": .string("file:" + master)],
            card: "felica/lite-s-issued.json", arguments: ["lite", "verify", "--master-key-from", "file:" + master]),
        Example(
            method: "card.write",
            params: [
                "service": "1408", "block": 1, "hex": ["00112233445566778899AABBCCDDEEFF"], "dryRun": true,
                "keys": [.string(standardKeys)],
            ], card: standard,
            arguments: [
                "write", "1408", "1", "00112233445566778899AABBCCDDEEFF", "--dry-run", "--keys", standardKeys,
            ]),
        Example(
            method: "tag.provision",
            params: ["plan": .string(tagPlan), "newKeys": .string(tagKeys), "dryRun": true],
            card: "virtual/ntag424-factory.json",
            arguments: ["tag", "provision", "--plan", tagPlan, "--new-keys", tagKeys, "--dry-run"]),
        Example(
            method: "standard.info", params: ["keys": .string(standardKeys)], card: standard,
            arguments: ["standard", "info", "--keys", standardKeys]),
        Example(
            method: "standard.verify", params: ["keys": [.string(standardKeys)], "system": "FE00"], card: standard,
            arguments: ["standard", "verify", "--keys", standardKeys, "--system", "FE00"]),
        Example(
            method: "card.balance", params: ["keys": [.string(standardKeys)]], card: suica,
            arguments: ["balance", "--keys", standardKeys]),
        Example(method: "card.scan", params: ["probe": true], card: suica, arguments: ["scan", "--probe"]),
        Example(
            method: "card.mynumber",
            params: [
                "face": true, "numberFrom": .string("file:" + number),
                "ca": [.string(identity("mynumber/authority.bin"))],
            ],
            card: "iso7816/mynumber/face.json",
            arguments: [
                "mynumber", "--face", "--number-from", "file:" + number, "--ca", identity("mynumber/authority.bin"),
            ]),
        Example(
            method: "mynumber.check",
            params: ["numberFrom": .string("file:" + number), "ca": [.string(identity("mynumber/authority.bin"))]],
            card: "iso7816/mynumber/face.json",
            arguments: [
                "mynumber", "--face", "--check", "--number-from", "file:" + number, "--ca",
                identity("mynumber/authority.bin"),
            ]),
        Example(
            method: "card.residence", params: ["numberFrom": .string("file:" + residenceNumber)],
            card: "iso7816/residence/first.json", arguments: ["residence", "--number-from", "file:" + residenceNumber]),
        Example(
            method: "residence.check",
            params: [
                "numberFrom": .string("file:" + residenceNumber), "ca": .string(identity("residence/authorities.pem")),
                "anyAuthority": true,
            ],
            card: "iso7816/residence/second.json",
            arguments: [
                "residence", "--check", "--any-authority", "--number-from", "file:" + residenceNumber, "--ca",
                identity("residence/authorities.pem"),
            ]),
        Example(
            method: "card.passport",
            params: ["mrzFrom": .string("file:" + zone), "ca": [.string(identity("passport/authority.der"))]],
            card: "iso7816/passport/card.json",
            arguments: ["passport", "--mrz-from", "file:" + zone, "--ca", identity("passport/authority.der")]),
        Example(
            method: "passport.check",
            params: ["mrzFrom": .string("file:" + zone), "ca": [.string(identity("passport/authority.der"))]],
            card: "iso7816/passport/card.json",
            arguments: [
                "passport", "--check", "--mrz-from", "file:" + zone, "--ca", identity("passport/authority.der"),
            ]),
        Example(method: "tag.verify", params: [:], card: "virtual/ntag213-signed.json", arguments: ["tag", "verify"]),
        Example(
            method: "tag.verifyUrl", params: ["url": .string(sun), "keyFrom": .string("file:" + sunKey), "after": 5],
            card: suica, arguments: ["tag", "verify", sun, "--key-from", "file:" + sunKey, "--after", "5"]),
        Example(
            method: "classic.dump", params: ["keys": [.string(classicKeys)]], card: classic,
            arguments: ["classic", "dump", "--keys", classicKeys]),
        Example(
            method: "classic.read", params: ["blocks": "4-6", "keys": .string(classicKeys)], card: classic,
            arguments: ["classic", "read", "4-6", "--keys", classicKeys]),
        Example(
            method: "classic.message", params: [:], card: classic, arguments: ["classic", "read", "--ndef"]),
        // Those that fail.
        Example(
            method: "residence.check",
            params: [
                "numberFrom": .string("file:" + residenceNumber), "ca": .string(identity("residence/authorities.pem")),
                "anyAuthority": true,
            ],
            card: "iso7816/residence/second-expired.json",
            arguments: [
                "residence", "--check", "--any-authority", "--number-from", "file:" + residenceNumber, "--ca",
                identity("residence/authorities.pem"),
            ]),
        Example(
            method: "tag.verifyUrl", params: ["url": .string(sun), "keyFrom": .string("file:" + sunKey), "after": 6],
            card: suica, arguments: ["tag", "verify", sun, "--key-from", "file:" + sunKey, "--after", "6"]),
        Example(method: "tag.verify", params: [:], card: tag, arguments: ["tag", "verify"]),
        Example(
            method: "standard.verify", params: ["keys": [.string(standardKeys)], "system": "0003"], card: suica,
            arguments: ["standard", "verify", "--keys", standardKeys, "--system", "0003"]),
        Example(
            method: "lite.verify", params: ["masterKeyFrom": .string("file:" + master)], card: "felica/lite-s.json",
            arguments: ["lite", "verify", "--master-key-from", "file:" + master]),
        Example(
            method: "card.license", params: ["timeout": 0], card: suica, arguments: ["license", "--timeout", "0"]),
        Example(
            method: "card.read", params: ["service": "0048"], card: suica, arguments: ["read", "0048"]),
        Example(method: "card.balance", params: [:], card: tag, arguments: ["balance"]),
        Example(method: "card.history", params: ["card": "edy"], card: suica, arguments: ["history", "--card", "edy"]),
        Example(method: "card.dump", params: [:], card: "felica/two-purses.json", arguments: ["dump"]),
        Example(method: "card.poll", params: [:], card: "no-such.json", arguments: ["poll"]),
    ]

    /// Without what differs from run to run.
    private static func comparable(_ document: JSONValue) -> JSONValue {
        guard case .object(let object) = document else { return document }
        return .object(object.without(object["reason"] == nil ? ["readAt"] : ["partial", "hint"]))
    }

    /// Without what says how a list was found.
    private static func found(_ scan: JSONValue) -> JSONValue {
        guard case .object(var object) = comparable(scan), case .array(let systems)? = object["systems"] else {
            return scan
        }
        object["systems"] = .array(
            systems.map { system in
                guard case .object(let members) = system else { return system }
                return .object(members.without(["listing", "searchedNodes"]))
            })
        return .object(object)
    }

    @Test(
        "A method answers what the command prints",
        arguments: examples.map { ($0, "en") } + examples.suffix(6).map { ($0, "ja") })
    func sameAsTheCommand(_ example: Example, language: String) throws {
        let reader = "virtual:\(Self.fixture(example.card))"
        let command = try ChildProcess.run(
            Service.path, example.arguments + ["--json", "-r", reader, "--lang", language],
            environment: Service.environment.merging(Self.secrets) { $1 }, limit: .seconds(120))
        let program = try RPCProgram(["-r", reader, "--lang", language], environment: Self.secrets)
        let response = try program.response(to: program.send(example.method, example.params))
        if command.end == .exited(0) {
            let printed = try JSONValue(parsing: Array(command.output.utf8))
            #expect(Self.comparable(try #require(response["result"], "\(response)")) == Self.comparable(printed))
        } else {
            let error = JSONCursor(try #require(response["error"], "\(response)"))
            let document = JSONCursor(try #require(try error.optional("data")?.value))
            let line = try #require(command.errors.split(separator: "\n").last { $0.hasPrefix("{") })
            let printed = try JSONValue(parsing: Array(line.utf8))
            // Its hint is in the words of requests.
            #expect(Self.comparable(document.value) == Self.comparable(printed))
            let status = try document.required("status").integer(in: 0...255)
            #expect(command.end == .exited(Int32(status)))
            #expect(try error.required("code").integer(in: -40_000...0) == -32_000 - status)
            if !command.output.isEmpty {
                // The card stays for so many frames, which may be those of the search.
                let partial = JSONCursor(try JSONValue(parsing: Array(command.output.utf8)))
                let kept = try document.required("partial")
                #expect(try kept.required("schema").text() == partial.required("schema").text())
            }
        }
        let end = program.finish()
        #expect(end.end == .exited(0), "\(end.errors)")
        #expect(end.errors.isEmpty)
    }

    /// Methods without an example, and why.
    private static let untried: Set<String> = [
        // They need the journal of work that was cut short.
        "standard.resume", "tag.resume",
    ]

    @Test("Every method that reads or writes a card has an example")
    func everyMethod() {
        let methods = OwnProgramCommands.methods.filter { $0.declared.subject == .card }.map(\.name)
        #expect(Set(methods).subtracting(Self.examples.map(\.method)) == Self.untried)
    }

    @Test("decode and convert take a dump as text or Base64")
    func dumps() throws {
        let file = Self.fixture(Self.suica)
        let text = String(decoding: try TestFiles.read(file), as: UTF8.self)
        let dump = try Service.run("dump", "-r", "virtual:\(file)", "--json").output
        let program = try RPCProgram()
        let folder = try TemporaryFolder()
        let path = try folder.write(Array(dump.utf8), as: "card.json")
        let decoded = try JSONValue(parsing: Array(Service.run("decode", "--json", path).output.utf8))
        #expect(try program.result("decode", ["text": .string(dump)]) == decoded)
        let encoded = try Service.base64(dump)
        #expect(try program.result("decode", ["base64": .string(encoded)]) == decoded)
        let converted = try program.result("convert", ["text": .string(dump), "to": "proxmark"])
        let printed = try Service.run("convert", path, "--to", "proxmark").output
        #expect(converted == ["format": "proxmark", "text": .string(printed)])
        // A MIFARE Classic of zeros.
        let memory = String(repeating: "A", count: 1366) + "=="
        let bytes = try program.result("convert", ["base64": .string(memory), "to": "mfd"])
        #expect(bytes == ["format": "mfd", "base64": .string(memory)])
        let line = try JSONValue(parsing: Array(dump.utf8)).compactText + "\n"
        let several = try program.error("decode", ["text": .string(line + line)])
        #expect(try several.required("data").required("reason").text() == "severalDumps")
        let broken = try program.error("decode", ["text": .string(text + "}")])
        #expect(try broken.required("code").integer(in: -40_000...0) == -32_065)
        #expect(try broken.required("message").text().contains("the dump"))
        #expect(try program.error("decode").required("code").integer(in: -40_000...0) == -32_602)
        #expect(program.finish().end == .exited(0))
    }

    @Test("passport.files takes one file, a dump, or an object of Base64 by name, and refuses everything else")
    func passportFiles() throws {
        let folder = try TemporaryFolder()
        let (saved, dump) = ("\(folder.path)/saved", "\(folder.path)/dump.json")
        let chip = ["passport", "-q", "-r", "virtual:" + Self.identity("passport/chip-pace.json")]
        let zone = ["--mrz-from", "file:" + Self.zone]
        #expect(try Service.run(chip + zone + ["--save", saved, "-o", dump], data: folder).end == .exited(0))
        let authority = ["--ca", Self.identity("passport/chip-authority.der")]
        func printed(_ path: String) throws -> JSONValue {
            let answer = try Service.run(["passport", "--json", path] + authority, data: folder)
            return try JSONValue(parsing: Array(answer.output.utf8))
        }
        var members = JSONObject()
        func base64(_ name: String) throws -> JSONValue {
            .string(try ChildProcess.run("/usr/bin/base64", ["-w", "0", "\(saved)/\(name)"]).output)
        }
        for name in ["COM", "DG1", "DG2", "DG14", "DG15", "SOD", "CardAccess"] {
            members[name] = try base64((name.hasPrefix("DG") ? name : "EF_" + name) + ".bin")
        }
        members["evidence"] = try JSONValue(parsing: TestFiles.read("\(saved)/evidence.json"))
        let program = try RPCProgram()
        let ca: JSONValue = [.string(Self.identity("passport/chip-authority.der"))]
        func answer(_ text: String) throws -> JSONValue {
            try program.result("passport.files", ["text": .string(text), "ca": ca])
        }
        let whole = try answer(JSONValue.object(members).compactText)
        #expect(try whole == printed(saved))
        #expect(try JSONCursor(whole).required("chip").required("state").text() == "genuine")
        let text = String(decoding: try TestFiles.read(dump), as: UTF8.self)
        #expect(try answer(text) == printed(dump))
        let group = try program.result("passport.files", ["base64": base64("DG1.bin")])
        #expect(try JSONCursor(group).required("number").text() == "SP1234567")
        for text in ["{}", "hello", "{\"DG1\": \"AAAA\"}"] {
            let data = try program.error("passport.files", ["text": .string(text)]).required("data")
            #expect(try data.required("reason").text() == "badFile")
            #expect(try !(data.optional("hint")?.text() ?? "").contains("--"))
        }
        #expect(program.finish().end == .exited(0))
    }

    @Test("scan answers the same with the known lists of systems and without them")
    func walkedAndProved() throws {
        let cards = ["suica-p1", "nanaco", "waon", "edy", "okica", "kmt", "octopus", "five-systems", "felica-lite-s"]
        let readers = cards.flatMap { ["-r", "\($0)=virtual:\(Self.fixture("cards/\($0)/card.json"))"] }
        let program = try RPCProgram(readers)
        for card in cards {
            let reader = JSONValue.string(card)
            let proved = try program.result("card.scan", ["reader": reader])
            let walked = try program.result("card.scan", ["reader": reader, "walk": true])
            #expect(Self.found(proved) == Self.found(walked), "\(card)")
            #expect(try !JSONCursor(proved).required("systems").elements().isEmpty, "\(card)")
        }
        #expect(program.finish().end == .exited(0))
    }

    @Test("The ledger is read where --ledger or the environment says")
    func ledger() throws {
        let data = try TemporaryFolder()
        _ = try Service.run(["history", "--keep", "-r", "virtual:\(Self.fixture(Self.suica))"], data: data)
        let environment = ["XDG_DATA_HOME": data.path]
        let program = try RPCProgram(environment: environment)
        for (method, params, arguments) in [
            ("ledger.list", [:], ["ledger", "list"]),
            ("ledger.list", ["kind": ["rail"]], ["ledger", "list", "--kind", "rail"]),
            ("ledger.sum", ["by": "station"], ["ledger", "sum", "--by", "station"]),
            ("ledger.gaps", [:], ["ledger", "gaps"]),
        ] as [(String, JSONValue, [String])] {
            let printed = try Service.run(arguments + ["--json"], data: data).output
            #expect(try program.result(method, params) == JSONValue(parsing: Array(printed.utf8)), "\(method)")
        }
        #expect(program.finish().end == .exited(0))
        let nothing = try RPCProgram()
        #expect(try nothing.error("ledger.list").required("data").required("reason").text() == "noLedger")
        #expect(nothing.finish().end == .exited(0))
    }

    @Test("initialize tells version, methods and readers")
    func initialize() throws {
        let program = try RPCProgram(["-r", "gate=virtual:\(Self.fixture(Self.suica))"])
        let hello = JSONCursor(try program.result("initialize"))
        #expect(try hello.required("name").text() == "kazasu")
        #expect(try hello.required("protocol").integer(in: 0...9) == 1)
        let version = try Service.run("--version").output.filter { !$0.isNewline }
        #expect(try hello.required("version").text() == version)
        let methods = Set(try hello.required("methods").elements().map { try $0.text() })
        let described = JSONCursor(try JSONValue(parsing: Array(Service.run("rpc", "--describe").output.utf8)))
        #expect(try Set(described.required("methods").elements().map { try $0.required("name").text() }) == methods)
        _ = try program.result("card.balance", ["reader": "gate"])
        let readers = JSONCursor(try program.result("readers.list"))
        let gate = try readers.required("readers").elements().first {
            try $0.optional("id")?.text().hasPrefix("virtual:") ?? false
        }
        #expect(try gate?.required("state").text() == "ready")
        #expect(try gate?.required("alias").text() == "gate")
        #expect(try gate?.required("watched").value == false)
        _ = try program.result("taps.subscribe")
        // The reader is watched from its first notification on.
        _ = try program.notification("tap")
        let watched = JSONCursor(try program.result("readers.list"))
        #expect(try watched.required("readers").elements().contains { try $0.optional("watched")?.value == true })
        #expect(program.finish().end == .exited(0))
    }

    // MARK: Taps

    @Test("Requests take their turns while taps are reported, and the card never leaves for them")
    func taps() throws {
        let reader = "virtual:\(Self.fixture(Self.suica))"
        let program = try RPCProgram(["-r", "gate=\(reader)"])
        #expect(try program.result("taps.subscribe", ["read": "balance"]) == .null)
        let ready = JSONCursor(try program.notification("tap"))
        #expect(try ready.required("state").text() == "ready")
        let on = JSONCursor(try program.notification("tap"))
        #expect(try on.required("type").text() == "on")
        #expect(try on.required("reader").text() == "gate")
        #expect(try on.required("balances").elements().first?.required("amount").integer(in: 0...99) == 10)
        let ids = (0..<20).map { _ in program.send("card.balance") }
        for id in ids { #expect(try program.response(to: id)["result"] != nil) }
        _ = try program.error("card.license")
        _ = try program.result("card.scan")
        // What takes more than half a second reports its progress.
        #expect(program.others.allSatisfy { $0["method"] == .string("progress") })
        #expect(try program.result("taps.unsubscribe") == .null)
        let off = JSONCursor(try program.notification("tap"))
        #expect(try off.required("type").text() == "off")
        #expect(try off.required("reason").text() == "shutdown")
        #expect(try program.result("card.balance", ["reader": "gate"]) != .null)
        #expect(program.finish().end == .exited(0))
    }

    @Test("Names of cards come with the request, and others are left out if wanted")
    func knownCards() throws {
        let folder = try TemporaryFolder()
        let file = try folder.write(Array("0101031234567890\tAda\n".utf8), as: "names")
        let reader = "virtual:\(Self.fixture(Self.suica))"
        for only in [["0101031234567890": "Ada"], .string("file:" + file)] as [JSONValue] {
            let program = try RPCProgram(["-r", reader])
            _ = try program.result("taps.subscribe", ["only": only, "onlyKnown": true, "debounce": 1])
            _ = try program.notification("tap")
            let on = JSONCursor(try program.notification("tap"))
            #expect(try on.required("name").text() == "Ada")
            #expect(program.finish().end == .exited(0))
        }
        let program = try RPCProgram(["-r", reader])
        _ = try program.result("taps.subscribe", ["only": ["0101039999999999": "Eve"], "onlyKnown": true])
        _ = try program.notification("tap")
        _ = try program.result("taps.unsubscribe")
        #expect(program.others.isEmpty, "a card without a name sends nothing")
        #expect(program.finish().end == .exited(0))
    }

    @Test("Only a card that proves the key has a tag, and tags are hashes where that is wanted")
    func provedAndHashed() throws {
        for (card, isGenuine) in [("felica/lite-s-issued.json", true), ("felica/lite-s.json", false)] {
            let program = try RPCProgram(
                ["-r", "virtual:\(Self.fixture(card))"],
                environment: ["MASTER": "000102030405060708090A0B0C0D0E0F1011121314151617"])
            _ = try program.result("taps.subscribe", ["requireMac": "env:MASTER"])
            _ = try program.notification("tap")
            let on = JSONCursor(try program.notification("tap"))
            #expect(try on.optional("tag")?.text() == (isGenuine ? "012e34e829ce1e71" : nil))
            #expect(program.finish().end == .exited(0))
        }
        let program = try RPCProgram(["-r", "virtual:\(Self.fixture(Self.suica))"], environment: ["KEY": "secret"])
        _ = try program.result("taps.subscribe", ["idKey": "env:KEY", "phones": true, "wildcard": true])
        _ = try program.notification("tap")
        let on = JSONCursor(try program.notification("tap"))
        #expect(try on.required("tag").text().count == 32)
        #expect(program.finish().end == .exited(0))
    }

    /// Places that are in no table do not fail for a program: the document says so.
    @Test("stations.lookup answers with names, and with null for a code that no table has")
    func lookup() throws {
        let program = try RPCProgram()
        let found = JSONCursor(try program.result("stations.lookup", ["queries": ["0-3-13", "9-99-99"]]))
        let names = try found.required("places").elements().map { try $0.optional("name")?.value ?? .null }
        #expect(names.count == 2 && names.first != .null && names.last == .null, "\(found.value)")
        #expect(program.finish().end == .exited(0))
    }

    @Test("ledger.cards lists the cards of the ledger")
    func ledgerCards() throws {
        let data = try TemporaryFolder()
        _ = try Service.run(["history", "--keep", "-r", "virtual:\(Self.fixture(Self.suica))"], data: data)
        let program = try RPCProgram(environment: ["XDG_DATA_HOME": data.path])
        let printed = try Service.run(["ledger", "cards", "--json"], data: data).output
        #expect(try program.result("ledger.cards") == JSONValue(parsing: Array(printed.utf8)))
        #expect(program.finish().end == .exited(0))
    }

    /// Cards, and what the hint of `card.balance` names for them.
    @Test(
        "The hint about a wrong card names a method that there is",
        arguments: [(classic, "classic.info"), (tag, "tag.info"), ("felica/lite-s-issued.json", "lite.info")]
            + IdentityReport.kinds.map { document -> (String, String) in
                let kind = document.kind.rawValue
                return (String((CommandRow.all[kind]?.card ?? "").dropFirst("Fixtures/".count)), "card.\(kind)")
            })
    func hintsNameMethods(card: String, method: String) throws {
        let program = try RPCProgram(["-r", "virtual:\(Self.fixture(card))"])
        let methods = try JSONCursor(program.result("initialize")).required("methods").elements().map { try $0.text() }
        #expect(methods.contains(method))
        let hint = try program.error("card.balance").required("data").required("hint").text()
        #expect(hint.contains(method), "\(hint)")
        #expect(program.finish().end == .exited(0))
    }

    @Test("Messages name parameters and methods as the caller does", arguments: ["", "python"])
    func wordsOfTheCaller(_ caller: String) throws {
        let program = try RPCProgram(environment: ["KAZASU_CALLER": caller])
        func reader(_ card: String) -> JSONValue { .string("virtual:" + Self.fixture(card)) }
        let wrong: [(String, JSONValue)] = [
            ("card.balance", ["reader": "nowhere", "timeout": 0]), ("card.balance", ["reader": reader(Self.tag)]),
            ("card.balance", ["reader": reader("iso7816/license/sample.json")]),
            ("card.license", ["reader": reader(Self.suica), "pin1From": "1234"]),
            ("card.license", ["reader": reader(Self.suica), "pin2From": "env:X"]),
            ("card.license", ["reader": reader(Self.suica), "free": true, "pin1From": "env:X"]),
            ("tag.write", ["reader": reader(Self.tag), "text": "x"]), ("tag.write", ["yes": true]),
            ("tag.write", ["text": "x", "empty": true]), ("tag.write", ["title": "x", "text": "x"]),
            ("tag.write", ["reader": reader(Self.tag), "page": "2", "data": "00000000", "yes": true]),
            ("card.history", ["since": "yesterday"]), ("card.history", ["since": "2020-01-02", "until": "2020-01-01"]),
            ("card.history", ["limit": -3]), ("ledger.list", ["limit": -3]), ("card.history", ["ledger": "/nowhere"]),
            ("card.history", ["stations": ["none", "x"]]),
            ("card.read", ["reader": reader(Self.suica), "service": "0048"]), ("card.poll", ["system": "xyz"]),
            ("card.poll", ["system": "FE00", "technology": "a"]),
            ("card.apdu", ["commands": ["00"], "answerTimeout": -1]),
            ("card.apdu", ["reader": reader("iso7816/license/sample.json"), "commands": ["00200081PIN"]]),
            ("lite.verify", ["reader": reader("felica/lite-s.json")]), ("taps.subscribe", ["reader": "nowhere"]),
            ("taps.subscribe", ["onlyKnown": true]), ("taps.subscribe", ["wildcard": true]),
            ("card.balance", ["reader": reader("iso7816/residence/second.json")]),
            ("card.balance", ["reader": reader("iso7816/passport/card.json")]),
            ("card.balance", ["reader": reader(Self.classic)]), ("classic.info", ["reader": reader(Self.tag)]),
            ("classic.dump", ["reader": reader(Self.classic)]),
            ("standard.verify", ["reader": reader(Self.standard)]), ("standard.info", ["retry": true]),
            (
                "standard.verify",
                ["reader": reader(Self.suica), "keys": .string(Self.standardKeys), "system": "0003"]
            ),
            ("standard.info", ["reader": reader("felica/lite-s.json")]),
            ("classic.read", ["reader": reader(Self.classic), "blocks": "4", "keyFrom": "secret"]),
            ("classic.read", ["reader": reader(Self.classic), "blocks": "99", "keys": .string(Self.classicKeys)]),
            ("residence.check", ["reader": reader("iso7816/residence/second.json"), "numberFrom": "env:X"]),
            ("card.residence", ["reader": reader("iso7816/residence/second.json"), "numberFrom": "AA12345678BB"]),
            ("card.passport", ["reader": reader(Self.suica), "mrzFrom": .string("file:" + Self.zone)]),
            ("card.passport", ["reader": reader("iso7816/passport/card.json"), "mrzFrom": "env:NOT_SET"]),
            ("tag.verifyUrl", ["url": .string(Self.sun), "keyFrom": .string("file:" + Self.sunKey), "urlPrefix": "x"]),
            ("tag.verify", ["reader": reader(Self.suica)]), ("decode", ["text": "{}"]), ("decode", ["text": ""]),
            ("passport.files", ["text": "{}"]),
            ("passport.files", ["text": "{}", "mrzFrom": "SP1234567,800405,360614"]),
            ("ledger.list", ["card": "nobody"]),
        ]
        for (method, params) in wrong {
            let data = try program.error(method, params).required("data")
            let text = try data.required("message").text() + " " + (try data.optional("hint")?.text() ?? "")
            #expect(!text.contains("--") || text.contains("rpc --describe"), "\(method) \(params.compactText): \(text)")
            #expect(
                !text.contains("kazasu ") || text.contains("kazasu rpc --describe"),
                "\(method) \(params.compactText): \(text)")
        }
        let confirm = try program.error("tag.write", ["reader": reader(Self.tag), "text": "x"]).required("data")
        #expect(
            try confirm.required("hint").text()
                == "to overwrite it, add confirm=NUMBER with the tag's number from "
                + (caller.isEmpty ? "tag.info" : "kazasu.tag_info()"))
        #expect(program.finish().end == .exited(0))
    }

    @Test("Wrong wishes for taps are errors")
    func wrongSubscriptions() throws {
        let program = try RPCProgram()
        for params in [
            ["read": "everything"], ["raed": "id"], ["read": 1], ["onlyKnown": true], ["wildcard": true],
            ["only": ["x": "Ada"]], ["only": ["0101031234567890": 1]], ["only": "names"], ["only": 1],
            ["debounce": -1], ["debounce": "1"], ["requireMac": "secret"], ["idKey": "secret"], ["phones": "yes"],
            ["requireMac": "env:NOT_SET"], ["requireMac": "file:/x", "read": "balance"], ["idKey": "file:/nowhere"],
        ] as [JSONValue] {
            #expect(try program.error("taps.subscribe", params).required("code").integer(in: -40_000...0) == -32_602)
        }
        let unknown = try program.error("taps.subscribe", ["reader": "toaster"])
        #expect(try unknown.required("data").required("reason").text() == "unknownReader")
        #expect(program.finish().end == .exited(0))
    }

    // MARK: Requests

    @Test("Wrong parameters are errors and name the nearest one")
    func wrongParameters() throws {
        let program = try RPCProgram(["-r", "virtual:\(Self.fixture(Self.suica))"])
        let wrong: [(String, JSONValue, String)] = [
            ("card.poll", ["sytem": "0003"], "sytem"), ("card.poll", ["system": "xyz"], "system"),
            ("card.poll", ["system": [["0003"]]], "system"), ("card.balance", ["all": "yes"], "all"),
            ("card.balance", ["timeout": -1], "timeout"), ("card.balance", ["timeout": "later"], "timeout"),
            ("card.balance", ["card": "-r"], "card"), ("card.read", [:], "service"),
            ("card.read", ["service": ["--help"]], "--help"), ("card.apdu", ["commands": ["-"]], "APDU"),
            ("card.apdu", ["commands": [.string(Self.fixture(Self.suica))]], "APDU"),
            ("card.dump", ["output": "file"], "output"), ("card.dump", ["trace": "file"], "trace"),
            ("card.balance", ["json": true], "json"), ("card.balance", ["reader": [1]], "reader"),
            ("tag.write", ["mime": ["text/plain=@/etc/hostname"]], "mime"),
            ("tag.write", ["text": "a", "confirm": "x"], "confirm"),
            ("decode", ["text": "a", "base64": "YQ=="], "base64"), ("decode", ["base64": "!"], "base64"),
            ("ledger.list", ["month": "November"], "month"), ("card.poll", [1], ""),
        ]
        for (method, params, word) in wrong {
            let error = try program.error(method, params)
            #expect(try error.required("code").integer(in: -40_000...0) == -32_602, "\(method) \(params)")
            if !word.isEmpty {
                #expect(try error.required("message").text().contains(word), "\(method) \(params): \(error.value)")
                #expect(try error.required("data").required("status").integer(in: 0...255) == 64)
            }
        }
        let near = try program.error("card.poll", ["sytem": "0003"])
        #expect(try near.required("data").required("hint").text().contains("system"))
        let value = try program.error("ledger.sum", ["by": "mont"])
        #expect(try value.required("data").required("hint").text() == "did you mean 'month'?")
        let other = try program.error("tag.write", ["page": "8", "data": "0", "yes": true])
        #expect(try other.required("data").required("hint").text().contains("'kazasu rpc --describe'"))
        #expect(program.finish().end == .exited(0))
    }

    /// The examples of the specification that need no methods of their own, and other lines that are not requests.
    static let invalid: [(String, String)] = [
        (#"{"jsonrpc": "2.0", "method": "foobar, "params": "bar", "baz]"#, "-32700"),
        (#"{"jsonrpc": "2.0", "method": 1, "params": "bar"}"#, "-32600"),
        (#"[{"jsonrpc": "2.0", "method": "sum", "params": [1,2,4], "id": "1"},{"jsonrpc": "2.0", "method"]"#, "-32700"),
        ("[]", "-32600"), ("[1]", "-32600"), ("[1,2,3]", "-32600,-32600,-32600"),
        (#"{"jsonrpc": "2.0", "method": "foobar", "id": "1"}"#, "-32601"),
        (#"{"jsonrpc": "1.0", "method": "readers.list", "id": "1"}"#, "-32600"),
        (#"{"method": "readers.list", "id": "1"}"#, "-32600"), ("nonsense", "-32700"), ("\u{0}", "-32700"),
    ]

    @Test("Lines that are not requests are answered, and it goes on", arguments: invalid)
    func invalidMessages(line: String, codes: String) throws {
        let program = try RPCProgram()
        program.write(line: line)
        let answer = try program.value()
        let answers: [JSONValue] = if case .array(let all) = answer { all } else { [answer] }
        let found = try answers.map { try JSONCursor($0).required("error").required("code").integer(in: -40_000...0) }
        #expect(found.map(String.init).joined(separator: ",") == codes)
        #expect(try program.result("readers.list") != .null)
        #expect(program.finish().end == .exited(0))
    }

    @Test("Batches are answered together; notifications are not answered")
    func batch() throws {
        let program = try RPCProgram(["-r", "virtual:\(Self.fixture(Self.suica))"])
        program.write(
            line: #"[{"jsonrpc":"2.0","method":"card.balance","id":"1"},{"jsonrpc":"2.0","method":"readers.list"},"#
                + #"{"foo":"boo"},{"jsonrpc":"2.0","method":"foo.get","params":{"name":"myself"},"id":"5"},"#
                + #"{"jsonrpc":"2.0","method":"card.poll","id":"9"}]"#)
        guard case .array(let answers) = try program.value() else {
            Issue.record("no batch")
            return
        }
        let ids = Set(try answers.map { try JSONCursor($0).object()["id"]?.compactText })
        #expect(ids == [#""1""#, "null", #""5""#, #""9""#])
        program.write(line: #"[{"jsonrpc":"2.0","method":"card.poll"},{"jsonrpc":"2.0","method":"nope"}]"#)
        #expect(try program.result("card.poll") != .null)
        #expect(program.finish().end == .exited(0))
    }

    @Test("A line over 8 MiB, one that is not UTF-8 and an empty one")
    func longLines() throws {
        let program = try RPCProgram()
        program.write([UInt8](repeating: UInt8(ascii: "["), count: (8 << 20) + 1) + [0x0A])
        #expect(try program.code() == -32_700)
        program.write(Array(#"{"jsonrpc":"2.0","id":1,"method":""#.utf8) + [0xFF, 0xFE] + Array("\"}\n".utf8))
        #expect(try program.code() == -32_700)
        program.write(Array("\n \r\n".utf8))
        #expect(try program.result("readers.list") != .null)
        #expect(program.finish().end == .exited(0))
    }

    @Test("Requests on one reader are answered in order, those on another meanwhile")
    func order() throws {
        let empty = "virtual:\(Self.fixture("felica/slow-card.json"))"
        let program = try RPCProgram(["-r", "gate=virtual:\(Self.fixture(Self.suica))", "-r", "door=\(empty)"])
        let ids = (0..<20).map { _ in program.send("card.balance", ["reader": "gate"]) }
        var answered: [JSONValue] = []
        while answered.count < ids.count {
            let message = try program.message()
            if let id = message["id"] { answered.append(id) }
        }
        #expect(answered == ids)
        // One reader waits for a card without end; the other one is not held up.
        let waiting = program.send("card.read", ["reader": "door", "timeout": "forever", "service": "090F"])
        #expect(try program.result("card.balance", ["reader": "gate"]) != .null)
        program.notify("$/cancel", ["id": waiting])
        _ = try program.response(to: waiting)
        #expect(program.finish().end == .exited(0))
    }

    @Test("A cancelled request is answered as such, and only that one")
    func cancellation() throws {
        let folder = try TemporaryFolder()
        let nothing = try folder.write(
            Array(#"{"schema":"kazasu.virtual/1","cards":[]}"#.utf8), as: "nothing.json")
        let program = try RPCProgram(["-r", "virtual:\(try Service.emptyField(in: folder) ?? nothing)"])
        let first = program.send("card.balance", ["timeout": "forever"])
        let second = program.send("card.poll", ["timeout": "forever"])
        program.notify("$/cancel", ["id": first])
        let answer = JSONCursor(.object(try program.response(to: first)))
        #expect(try answer.required("error").required("code").integer(in: -40_000...0) == -32_800)
        program.notify("$/cancel", ["id": second])
        #expect(try program.response(to: second)["error"] != nil)
        let none = try program.error("card.poll", ["timeout": 0])
        #expect(try none.required("code").integer(in: -40_000...0) == -32_075)
        #expect(program.finish().end == .exited(0))
    }

    // MARK: PINs

    /// Each request has the reader for itself, so that no other one falls between a key and its proof.
    @Test("Keys are changed while taps are reported and other requests wait for the same reader")
    func keysBesideOthers() throws {
        let folder = try TemporaryFolder()
        let program = try RPCProgram(["-r", "gate=virtual:\(Self.fixture("virtual/ntag424-factory.json"))"])
        #expect(try program.result("taps.subscribe", ["read": "balance"]) == .null)
        let before = program.send("tag.info")
        let setup = program.send(
            "tag.provision",
            [
                "plan": .string(Self.tagPlan), "newKeys": .string(Self.tagKeys), "yes": true,
                "journal": .string("\(folder.path)/journal"),
            ])
        let (read, dump) = (program.send("tag.read"), program.send("card.dump"))
        #expect(try program.response(to: before)["result"] != nil)
        let answer = JSONCursor(.object(try program.response(to: setup)))
        #expect(try answer.required("result").required("verified").bool())
        let message = try program.response(to: read)["result"]?.compactText ?? ""
        #expect(message.contains("kazasu.example"), "\(message)")
        // Whether it can dump such a tag does not matter here.
        #expect(try program.response(to: dump)["id"] == dump)
        #expect(program.finish().end == .exited(0))
    }

    @Test("A tag is overwritten only if it is the confirmed one")
    func confirmation() throws {
        let program = try RPCProgram(["-r", "virtual:\(Self.fixture(Self.tag))"])
        let info = JSONCursor(try program.result("tag.info"))
        let uid = try info.required("card").required("uid").text()
        let wrong = try program.error("tag.write", ["text": "a", "confirm": "04A1B2C3D4E5F6"])
        #expect(try wrong.required("code").integer(in: -40_000...0) == -32_076)
        let unasked = try program.error("tag.write", ["text": "a"])
        #expect(try unasked.required("data").required("reason").text() == "confirmationNeeded")
        _ = try program.result("tag.write", ["text": "a", "confirm": .string(uid.uppercased())])
        let message = JSONCursor(try program.result("tag.read"))
        #expect(try message.required("records").elements().map { try $0.required("text").text() } == ["a"])
        #expect(program.finish().end == .exited(0))
    }

    @Test("Only the confirmed blank card is issued, and then its keys are changed")
    func issuance() throws {
        let folder = try TemporaryFolder()
        let program = try RPCProgram(
            ["-r", "virtual:\(Self.fixture("felica/standard-blank.json"))"],
            environment: ["XDG_STATE_HOME": folder.path])
        let (seller, issued) = (
            Self.fixture("provision/standard-seller-keys.txt"), Self.fixture("provision/standard-issued-keys.txt")
        )
        func params(_ more: [(String, JSONValue)]) -> JSONValue {
            let common: [(String, JSONValue)] = [
                ("keys", [.string(seller)]), ("newKeys", [.string(issued)]),
                ("profile", .string(Self.fixture("provision/standard-profile.json"))),
                ("journal", .string("\(folder.path)/journal")),
            ]
            return .object(JSONObject(common + more))
        }
        let unasked = try program.error("standard.issue", params([]))
        #expect(try unasked.required("data").required("reason").text() == "confirmationNeeded")
        let other = try program.error("standard.issue", params([("confirm", "0102030405060708")]))
        #expect(try other.required("code").integer(in: -40_000...0) == -32_076)
        let poll = JSONCursor(try program.result("card.poll"))
        let idm = try poll.required("card").required("idm").text()
        let done = JSONCursor(try program.result("standard.issue", params([("confirm", .string(idm))])))
        #expect(try done.required("issued").bool() && done.required("nodes").elements().count == 6)
        let text = String(decoding: try TestFiles.read(issued), as: UTF8.self)
        let next = try folder.write(
            Array(text.replacing("1122334455667788 0001", with: "99AABBCCDDEEFF00 0002").utf8), as: "next.txt")
        chmod(next, 0o600)
        let second = JSONValue.string("\(folder.path)/second")
        let change: JSONValue = [
            "keys": [.string(issued)], "newKeys": [.string(next)], "journal": second, "confirm": .string(idm),
        ]
        let changed = JSONCursor(try program.result("standard.keys", change))
        #expect(try changed.required("changed").bool() && changed.required("keys").elements().count == 1)
        let verified = JSONCursor(try program.result("standard.verify", ["keys": [.string(next)], "system": "A0B1"]))
        #expect(try verified.required("genuine").bool())
        #expect(program.finish().end == .exited(0))
    }

    @Test("A PIN is named, never told, and can be used again", arguments: ["env:SECRET", "fd:5", "file"])
    func pins(source: String) throws {
        let folder = try TemporaryFolder()
        let secrets = ["1234", "5678"]
        let first = try folder.write(Array("1234\n".utf8), as: "pin1")
        let second = try folder.write(Array("5678\n".utf8), as: "pin2")
        let sources: [String] =
            switch source {
            case "env:SECRET": ["env:SECRET", "env:SECRET2"]
            case "fd:5": ["fd:5", "fd:6"]
            default: ["file:\(first)", "file:\(second)"]
            }
        let program = try RPCProgram(
            ["-v", "-r", "virtual:\(Self.fixture("iso7816/license/sample.json"))"],
            environment: ["SECRET": "1234", "SECRET2": "5678"], setup: "5< '\(first)' 6< '\(second)'")
        var texts: [String] = []
        for _ in 0..<2 {
            let license = try program.result(
                "card.license", ["pin1From": .string(sources[0]), "pin2From": .string(sources[1])])
            #expect(try JSONCursor(license).optional("name") != nil, "\(license.compactText)")
            texts.append(license.compactText)
        }
        for (method, params) in [
            ("card.license", ["pin1From": "1234"]), ("card.mynumber", ["pinFrom": "fd:0"]),
            ("card.mynumber", ["pinFrom": "fd:1"]), ("card.license", ["pin1From": "fd:2"]),
            ("card.license", ["pin1": "1234"]),
            ("card.apdu", ["commands": ["002000810x1234"]]), ("card.apdu", ["type": "1234", "commands": "00"]),
            ("card.mynumber", ["pinFrom": "1234"]),
        ] as [(String, JSONValue)] {
            let refused = try program.error(method, params)
            #expect(try refused.required("code").integer(in: -40_000...0) == -32_602)
            #expect(!refused.value.compactText.contains("1234"), "\(refused.value.compactText)")
            texts.append(refused.value.compactText)
        }
        let end = program.finish()
        #expect(end.end == .exited(0))
        texts += [end.output, end.errors]
        for text in texts {
            for secret in secrets { #expect(!text.contains("\"\(secret)\"") && !text.contains("PIN \(secret)")) }
        }
    }

    // MARK: Redaction

    @Test("--redact masks results, errors and taps")
    func redaction() throws {
        let program = try RPCProgram(["--redact", "-r", "virtual:\(Self.fixture(Self.suica))"])
        var texts = [try program.result("card.poll").compactText, try program.result("card.dump").compactText]
        _ = try program.result("taps.subscribe", ["read": "history"])
        while true {
            let tap = JSONCursor(try program.notification("tap"))
            texts.append(tap.value.compactText)
            if try tap.required("type").text() == "on" { break }
        }
        texts.append(try program.error("card.license").value.compactText)
        texts.append(program.finish().output)
        for text in texts { #expect(!text.lowercased().contains("31234567890")) }
    }

    // MARK: Ends

    @Test("Requests are answered after the end of input")
    func endOfInput() throws {
        let program = try RPCProgram(["-r", "virtual:\(Self.fixture(Self.suica))"])
        let id = program.send("card.scan")
        program.write(Array(#"{"jsonrpc":"2.0","id":"last","method":"card.balance"}"#.utf8))
        program.closeInput()
        #expect(try program.response(to: id)["result"] != nil)
        #expect(try program.response(to: "last")["result"] != nil, "the last line has no end")
        #expect(program.finish().end == .exited(0))
    }

    @Test("A signal ends it at once, with 0", arguments: [SIGINT, SIGTERM])
    func signals(_ signal: Int32) throws {
        let folder = try TemporaryFolder()
        let program = try RPCProgram(["-r", "virtual:\(try #require(try Service.emptyField(in: folder)))"])
        program.send("card.balance", ["timeout": "forever"])
        _ = try program.result("taps.subscribe")
        program.signal(signal)
        // Its input is still open.
        let end = program.end()
        #expect(end.end == .exited(0), "\(end.errors)")
    }

    @Test("A client that reads no more ends it")
    func brokenPipe() throws {
        let program = try RPCProgram(["-r", "virtual:\(Self.fixture(Self.suica))"])
        program.closeOutput()
        for _ in 0..<10 { program.send("readers.list") }
        #expect(program.finish().end != .timedOut)
    }

    /// A program that waits for a card, and its client, which is gone.
    @Test(
        "A client that was killed while its request waits for a card ends it, and frees the reader",
        arguments: [true, false])
    func killedClient(hasTaps: Bool) throws {
        let folder = try TemporaryFolder()
        let program = try RPCProgram(["-r", "virtual:\(try #require(try Service.emptyField(in: folder)))"])
        if hasTaps { _ = try program.result("taps.subscribe") }
        program.send("card.balance", ["timeout": "forever"])
        // Answered after the request before it was taken.
        _ = try program.result("readers.list")
        program.closeOutput()
        let end = program.finish()
        // As if by SIGPIPE, if it tried to answer.
        #expect([.exited(0), .exited(128 + SIGPIPE)].contains(end.end), "\(end.errors)")
        #expect(end.errors.isEmpty)
    }

    // MARK: Documents

    @Test("Every reference in the description leads somewhere", arguments: ["en", "ja"])
    func description(language: String) throws {
        let text = try Service.run("rpc", "--describe", "--lang", language).output
        let document = try JSONValue(parsing: Array(text.utf8))
        var count = 0
        try References.each(in: document) { reference in
            count += 1
            var place = JSONCursor(document)
            for part in reference.dropFirst(2).split(separator: "/") { place = try place.required(String(part)) }
        }
        #expect(count > 100)
    }

    /// The table of methods in the pages is made by the program. `KAZASU_RECORD=1` writes it.
    @Test("The pages list the methods", arguments: [("rpc.md", "en"), ("rpc.ja.md", "ja")])
    func pages(_ page: String, _ language: String) throws {
        let text = try Service.run("rpc", "--describe", "--lang", language).output
        let described = JSONCursor(try JSONValue(parsing: Array(text.utf8)))
        var table =
            language == "en"
            ? "| method | params | result | does |\n| --- | --- | --- | --- |\n"
            : "| メソッド | params | result | 内容 |\n| --- | --- | --- | --- |\n"
        for method in try described.required("methods").elements() {
            let params = try method.required("params").elements().map { parameter in
                let name = try parameter.required("name").text()
                return "`\(name)`" + (try parameter.required("required").bool() ? "\\*" : "")
            }
            let schema = try method.required("result").required("schema")
            let results = try (schema.optional("oneOf")?.elements() ?? [schema]).compactMap { try $0.optional("$ref") }
                .map { "`\(try $0.text().split(separator: "/").last ?? "")`" }
            let cells = [
                "`\(try method.required("name").text())`", params.joined(separator: ", "),
                results.joined(separator: ", "),
                try method.required("summary").text(),
            ]
            table += "| \(cells.joined(separator: " | ")) |\n"
        }
        let path = "\(TestFiles.root)/Docs/\(page)"
        let old = String(decoding: try TestFiles.read(path), as: UTF8.self)
        let start = try #require(old.firstRange(of: "<!-- methods -->\n")).upperBound
        let end = try #require(old.firstRange(of: "<!-- end -->")).lowerBound
        guard old[start..<end] != table else { return }
        guard getenv("KAZASU_RECORD") != nil else {
            Issue.record("\(page) lists other methods: record it with KAZASU_RECORD=1")
            return
        }
        let new = old[..<start] + table + old[end...]
        let file = try #require(fopen(path, "w"))
        defer { fclose(file) }
        fputs(String(new), file)
    }
}

extension Service {
    /// A virtual card file without a card; `nil` if there is no such thing.
    fileprivate static func emptyField(in folder: TemporaryFolder) throws -> String? {
        let text = String(decoding: try TestFiles.read("Fixtures/felica/slow-card.json"), as: UTF8.self)
        // The card needs a minute to start, which no test waits for.
        let late = text.replacing("\"startup\": 20", with: "\"startup\": 60000")
        return try folder.write(Array(late.utf8), as: "late.json")
    }

    fileprivate static func base64(_ text: String) throws -> String {
        let folder = try TemporaryFolder()
        let path = try folder.write(Array(text.utf8), as: "plain")
        return try ChildProcess.run("/usr/bin/base64", ["-w", "0", path]).output
    }
}

extension RPCProgram {
    /// The next line.
    fileprivate func value() throws -> JSONValue { try nextValue() }

    /// The code of the error that the next line is.
    fileprivate func code() throws -> Int {
        try JSONCursor(nextValue()).required("error").required("code").integer(in: -40_000...0)
    }
}
