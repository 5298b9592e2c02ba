// SPDX-License-Identifier: Apache-2.0

import Foundation
import KazasuTesting
import Synchronization
import TestSupport
import Testing

/// The facade, as a program uses it: by its public declarations only.
struct KazasuTests {
    private static func reader(_ name: String) throws -> CardReader {
        try virtualReader(cards: TestFiles.read("Fixtures/cards/\(name)/card.json"))
    }

    @Test func theReadmeShowsTheProgramThatIsBuilt() throws {
        let program = String(decoding: try TestFiles.read("Docs/examples/Balance/main.swift"), as: UTF8.self)
        let sample = try #require(program.firstRange(of: "import Kazasu"))
        let readme = String(decoding: try TestFiles.read("README.md"), as: UTF8.self)
        #expect(readme.contains("```swift\n" + program[sample.lowerBound...] + "```"))
    }

    /// The articles of the products' documentation.
    static let articles = ["Kazasu", "KazasuCards", "KazasuTesting", "KazasuService"].flatMap { product in
        let folder = "Sources/\(product)/\(product).docc"
        return TestFiles.names(in: folder).map { "\(folder)/\($0)" }
    }

    /// Lines without their indentation.
    private static func lines(_ text: some StringProtocol) -> String {
        text.split(separator: "\n", omittingEmptySubsequences: false).map { $0.drop { $0 == " " } }.joined(
            separator: "\n")
    }

    @Test("The samples of the articles are cut from programs that are built", arguments: articles)
    func samples(article: String) throws {
        let programs = TestFiles.names(in: "Docs/examples").filter { !$0.contains(".") }
            .map { "Docs/examples/\($0)/main.swift" }
        let code = try (programs + ["Docs/examples/Package.swift", "Tests/KazasuTests/KazasuTests.swift"]).map {
            Self.lines(String(decoding: try TestFiles.read($0), as: UTF8.self))
        }
        let text = String(decoding: try TestFiles.read(article), as: UTF8.self)
        for sample in text.components(separatedBy: "```swift\n").dropFirst() {
            let sample = Self.lines(try #require(sample.components(separatedBy: "```").first))
            #expect(code.contains { $0.contains(sample) }, "\(sample)")
        }
    }

    @Test func thereAreArticles() { #expect(Self.articles.count == 8) }

    @Test func feliCaCommands() throws {
        let code = SystemCode(rawValue: 0x0003)
        let reader = try Self.reader("suica-p1")
        defer { reader.close() }
        let system = try #require(try reader.waitForCard(.feliCa(systems: [code])).feliCaSystem)
        let history = ServiceCode(rawValue: 0x090F)
        let versions = try system.requestService([NodeCode(rawValue: 0x090F), NodeCode(rawValue: 0x0FFF)])
        #expect(versions.map { $0?.rawValue } == [1, nil])
        let codes = try system.requestSystemCode()
        #expect(codes.map(\.rawValue) == [0x0003, 0xFE00, 0x86A7])
        let mode = try system.requestResponse()
        #expect(mode == .initial)
        let blocks = try system.readWithoutEncryption(history, blocks: [0, 1])
        #expect(blocks.map(\.description) == ["16010002166CE33BE6210A000001E300", "16010002166BE336E338AA000001E100"])
        let error = #expect(throws: FeliCaError.self) {
            try system.readWithoutEncryption(history, blocks: [20])
        }
        #expect(error.map { "\($0)".contains("status") } == true)
    }

    @Test func balance() throws {
        let card = try Self.reader("suica-p1").waitForCard(.purse)
        #expect(try card.balance().balances.map(\.amount) == [10])
    }

    @Test func history() throws {
        let card = try Self.reader("suica-p1").waitForCard()
        let report = try card.history()
        #expect(report.card == "transit")
        #expect(report.history?.count == 20)
    }

    @Test func scanAndDump() throws {
        let card = try Self.reader("suica-p1").waitForCard(.feliCa)
        #expect(try card.scan().map(\.system.code).contains(.transit))
        #expect(try card.dump().systems.map(\.systemCode).contains(.transit))
    }

    @Test func aCardOfAnotherKindIsNamed() throws {
        let error = #expect(throws: KazasuError.self) { try Self.reader("felica-lite-s").waitForCard(.purse).balance() }
        guard case .wrongCard(let card)? = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(card.card.technology == .felica)
    }

    @Test func noCard() throws {
        let reader = try virtualReader(cards: TestFiles.read("Fixtures/cards/suica-p1/card.json"))
        #expect(throws: KazasuError.self) { try reader.waitForCard(.isoDEP, timeout: .zero) }
    }

    @Test func aReaderThatNobodyKnows() {
        #expect(throws: KazasuError.unknownReader("nosuch")) { try openReader("nosuch") }
    }

    @Test func anUnreadableFile() {
        #expect(throws: KazasuError.unreadableFile("/nonexistent", errno: 2)) { try openReader("virtual:/nonexistent") }
    }

    @Test func balanceWithoutBlocking() async throws {
        let id = "virtual:\(TestFiles.root)/Fixtures/cards/suica-p1/card.json"
        let amounts = try await withReader(id) { reader throws(KazasuError) in
            try reader.waitForCard(.purse).balance().balances.map(\.amount)
        }
        #expect(amounts == [10])
    }

    @Test func cancellingTheTaskEndsTheWait() async {
        let id = "virtual:\(TestFiles.root)/Fixtures/cards/suica-p1/card.json"
        let task = Task {
            try await withReader(id) { reader throws(KazasuError) in
                try reader.waitForCard(.isoDEP, timeout: nil).picc
            }
        }
        task.cancel()
        await #expect(throws: KazasuError.self) { try await task.value }
    }

    @Test func aRecordingIsReplayed() throws {
        let recording = try TestFiles.read("Fixtures/recordings/pn532.jsonl")
        let reader = try replayReader(recording, command: "scan")
        #expect(try reader.waitForCard(.feliCa).technology == .felica)
    }

    @Test func aCardThatIsPutOnIsATap() async throws {
        let id = "virtual:\(TestFiles.root)/Fixtures/cards/suica-p1/card.json"
        for try await tap in taps(on: [id]) {
            #expect(tap.kind == .on)
            #expect(tap.card.technology == .felica)
            break
        }
    }

    @Test func readersAreReportedWithTheirTaps() async throws {
        let id = "virtual:\(TestFiles.root)/Fixtures/cards/suica-p1/card.json"
        var seen: [String] = []
        for try await event in taps(on: [id]).events {
            switch event {
            case .reader(let reader, let state): seen.append(reader == id && state == .ready ? "ready" : "\(state)")
            case .tap(let tap):
                seen.append("\(tap.kind)")
            }
            if seen.count == 2 { break }
        }
        #expect(seen == ["ready", "on"])
    }

    @Test func cardsOfTapsCanBeRead() async throws {
        let id = "virtual:\(TestFiles.root)/Fixtures/cards/suica-p1/card.json"
        let amounts = Mutex<[Int?]>([])
        let taps = taps(on: [id]) { card throws(KazasuError) in
            let balance = try card.balance()
            amounts.withLock { $0 += balance.balances.map(\.amount) }
        }
        for try await tap in taps {
            #expect(tap.readError == nil)
            break
        }
        #expect(amounts.withLock { $0 } == [10])
    }

    @Test func aFailureOfTheWorkWithACardIsItsReadError() async throws {
        let id = "virtual:\(TestFiles.root)/Fixtures/cards/suica-p1/card.json"
        let taps = taps(on: [id]) { card throws(KazasuError) in _ = try card.license() }
        for try await tap in taps {
            guard case .wrongCard = tap.readError else {
                Issue.record("\(String(describing: tap.readError))")
                return
            }
            break
        }
    }

    @Test func anErrorOfTheProgramEndsTheWork() async {
        struct Closed: Error {}
        let id = "virtual:\(TestFiles.root)/Fixtures/cards/suica-p1/card.json"
        await #expect(throws: Closed.self) { try await withReader(id) { _ in throw Closed() } }
    }
}

/// NDEF messages on tags, through the facade.
struct TagMessageTests {
    private static func reader(_ file: String) throws -> CardReader {
        try virtualReader(cards: TestFiles.read("Fixtures/\(file)"))
    }

    @Test(arguments: ["tags/ntag213.json", "tags/type4.json", "tags/lite-s-no-ndef.json"])
    func readsWhatWasWritten(_ file: String) throws {
        let reader = try Self.reader(file)
        let card = try reader.waitForCard(.tag)
        let message = NDEFMessage([
            try .uri("https://kazasu.example/tag"), try .text("かざす", language: "ja"),
            NDEFRecord(format: .mime, type: "text/plain", payload: [0x61]),
        ])
        do throws(KazasuError) {
            try card.writeNDEF(message)
        } catch {
            // No place for a message was made on this card.
            #expect(file.contains("no-ndef") && error == .tag(.noNDEF(.notFormatted)))
            return
        }
        let read = try reader.waitForCard(.tag).readNDEF()
        #expect(read == message)
        #expect(read.records.map(\.uri) == ["https://kazasu.example/tag", nil, nil])
        #expect(read.records.map(\.text) == [nil, "かざす", nil])
        #expect(read.records.last?.typeText == "text/plain")
    }

    @Test func nothingIsWrittenToALockedTag() throws {
        let card = try Self.reader("tags/ntag213-locked.json").waitForCard(.tag)
        let before = try card.readNDEF()
        #expect(throws: KazasuError.self) { try card.writeNDEF(NDEFMessage([try .text("new")])) }
        #expect(try card.readNDEF() == before)
    }

    @Test func whatIsNoMessageIsNotWritten() throws {
        let card = try Self.reader("tags/ntag213.json").waitForCard(.tag)
        #expect(throws: KazasuError.tag(.notAMessage(NDEFError(.noRecord)))) { try card.writeNDEF(NDEFMessage([])) }
        #expect(throws: NDEFError.self) { try NDEFRecord.uri("two words") }
    }

    @Test func aPurseIsNoTag() throws {
        let card = try Self.reader("cards/suica-p1/card.json").waitForCard()
        #expect(throws: KazasuError.tag(.noNDEF(.notFormatted))) { try card.readNDEF() }
    }
}

/// Licences, My Number cards and APDUs, through the facade.
struct IdentityCardTests {
    private static func reader(_ file: String) throws -> CardReader {
        try virtualReader(cards: TestFiles.read("Fixtures/iso7816/\(file)"))
    }

    @Test func readsWhatNeedsNoPIN() throws {
        let result = try Self.reader("license/sample.json").waitForCard(.license).license()
        #expect(result.error == nil)
        #expect(result.report.pin1?.triesLeft == 3)
        #expect(result.report.name == nil)
    }

    @Test func asksOnceTheTriesAreKnown() throws {
        let card = try Self.reader("license/sample.json").waitForCard(.license)
        var tries: [TriesLeft?] = []
        let result = try card.license(
            .asking { prompt in
                tries.append(prompt.tries)
                return PIN(Array((tries.count == 1 ? "1234" : "5678").utf8))
            })
        #expect(tries == [.count(3), .count(3)])
        #expect(try result.get().photo != nil)
    }

    @Test func returnsWhatWasReadAfterAWrongPIN() throws {
        let card = try Self.reader("license/sample.json").waitForCard(.license)
        let result = try card.license(.pins(PIN(Array("9999".utf8))))
        #expect(result.report.pin1?.triesLeft == 2)
        #expect(result.report.edition != nil)
        #expect(result.dump.applications.isEmpty == false)
        #expect(throws: KazasuError.self) { try result.get() }
        guard case .fileCard(.pin(.wrong(_, .count(2)))) = result.error else {
            Issue.record("\(String(describing: result.error))")
            return
        }
        // The guard lives as long as the card lies there.
        let again = try card.license(.pins(PIN(Array("1234".utf8))))
        guard case .fileCard(.pin(.earlierFailure)) = again.error else {
            Issue.record("\(String(describing: again.error))")
            return
        }
        #expect(again.report.pin1?.triesLeft == 2)
    }

    @Test func asksForNoPINWithOneTryLeft() throws {
        let card = try Self.reader("license/last-try.json").waitForCard(.license)
        var asked = 0
        let result = try card.license(
            .asking { _ in
                asked += 1
                return nil
            })
        #expect(asked == 0)
        guard case .fileCard(.pin(.lastTry)) = result.error else {
            Issue.record("\(String(describing: result.error))")
            return
        }
    }

    @Test func readsAMyNumberCard() throws {
        let result = try Self.reader("mynumber/card.json").waitForCard(.myNumber).myNumber()
        #expect(result.error == nil)
        #expect(result.report.certificates.isEmpty == false)
        #expect(result.report.attributes == nil)
    }

    @Test func sendsAPDUs() throws {
        let session = try Self.reader("license/sample.json").waitForCard(.isoDEP).apdus()
        let select = CommandAPDU(.select, p1: 0x00, p2: 0x0C, data: [0x3F, 0x00])
        #expect(try session.transmit(select).status == .success)
        let pin = PINReference(
            LocalizedText("PIN 1", "暗証番号1"), path: [.masterFile], p2: 0x81, form: .digits(4))
        #expect(try session.triesLeft(of: pin) == .count(3))
        #expect(throws: ISO7816Error.guarded(.verify)) {
            try session.transmit(CommandAPDU(.verify, p2: 0x81, data: Array("1234".utf8)))
        }
        #expect(try session.verify(pin, with: .pins(PIN(Array("1234".utf8)))) == .verified)
    }

    @Test func sendsNoAPDUToACardWithoutThem() throws {
        let card = try virtualReader(cards: TestFiles.read("Fixtures/tags/ntag213.json")).waitForCard()
        #expect(throws: KazasuError.self) { try card.apdus() }
    }
}
