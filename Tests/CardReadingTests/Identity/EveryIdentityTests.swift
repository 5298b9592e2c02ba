// SPDX-License-Identifier: Apache-2.0

import CardCrypto
import CardDecoders
import CardModel
import CardReading
import ISO7816
import TestSupport
import Testing
import VirtualReader

/// An identity document of `Fixtures/iso7816`, and how it is read.
struct IdentityCase: Sendable, CustomTestStringConvertible {
    /// What is presented to the card.
    enum Secret: Sendable {
        case right, wrong, none
    }

    typealias Reading = (error: FileCardReadingError?, dump: CardDump)

    let kind: CardKind
    let path: String
    /// Whether the card has closed files that a secret opens here.
    let hasSecret: Bool
    private let reading: @Sendable (ISO7816Session, CardIdentity, Secret) throws -> Reading

    /// - Parameter open: presents the secret, and is not called without one; `nil` if only what is free is read.
    private init<Reader: IdentityReader & SendableMetatype>(
        _ kind: CardKind, _ path: String,
        _ make: @escaping @Sendable (ISO7816Session, CardIdentity) throws -> Reader,
        _ open: (@Sendable (inout Reader, _ isRight: Bool) throws -> Void)? = nil
    ) {
        (self.kind, self.path, hasSecret) = (kind, path, open != nil)
        reading = { session, identity, secret in
            var reader = try make(session, identity)
            if secret != .none { try open?(&reader, secret == .right) }
            let dump = reader.finish()
            return (reader.error, dump)
        }
    }

    var testDescription: String { hasSecret ? path : "\(path), what is free" }

    /// Reads the card to its end, by its own session or another one.
    func read(_ card: FileCard, _ session: ISO7816Session? = nil, _ secret: Secret = .right) throws -> Reading {
        try reading(session ?? card.session, card.identity, secret)
    }

    static let all: [IdentityCase] =
        [
            license("license/sample.json", [(.pin1, "1234"), (.pin2, "5678")]),
            license("license/my-number-licence.json", [(.myNumberLicense, "2580")]),
            IdentityCase(.license, "license/sample.json", { try LicenseReader($0, $1) }),
            IdentityCase(.residence, "residence/first.json", { try ResidenceReader($0, $1) }),
            IdentityCase(.myNumber, "mynumber/face.json", { try MyNumberReader($0, $1) }) { reader, isRight in
                reader.verify(.pins(FileCard.pin(isRight ? "2222" : "2223")))
            },
            IdentityCase(.myNumber, "mynumber/face.json", { try MyNumberReader($0, $1) }) { reader, isRight in
                reader.verifyFace(.pins(FileCard.pin(isRight ? "50060120311234" : "50060120311235")))
            },
        ]
        + ["first", "second"].map { name in
            IdentityCase(.residence, "residence/\(name).json", { try ResidenceReader($0, $1) }) { reader, isRight in
                reader.unlock(try #require(ResidenceNumber(isRight ? "AA12345678BB" : "AA12345678BC")))
            }
        }
        + ["card", "chip-pace", "chip-mapping", "chip-active"].map { name in
            IdentityCase(.passport, "passport/\(name).json", { try PassportReader($0, $1) }) { reader, isRight in
                let key = PassportKey(isRight ? "SP1234567,800405,360614" : "SP1234568,800405,360614")
                reader.unlock(.zone(try #require(key)))
            }
        }

    private static func license(_ path: String, _ pins: [(LicensePIN, String)]) -> IdentityCase {
        IdentityCase(.license, path, { try LicenseReader($0, $1) }) { reader, isRight in
            reader.verify(pins.map { ($0.0, FileCard.pin(isRight ? $0.1 : "0000")) }, consent: .never)
        }
    }
}

/// What holds for every identity document.
@Suite("Reading every identity document", .enabled(if: CryptoError.isLibraryThere, "needs libcrypto.so.3"))
struct EveryIdentityTests {
    @Test("No kind is left out")
    func kinds() { #expect(Set(IdentityCase.all.map(\.kind)) == Set(IdentityReport.kinds.map { $0.kind })) }

    @Test("With the right secret everything is read, and its dump says the same", arguments: IdentityCase.all)
    func whole(_ document: IdentityCase) throws {
        let (error, dump) = try document.read(FileCard(document.path))
        #expect(error == nil && dump.isComplete && dump.missing.isEmpty)
        #expect(IdentityReport.all(in: dump).map(\.kind) == [document.kind])
        #expect(try CardDump(parsing: Array(dump.json.prettyText.utf8)) == dump)
    }

    @Test("A wrong secret is sent once, and opens nothing", arguments: IdentityCase.all.filter(\.hasSecret))
    func wrong(_ document: IdentityCase) throws {
        let card = try FileCard(document.path)
        let (error, dump) = try document.read(card, nil, .wrong)
        switch error {
        case .pin(.wrong)?, .secure(.wrongNumber)?, .wrongPassportKey?: break
        default: Issue.record("\(String(describing: error))")
        }
        #expect(card.spy.secrets == 1)
        let free = try FileCard(document.path)
        let without = try document.read(free, nil, .none)
        #expect(without.error == nil && free.spy.secrets == 0)
        #expect(dump.isComplete && dump.readFiles == without.dump.readFiles)
    }

    @Test("Other documents are other cards, and nothing secret is sent to them", arguments: IdentityCase.all)
    func others(_ document: IdentityCase) throws {
        for path in Set(IdentityCase.all.filter { $0.kind != document.kind }.map(\.path)) {
            // A My Number card with a license on it is both.
            guard document.kind != .myNumber || path != "license/my-number-licence.json" else { continue }
            let card = try FileCard(path)
            #expect(throws: FileCardReadingError.otherCard, "\(path)") { try document.read(card) }
            #expect(card.spy.secrets == 0, "\(path)")
        }
    }

    @Test("A card that leaves at any exchange gives what was read, marked incomplete", arguments: IdentityCase.all)
    func lost(_ document: IdentityCase) throws {
        let whole = try FileCard(document.path)
        let everything = try document.read(whole).dump.readFiles
        for exchange in 0..<whole.spy.frames.count {
            let card = try FileCard(document.path)
            guard let (error, dump) = try? document.read(card, card.session(LosingReader(card.spy, after: exchange)))
            else {
                #expect(card.spy.secrets == 0, "exchange \(exchange)")
                continue
            }
            #expect(error != nil, "exchange \(exchange)")
            #expect(card.spy.secrets <= whole.spy.secrets, "exchange \(exchange)")
            for (place, data) in dump.readFiles { #expect(everything[place] == data, "exchange \(exchange)") }
            let isWhole = dump.readFiles == everything
            #expect(isWhole || !dump.isComplete, "exchange \(exchange)")
            let lost = dump.applications.flatMap(\.files).count { $0.state == .lost }
            #expect(dump.missing.count == lost, "exchange \(exchange)")
        }
    }

    @Test(
        "After any fault at any exchange no secret is sent twice, and the dump is still one",
        arguments: IdentityCase.all)
    func faults(_ document: IdentityCase) throws {
        let whole = try FileCard(document.path)
        _ = try document.read(whole)
        for fault in [InjectedFault.absent, .damaged(status: 0x02), .truncated(to: 1)] {
            for number in stride(from: 1, to: whole.spy.frames.count + 1, by: 3) {
                let card = try FileCard(document.path, faults: .once(fault, atAPDU: number))
                guard let (_, dump) = try? document.read(card) else {
                    #expect(card.spy.secrets == 0, "\(fault) at \(number)")
                    continue
                }
                #expect(card.spy.secrets <= whole.spy.secrets, "\(fault) at \(number)")
                #expect(IdentityReport.all(in: dump).map(\.kind) == [document.kind], "\(fault) at \(number)")
            }
        }
    }

    @Test("A file that the card refuses costs that file and no other", arguments: IdentityCase.all)
    func refused(_ document: IdentityCase) throws {
        let text = try TestFiles.read("Fixtures/iso7816/\(document.path)")
        let everything = try document.read(FileCard(document.path)).dump.readFiles
        for (place, other) in try JSONValue(parsing: text).refusingFiles {
            guard everything[place] != nil else { continue }
            let card = try FileCard(text: other.compactText)
            guard let (error, dump) = try? document.read(card) else {
                // Whether PINs are set decides whether any is sent.
                #expect(place.hasSuffix("001A") && card.spy.secrets == 0, "\(place)")
                continue
            }
            #expect(error == nil && dump.isComplete, "\(place)")
            var expected = everything
            expected[place] = nil
            #expect(dump.readFiles == expected, "\(place)")
        }
    }
}

extension SpyReader {
    /// How many PINs, numbers and answers to challenges were sent before the first file that they open.
    fileprivate var secrets: Int {
        // VERIFY with data, EXTERNAL AUTHENTICATE, and the first step of PACE; chip authentication follows the files.
        let first = frames.firstIndex { [0x0C, 0x8C].contains($0[0]) } ?? frames.count
        return frames[..<first].count { frame in
            switch frame[1] {
            case 0x20: frame.count > 5
            case 0x82: true
            case 0x22: frame[2] == 0xC1
            default: false
            }
        }
    }
}

extension CardDump {
    /// The contents of each file that was read, by its application and its name.
    fileprivate var readFiles: [String: [UInt8]] {
        var files: [String: [UInt8]] = [:]
        for application in applications {
            for file in application.files where file.state == .read {
                files["\(application.aid?.description.lowercased() ?? "") \(file.id)"] = file.data
            }
        }
        return files
    }
}

extension JSONValue {
    /// For each file of a card's applications, by its place as in a dump, the card with that file refused.
    fileprivate var refusingFiles: [(place: String, card: JSONValue)] {
        guard case .object(let card) = self, case .array(let applications)? = card["applications"] else { return [] }
        var found: [(String, JSONValue)] = []
        for (index, value) in applications.enumerated() {
            guard case .object(let application) = value, case .object(let files)? = application["files"],
                case .string(let aid)? = application["aid"]
            else { continue }
            for member in files.members {
                guard case .object(var file) = member.value else { continue }
                file["read"] = "6400"
                var (others, application, applications, card) = (files, application, applications, card)
                others[member.key] = .object(file)
                application["files"] = .object(others)
                applications[index] = .object(application)
                card["applications"] = .array(applications)
                found.append(("\(aid.lowercased()) \(member.key)", .object(card)))
            }
        }
        return found
    }
}
