// SPDX-License-Identifier: Apache-2.0

import ByteCodec
import CardDecoders
import CardModel
import TestSupport
import Testing

/// What `--redact` must hide is what the decoders of each fixture mark: the values of personal fields, and the bytes that are
/// declared for them.
@Suite("Numbers and names of cards under --redact", .waits)
struct RedactedNumberTests {
    /// A card of `Fixtures/cards` that tells whose it is.
    struct Example: CustomTestStringConvertible, Sendable {
        let card: String
        /// Texts that no output may hold.
        let values: [String]
        /// Bytes that no output may hold, as lower-case hexadecimal digits.
        let bytes: [String]
        var testDescription: String { card }

        init?(_ card: String) {
            guard let text = try? TestFiles.read(Card.file(card)), let dump = try? CardDump(parsing: text) else {
                return nil
            }
            self.card = card
            let decoders = DecoderRegistry.standard.recognizing(dump)
            let fields = decoders.flatMap { ((try? $0.decode(dump))?.fields ?? []).filter(\.isPersonal) }
            // Some days are those of records, too, which are shown.
            let days = decoders.flatMap { (try? $0.decode(dump))?.history ?? [] }.map { $0.date?.description }
            values = fields.map(\.value).filter { value in
                value.count > 3 && value.contains { $0 != "0" } && !days.contains(value)
            }
            var bytes: [String] = []
            for system in dump.systems {
                for service in system.services {
                    let hidden = service.blocks.compactMap { number, block in
                        Example.hidden(
                            block,
                            PersonalData.standard.masked(block, at: number, of: service.code, in: system.systemCode))
                    }
                    bytes += hidden
                }
            }
            self.bytes = bytes
            if values.isEmpty, bytes.isEmpty { return nil }
        }

        /// The bytes from the first to the last that masking changes; fewer than four would stand anywhere.
        private static func hidden(_ block: Block, _ masked: Block) -> String? {
            let changed = (0..<16).filter { block[$0] != masked[$0] }
            guard let first = changed.first, let last = changed.last, last - first > 2 else { return nil }
            return Hex.encode(block.bytes[first...last])
        }

        /// The part of it that an output contains.
        func leaks(_ output: String) -> [String] {
            let packed = output.lowercased().filter { $0 != " " && $0 != ":" }
            return values.filter { output.contains($0) } + bytes.filter { packed.contains($0) }
        }
    }

    static let examples = TestFiles.names(in: "Fixtures/cards").compactMap(Example.init)

    @Test("The cards with numbers and names are among the examples")
    func known() {
        let names = Set(Self.examples.map(\.card))
        #expect(
            names.isSuperset(of: [
                "coop", "ecomyca", "edy", "fcf", "felica-lite-s", "gifu-university", "hcmc", "kmt", "mrtj", "nanaco",
                "quicpay",
                "ryuto", "waon",
            ]))
    }

    /// What commands print is looked at in `RedactionTests`.
    @Test("They are not in a trace", arguments: examples)
    func trace(_ example: Example) throws {
        let folder = try TemporaryFolder()
        let trace = "\(folder.path)/trace"
        let reader = ["-t", "0", "-r", Card.fixture(example.card)]
        let plain = try Kazasu.run(["dump", "--json"] + reader)
        #expect(!example.leaks(plain.output).isEmpty, "the example is right")
        let dump = try Kazasu.run(["dump", "--json", "--redact", "--trace", trace] + reader)
        #expect(dump.hasEnded(0))
        #expect(example.leaks(try folder.text("trace")).isEmpty)
    }

    @Test("Redaction removes notes of other tools from dumps and UIDs from reports")
    func otherTools() throws {
        let file = "\(TestFiles.root)/Fixtures/formats/proxmark-memory/mfu.json"
        let dump = try #require(
            try CardDump(parsing: Array(try Kazasu.run("convert", file, "--to", "json").output.utf8)).card.uid)
        let uid = Hex.encode(dump)
        for command in [["convert", "--to", "json"], ["convert", "--to", "hex"], ["decode"], ["decode", "--json"]] {
            let plain = try Kazasu.run(command + [file]).output.lowercased().filter { $0 != " " }
            #expect(plain.contains(uid), "\(command)")
            let masked = try Kazasu.run(command + ["--redact", file]).output.lowercased().filter { $0 != " " }
            #expect(!masked.contains(uid), "\(command)")
        }
    }

    /// What the file holds is not known, so it may be a name.
    @Test("Files that no decoder knows are masked", arguments: ["\"aid\": \"a000000001020304\", ", ""])
    func unknownFiles(application: String) throws {
        let document = """
            {"schema": "kazasu.dump/1", "card": {"technology": "typeB", "pupi": "01020304"}, "iso7816": {"applications": [
              {\(application)"files": [{"id": "0001", "state": "read", "data": "59414d414441"}]}]}}
            """
        let folder = try TemporaryFolder()
        let file = try folder.write(document.utf8, as: "card.json")
        for format in ["json", "hex"] {
            let plain = try Kazasu.run("convert", file, "--to", format)
            #expect(plain.hasEnded(0) && plain.output.lowercased().contains("59414d414441"), "\(plain.errors)")
            let masked = try Kazasu.run("convert", "--redact", file, "--to", format)
            #expect(masked.hasEnded(0) && !masked.output.lowercased().contains("59414d414441"), "\(masked.errors)")
            #expect(masked.output.contains("000000000000"))
        }
    }

    /// The number is in block 0 of service 110B.
    @Test("Raw packets: as in a trace, in what is sent and in what is answered", arguments: [[], ["--json"]])
    func rawPackets(options: [String]) throws {
        let read = "06IDM010B11018000"
        let card = Card.fixture("edy")
        func run(_ packet: String, _ more: String...) throws -> String {
            let result = try Kazasu.run(
                ["felica", "--system", "FE00", packet, "-r", card, "--answer-timeout", "50"] + options + more)
            return (result.output + result.errors).lowercased()
        }
        #expect(try run(read).contains("1234567890123456"), "the example is right")
        let masked = try run(read, "--redact")
        #expect(!masked.contains("1234567890123456"))
        #expect(masked.contains("00000000000000000000000000000000") && !masked.contains("0312abcd0042"))
        // What is written is its user's, and of other commands nobody knows what they carry.
        for packet in ["08IDM010B110180005A5A5A5A5A5A5A5A5A5A5A5A5A5A5A5A", "D0IDM5A5A5A5A"] {
            #expect(try !run(packet, "--redact").contains("5a5a"))
        }
    }

    @Test("Writing, in a trace")
    func tracedWrite() throws {
        let folder = try TemporaryFolder()
        let trace = "\(folder.path)/trace"
        let packet = "08IDM010B110180005A5A5A5A5A5A5A5A5A5A5A5A5A5A5A5A"
        _ = try Kazasu.run(
            "felica", packet, "--system", "FE00", "--redact", "--trace", trace, "-r", Card.fixture("edy"),
            "--answer-timeout", "50")
        #expect(try folder.text("trace").contains(#""tx":"2008011"#), "the command is there")
        #expect(try !folder.text("trace").contains("5a5a"))
    }
}
