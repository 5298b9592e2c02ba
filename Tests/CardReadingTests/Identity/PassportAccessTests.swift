// SPDX-License-Identifier: Apache-2.0

import ByteCodec
import CardCiphers
import CardCrypto
import CardDecoders
import CardModel
import CardReading
import CardVerification
import ISO7816
import ReaderCore
import TestSupport
import Testing
import VirtualReader

@Suite("Opening a passport, and telling a copy", .enabled(if: CryptoError.isLibraryThere, "needs libcrypto.so.3"))
struct PassportAccessTests {
    private static func zone(_ text: String = "SP1234567,800405,360614") throws -> PassportPassword {
        .zone(try #require(PassportKey(text)))
    }

    private static func number(_ text: String = "123456") throws -> PassportPassword {
        .accessNumber(try #require(CardAccessNumber(text)))
    }

    /// What was read, and what the checks say under the authority of these passports.
    struct Reading {
        var error: FileCardReadingError?
        var access: PassportAccess?
        var report: PassportReport
        var dump: CardDump
        var signature: CardSignature
        var chip: ChipCheck
    }

    private static func authorities() throws -> CertificateAuthorities {
        try CertificateAuthorities(files: [TestFiles.read("Fixtures/iso7816/passport/chip-authority.der")])
    }

    private static func read(
        _ card: FileCard, _ password: PassportPassword, session: ISO7816Session? = nil,
        authorities: CertificateAuthorities? = nil, allowsLastTry: Bool = false
    ) throws -> Reading {
        var reader = try PassportReader(session ?? card.session, card.identity)
        reader.unlock(password, allowsLastTry: allowsLastTry)
        let dump = reader.finish()
        var report = try #require(PassportDecoder.decode(dump))
        if reader.access != nil { report.evidence = reader.evidence }
        let authorities = try authorities ?? Self.authorities()
        let signature = try report.signature(of: dump, authorities: authorities)
        return Reading(
            error: reader.error, access: reader.access, report: report, dump: dump, signature: signature,
            chip: try report.chip(of: dump, signature: signature, authorities: authorities))
    }

    /// The entry of EF.CardAccess in `chip-pace.json`.
    private static let entry = "04007f00070202040202" + "020102" + "02010d"

    private static func entry(_ mapping: Int, _ cipher: Int, _ parameters: Int) -> String {
        "04007f000702020404".dropLast(2) + Hex.encode([UInt8(mapping), UInt8(cipher)]).lowercased() + "020102"
            + "0201" + Hex.encode([UInt8(parameters)]).lowercased()
    }

    /// Mapping, cipher and parameters: every mapping with every cipher, and with every group.
    static let ways: [(Int, Int, Int)] =
        (1...4).map { (2, $0, 13) } + (1...4).map { (4, $0, 12) } + (1...4).map { (1, $0, 0) }
        + (1...4).map { (3, $0, 0) } + [8, 9, 10, 11, 12, 14, 15, 16, 17, 18].map { (2, 4, $0) }
        + [8, 9, 11, 13, 14, 15, 16, 17, 18].map { (4, 2, $0) } + [(1, 2, 1), (1, 4, 2), (3, 3, 2)]

    @Test("Every mapping, cipher and group, by number and dates and by access number", arguments: ways)
    func protocols(_ mapping: Int, _ cipher: Int, _ parameters: Int) throws {
        let changes = [(Self.entry, Self.entry(mapping, cipher, parameters))]
        for password in [try Self.zone(), try Self.number()] {
            let card = try FileCard("passport/chip-pace.json", changes: changes, isExtended: true)
            var reader = try PassportReader(card.session, card.identity)
            reader.unlock(password)
            let access = try #require(reader.access, "\(String(describing: reader.error))")
            #expect(access.way == .pace && access.parameters == AgreementGroup.name(standard: parameters))
            // The session works: the first file is read.
            let dump = reader.finish()
            #expect(reader.error == nil && PassportDecoder.decode(dump)?.machineReadableZone?.number == "SP1234567")
        }
    }

    @Test("A secret that begins with zeros: curves keep them, and numbers start again before a password counts")
    func leadingZeros() throws {
        for (mapping, parameters, isExpected) in [(1, 0, true), (2, 8, false)] {
            var (isStartedAgain, round) = (false, 0)
            while !isStartedAgain, round < (isExpected ? 3000 : 300) {
                round += 1
                let card = try FileCard(
                    "passport/chip-pace.json", changes: [(Self.entry, Self.entry(mapping, 2, parameters))])
                var random = SeededGenerator(seed: UInt64(round))
                var reader = try PassportReader(card.session, card.identity) { count in
                    (0..<count).map { _ in UInt8.random(in: 0...0xFF, using: &random) }
                }
                reader.unlock(try Self.zone())
                #expect(reader.access != nil, "\(round): \(String(describing: reader.error))")
                let steps = card.spy.frames.filter { [0x22, 0x86].contains($0[1]) }.map { [$0[0], $0[1]] }
                isStartedAgain = steps.count > 5
                let first: [[UInt8]] = [[0x00, 0x22], [0x10, 0x86], [0x10, 0x86], [0x10, 0x86]]
                #expect(steps == (isStartedAgain ? first + first : first) + [[0x00, 0x86]])
            }
            #expect(isStartedAgain == isExpected)
        }
    }

    @Test("PACE, then chip and active authentication: the chip is not a copy, if the country signed its keys")
    func genuine() throws {
        let card = try FileCard("passport/chip-pace.json")
        let reading = try Self.read(card, try Self.zone())
        #expect(reading.error == nil && reading.access?.variant == "ECDH-GM-AES-128")
        #expect(reading.signature.state == .valid, "\(reading.signature)")
        #expect(reading.signature.list?.compared == [1, 2, 14, 15])
        #expect(reading.chip.state == .genuine && reading.chip.method == .chipAuthentication, "\(reading.chip)")
        #expect(reading.chip.variant == "ECDH-AES-128")
        // Nothing of the holder, and no number, went through the air in the clear.
        for text in ["SPECIMEN", "SP1234567", "800405"] {
            let clear = Array(text.utf8)
            for frame in card.spy.frames { #expect(!frame.indices.contains { frame[$0...].starts(with: clear) }) }
        }
        let unknown = try Self.read(
            FileCard("passport/chip-pace.json"), try Self.number(),
            authorities: CertificateAuthorities.none)
        #expect(unknown.chip.state == .unbound && unknown.access?.password == .can)
    }

    @Test("Chip-authentication mapping with the key of EF.CardSecurity")
    func mapping() throws {
        let reading = try Self.read(FileCard("passport/chip-mapping.json"), try Self.number())
        #expect(reading.error == nil && reading.access?.variant == "ECDH-CAM-AES-256", "\(reading.error as Any)")
        #expect(reading.chip.state == .genuine && reading.chip.method == .paceMapping, "\(reading.chip)")
        let unknown = try Self.read(
            FileCard("passport/chip-mapping.json"), try Self.number(), authorities: CertificateAuthorities.none)
        #expect(unknown.chip.state == .unbound)
        // EF.CardSecurity is not there: nothing to check it with.
        let card = try FileCard(
            "passport/chip-mapping.json",
            changes: [("\"011D\": {\n        \"data\": \"3082", "\"015D\": {\n        \"data\": \"3082")])
        #expect(try Self.read(card, try Self.number()).chip.state == .notChecked)
    }

    @Test("Active authentication with RSA, whose answer is longer than a short command asks for")
    func active() throws {
        let card = try FileCard("passport/chip-active.json", isExtended: true)
        let reading = try Self.read(card, try Self.zone())
        #expect(reading.error == nil && reading.access?.way == .bac && reading.access?.isFallback == false)
        #expect(reading.chip.state == .genuine && reading.chip.variant == "RSA-SHA-256", "\(reading.chip)")
        #expect(reading.chip.method == .activeAuthentication)
        // A reader that cannot carry it says so, which does not make the chip a copy.
        let short = try FileCard("passport/chip-active.json")
        let other = try Self.read(short, try Self.zone())
        #expect(other.chip.state == .notChecked && other.chip.why == .reader && other.error == nil, "\(other)")
    }

    /// What a copy has in place of a private key, and the file.
    private static func copy(_ path: String, keys: Int) throws -> FileCard {
        let text = String(decoding: try TestFiles.read("Fixtures/iso7816/\(path)"), as: UTF8.self)
        let found = text.matches(of: /"key": "([0-9a-f]+)"/).map { String($0.output.1) }
        #expect(found.count == keys)
        return try FileCard(
            path, changes: found.map { ("\"key\": \"\($0)", "\"key\": \"0" + String($0.dropFirst().reversed())) },
            isExtended: true)
    }

    @Test("A copy, which has the files and not the private keys")
    func copies() throws {
        for (path, keys) in [
            ("passport/chip-pace.json", 2), ("passport/chip-mapping.json", 1), ("passport/chip-active.json", 1),
        ] {
            let reading = try Self.read(try Self.copy(path, keys: keys), try Self.zone())
            #expect(reading.signature.state == .valid && reading.chip.state == .copied, "\(path): \(reading.chip)")
            #expect(!reading.chip.state.isSuccess(whenRequired: false))
        }
    }

    /// The verdict from saved files and evidence, as a document that was written and read again.
    private static func replay(_ reading: Reading) throws -> ChipCheck {
        var saved = SavedPassport()
        for application in reading.dump.applications {
            for file in application.files where file.state == .read { #expect(try saved.add(file.data)) }
        }
        let evidence = PassportEvidence(
            readAt: nil, access: reading.access, chip: try #require(reading.report.evidence))
        #expect(try saved.add(Array(evidence.json.prettyText.utf8)))
        let report = try #require(saved.report)
        let signature = try report.signature(of: saved.dump, authorities: authorities())
        #expect(signature == reading.signature)
        return try report.chip(of: saved.dump, signature: signature, authorities: authorities())
    }

    @Test("Kept evidence gives the same verdict without the chip, of the real one and of a copy")
    func replayed() throws {
        for (path, keys) in [("chip-pace", 2), ("chip-mapping", 1), ("chip-active", 1)] {
            let path = "passport/\(path).json"
            let real = try Self.read(FileCard(path, isExtended: true), try Self.zone())
            let again = try Self.replay(real)
            #expect(real.chip.state == .genuine && again.state == .genuine, "\(path): \(again)")
            // The signature comes first: it convinces others.
            let hasSigned = real.report.evidence?.active != nil
            #expect(again.method == (hasSigned ? .activeAuthentication : real.chip.method), "\(path): \(again)")
            let copy = try Self.read(try Self.copy(path, keys: keys), try Self.zone())
            #expect(try copy.chip.state == .copied && Self.replay(copy).state == .copied, "\(path)")
            // The evidence of another chip.
            var mixed = real
            mixed.report.evidence = copy.report.evidence
            #expect(try Self.replay(mixed).state == .copied, "\(path)")
        }
        let old = try Self.read(FileCard("passport/card.json"), try Self.zone())
        let nothing = try Self.replay(old)
        #expect(nothing.state == .notChecked && nothing.why == .offline)
    }

    @Test("A copy that leaves out a file with a key which the country signed")
    func hidden() throws {
        for (path, file) in [("chip-pace", "010F"), ("chip-active", "010F")] {
            var changes = [("\"\(file)\": {", "\"015F\": {")]
            // EF.COM is not signed: leaving it out there makes no difference.
            if path == "chip-active" { changes.append(("5c0361756f", "5c02617500")) }
            if path == "chip-pace" { changes.append(("\"010E\": {", "\"015E\": {")) }
            let reading = try Self.read(try FileCard("passport/\(path).json", changes: changes), try Self.zone())
            #expect(reading.chip.state == .hidden, "\(path): \(reading.chip)")
            #expect(reading.report.warnings.isEmpty && reading.error == nil, "\(reading.report.warnings)")
        }
        let none = try Self.read(FileCard("passport/card.json"), try Self.zone())
        #expect(none.chip.state == .notOffered && none.chip.state.isSuccess(whenRequired: false))
        #expect(!none.chip.state.isSuccess(whenRequired: true))
    }

    @Test("A key that the country did not sign proves nothing")
    func otherKey() throws {
        let text = String(decoding: try TestFiles.read("Fixtures/iso7816/passport/chip-active.json"), as: UTF8.self)
        let other = String(decoding: try TestFiles.read("Fixtures/iso7816/passport/chip-pace.json"), as: UTF8.self)
        // The copier puts his own key into DG15 and signs with it.
        let key = try #require(other.firstMatch(of: /"010F": \{\s*"shortID": 15,\s*"data": "([0-9a-f]+)"/)?.output.1)
        let old = try #require(text.firstMatch(of: /"010F": \{\s*"shortID": 15,\s*"data": "([0-9a-f]+)"/)?.output.1)
        let signer = try #require(other.firstMatch(of: /"signer": \{[^}]*\}/)?.output)
        let oldSigner = try #require(text.firstMatch(of: /"signer": \{[^}]*\}/)?.output)
        let card = try FileCard(
            "passport/chip-active.json",
            changes: [(String(old), String(key)), (String(oldSigner), String(signer))])
        let reading = try Self.read(card, try Self.zone())
        #expect(reading.chip.state == .unbound && reading.signature.state == .wrong, "\(reading.chip)")
    }

    // MARK: Refusals

    @Test("A wrong password is sent once, and BAC does not follow; an access number cannot open by BAC")
    func wrongPassword() throws {
        for password in [try Self.zone("SP1234568,800405,360614"), try Self.number("123457")] {
            let card = try FileCard("passport/chip-pace.json", changes: [("\"bac\": \"6985\",", "")])
            let reading = try Self.read(card, password)
            #expect(reading.error == .wrongPassportKey(nil) && reading.access == nil)
            #expect(card.spy.frames.count { $0[1] == 0x22 } == 1)
            #expect(!card.spy.frames.contains { [0x82, 0x84].contains($0[1]) })
            #expect(reading.report.withheld == PassportFile.always && reading.chip.state == .notChecked)
        }
        let old = try Self.read(FileCard("passport/card.json"), try Self.number())
        #expect(old.error == .noPACE)
    }

    @Test("A chip that counts: the tries left are told, and the last is not used unless that is allowed")
    func counted() throws {
        let changes = [("\"can\": \"123456\",", "\"can\": \"123456\", \"triesLeft\": 2,")]
        let card = try FileCard("passport/chip-pace.json", changes: changes)
        #expect(try Self.read(card, try Self.number("123457")).error == .wrongPassportKey(.count(1)))
        let frames = card.spy.frames.count
        #expect(try Self.read(card, try Self.number()).error == .lastTry)
        #expect(!card.spy.frames.dropFirst(frames).contains { $0[1] == 0x86 })
        #expect(try Self.read(card, try Self.number(), allowsLastTry: true).error == nil)
    }

    @Test("Where PACE is refused for another reason, BAC opens the passport; where both are, that is said")
    func fallback() throws {
        let refusal = (
            "\"schema\": \"kazasu.card/1\",",
            "\"schema\": \"kazasu.card/1\", \"virtual\": {\"statusWords\": {\"22\": \"6A80\"}},"
        )
        let card = try FileCard("passport/chip-pace.json", changes: [refusal, ("\"bac\": \"6985\",", "")])
        let reading = try Self.read(card, try Self.zone())
        #expect(reading.error == nil && reading.access?.way == .bac && reading.access?.isFallback == true)
        let both = try FileCard("passport/chip-pace.json", changes: [refusal])
        #expect(
            try Self.read(both, try Self.zone()).error
                == .secure(.card(.status(.manageSecurityEnvironment, 0x6A80))))
        let number = try FileCard("passport/chip-pace.json", changes: [refusal])
        #expect(
            try Self.read(number, try Self.number()).error
                == .secure(.card(.status(.manageSecurityEnvironment, 0x6A80))))
        // No known protocol: BAC, and where that is refused, PACE is what is missing.
        let unknown = [(Self.entry, Self.entry(9, 2, 13))]
        #expect(
            try Self.read(FileCard("passport/chip-pace.json", changes: unknown), try Self.zone()).error == .paceRequired
        )
        let free = try FileCard("passport/chip-pace.json", changes: unknown + [("\"bac\": \"6985\",", "")])
        #expect(try Self.read(free, try Self.zone()).access?.way == .bac)
        #expect(
            try Self.read(FileCard("passport/chip-pace.json", changes: unknown), try Self.number()).error == .noPACE)
    }

    @Test("A passport that asks for nothing is read plainly")
    func open() throws {
        let card = try FileCard(
            "passport/card.json",
            changes: [
                (
                    "\"read\": [\n            \"mrz\"\n          ],\n          \"encrypted\": true",
                    "\"read\": \"always\""
                ),
                (
                    "\"schema\": \"kazasu.card/1\",",
                    "\"schema\": \"kazasu.card/1\", \"virtual\": {\"statusWords\": {\"84\": \"6D00\"}},"
                ),
            ])
        let reading = try Self.read(card, try Self.zone())
        #expect(reading.error == nil && reading.access?.way == PassportAccess.Way.none, "\(reading.error as Any)")
        #expect(reading.report.machineReadableZone?.number == "SP1234567")
    }

    @Test("A length that the chip refuses, ending the session, costs a new authentication and not the file")
    func smallerSteps() throws {
        for path in ["passport/chip-pace.json", "passport/chip-active.json"] {
            let card = try FileCard(path)
            let reader = ShortReader(card.spy, longest: 112)
            let session = try card.session(reader)
            let reading = try Self.read(card, try Self.zone(), session: session)
            #expect(reading.error == nil && reading.report.photo != nil, "\(path): \(reading.error as Any)")
            #expect(reading.signature.state == .valid && reader.refused > 0)
        }
    }

    @Test(
        "A chip that leaves at any exchange gives what was read, and never counts as genuine",
        arguments: ["chip-pace", "chip-mapping", "chip-active"])
    func lost(_ name: String) throws {
        let path = "passport/\(name).json"
        let whole = try FileCard(path, isExtended: true)
        _ = try Self.read(whole, try Self.zone())
        for exchange in 0..<whole.spy.frames.count {
            let card = try FileCard(path, isExtended: true)
            let session = try card.session(LosingReader(card.spy, after: exchange))
            guard let reading = try? Self.read(card, try Self.zone(), session: session) else { continue }
            #expect(reading.error != nil, "exchange \(exchange)")
            if let evidence = reading.report.evidence?.chip { #expect(evidence == .notDone(.refused), "\(exchange)") }
            // The mapping is proved before the files are read, and a signature before the chip is asked for more.
            let proved: [ChipCheck.Method?] = [.activeAuthentication, name == "chip-mapping" ? .paceMapping : nil]
            #expect(reading.chip.state != .genuine || proved.contains(reading.chip.method), "exchange \(exchange)")
            #expect(reading.signature.state != .valid || exchange > 20, "exchange \(exchange)")
        }
    }

    @Test("A chip that answers otherwise when it is read again: what is valid is what was signed")
    func changingAnswers() throws {
        let open = [
            ("\"read\": [\n            \"mrz\"\n          ],\n          \"encrypted\": true", "\"read\": \"always\""),
            (
                "\"schema\": \"kazasu.card/1\",",
                "\"schema\": \"kazasu.card/1\", \"virtual\": {\"statusWords\": {\"84\": \"6D00\"}},"
            ),
        ]
        let authorities = try CertificateAuthorities(files: [TestFiles.read("Fixtures/iso7816/passport/authority.der")])
        func read(changing exchange: Int?) throws -> (Reading, Int) {
            let card = try FileCard("passport/card.json", changes: open)
            let session = try card.session(ChangingReader(card.spy, at: exchange))
            let reading = try Self.read(card, try Self.zone(), session: session, authorities: authorities)
            return (reading, card.spy.frames.count)
        }
        let (whole, count) = try read(changing: nil)
        #expect(whole.signature.state == .valid && count > 10)
        for exchange in 0..<count {
            guard let (reading, _) = try? read(changing: exchange) else { continue }
            let isSame = reading.report.machineReadableZone == whole.report.machineReadableZone
            #expect(
                reading.signature.state != .valid || isSame && reading.report.photo == whole.report.photo, "\(exchange)"
            )
        }
    }

    @Test("EF.CardAccess that does not end, has 64 KiB, or lists the same again and again")
    func hostileLists() throws {
        let entry = "30120" + "60a" + Self.entry
        let set = "31143012060a" + Self.entry
        let card = String(decoding: try TestFiles.read("Fixtures/iso7816/passport/chip-pace.json"), as: UTF8.self)
        #expect(card.contains(set))
        let many = String(repeating: entry, count: 3200)
        let unknown = String(repeating: "30080606" + "2a0304050607", count: 1500)
        for (name, list, opens) in [
            ("doubled", "3128" + entry + entry, true), ("64 KiB", "318300fa00" + many, false),
            ("cut", "3182ffff" + entry, false), ("unknown ones first", "31823a98" + unknown, false),
            ("endless", "3180" + entry, false), ("nothing", "3100", false), ("no set", "3014" + entry, false),
        ] {
            let session = try FileCard("passport/chip-pace.json", changes: [(set, list)])
            guard var reader = try? PassportReader(session.session, session.identity) else {
                #expect(!opens, "\(name)")
                continue
            }
            reader.unlock(try Self.zone())
            #expect((reader.access != nil) == opens, "\(name): \(String(describing: reader.error))")
            #expect(session.spy.frames.count < 700, "\(name)")
        }
    }

    @Test("Six digits in every form, and what is none of them")
    func forms() {
        for text in ["123456", "123 456", "１２３４５６", "000000\r\n"] {
            #expect(CardAccessNumber(text).map { "\($0)" } == "Redacted", "\(text)")
        }
        for text in ["", "12345", "1234567", "12345a", "123-456", "旅券", "-12345"] {
            #expect(CardAccessNumber(text) == nil, "\(text)")
        }
    }
}

/// A reader in front of a chip that answers protected reads of more bytes with 6700, and has then left the session.
private final class ShortReader: Reader {
    private let reader: any Reader
    private let longest: UInt8
    private(set) var refused = 0

    init(_ reader: any Reader, longest: UInt8) {
        self.reader = reader
        self.longest = longest
    }

    var information: ReaderInformation { reader.information }

    func activate(_ request: ActivationRequest) throws(TransportError) -> PICC? { try reader.activate(request) }

    func transceive(_ frame: [UInt8], timeout: Duration) throws(TransportError) -> [UInt8] {
        if frame.count > 7, frame.starts(with: [0x0C, 0xB0]), frame[5] == 0x97, frame[7] > longest {
            refused += 1
            return [0x67, 0x00]
        }
        return try reader.transceive(frame, timeout: timeout)
    }

    func close() { reader.close() }
}
