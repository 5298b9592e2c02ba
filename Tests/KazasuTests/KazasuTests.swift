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

    @Test func readmeShowsTheBuiltProgram() throws {
        let program = String(decoding: try TestFiles.read("Docs/examples/Balance/main.swift"), as: UTF8.self)
        let sample = try #require(program.firstRange(of: "import Kazasu"))
        let readme = String(decoding: try TestFiles.read("README.md"), as: UTF8.self)
        #expect(readme.contains("```swift\n" + program[sample.lowerBound...] + "```"))
        let raw = Self.lines(String(decoding: try TestFiles.read("Docs/examples/RawFeliCa/main.swift"), as: UTF8.self))
        let exchange = try #require(readme.components(separatedBy: "```swift\nguard").dropFirst().first)
        for line in ("guard" + (exchange.components(separatedBy: "```").first ?? "?")).split(separator: "\n") {
            #expect(raw.split(separator: "\n").contains(line), "\(line)")
        }
        let manifest = Self.lines(
            String(decoding: try TestFiles.read("Docs/examples/Client/Package.swift"), as: UTF8.self))
        let lines = try #require(readme.components(separatedBy: "```swift\ndependencies").dropFirst().first)
        #expect(manifest.contains(Self.lines("dependencies" + (lines.components(separatedBy: "```").first ?? "?"))))
    }

    /// The articles of the products' documentation.
    static let articles = [
        "Products/Kazasu", "Products/KazasuCards", "Products/KazasuReading", "Products/KazasuTesting",
        "Services/KazasuTaps",
        "Services/KazasuLedger",
        "Services/KazasuService",
    ].flatMap { product in
        let folder = "Sources/\(product)/\(product.split(separator: "/").last ?? "").docc"
        return TestFiles.names(in: folder).map { "\(folder)/\($0)" }
    }

    /// Lines without their indentation.
    private static func lines(_ text: some StringProtocol) -> String {
        text.split(separator: "\n", omittingEmptySubsequences: false).map { $0.drop { $0 == " " } }.joined(
            separator: "\n")
    }

    @Test("The samples of the articles are cut from programs that are built", arguments: articles)
    func samples(article: String) throws {
        let programs = TestFiles.names(in: "Docs/examples").filter { !$0.contains(".") }.flatMap { folder in
            TestFiles.names(in: "Docs/examples/\(folder)").map { "Docs/examples/\(folder)/\($0)" }
        }
        let code = try (programs + ["Tests/KazasuTests/KazasuTests.swift"]).map {
            Self.lines(String(decoding: try TestFiles.read($0), as: UTF8.self))
        }
        let text = String(decoding: try TestFiles.read(article), as: UTF8.self)
        for sample in text.components(separatedBy: "```swift\n").dropFirst() {
            let sample = Self.lines(try #require(sample.components(separatedBy: "```").first))
            #expect(code.contains { $0.contains(sample) }, "\(sample)")
        }
    }

    @Test func findsTheArticles() { #expect(Self.articles.count == 13) }

    /// Names in code font, as in `Card.report(with:stations:)`, and links to symbols: all are public.
    @Test("The articles name public symbols only", arguments: articles)
    func publicNames(article: String) throws {
        let api = try TestFiles.names(in: "Docs/api").flatMap { file in
            String(decoding: try TestFiles.read("Docs/api/\(file)"), as: UTF8.self).split(separator: "\n").compactMap {
                $0.split(separator: " ").dropFirst().first.map { $0.hasSuffix(":") ? $0.dropLast() : $0 }
            }
        }
        let known = Set(api.map(String.init))
        let text = String(decoding: try TestFiles.read(article), as: UTF8.self)
        let prose = text.components(separatedBy: "```").enumerated().filter { $0.offset.isMultiple(of: 2) }.map(
            \.element)
        let links = try prose.joined().matches(of: Regex("``([A-Za-z0-9_/:()]+)(?:-\\([^`]*\\))?``"))
        let names = try prose.joined().matches(
            of: Regex("[^`]`([A-Z][A-Za-z0-9]*\\.[a-z][A-Za-z0-9]*\\([A-Za-z_:]*\\))`[^`]"))
        let products: Set<String> = [
            "Kazasu", "KazasuCards", "KazasuReading", "KazasuTesting", "KazasuTaps", "KazasuLedger", "KazasuService",
        ]
        for match in links + names {
            let name = String(try #require(match.output[1].substring)).replacing("/", with: ".")
            #expect(known.contains(name) || products.contains(name), "\(name)")
        }
        #expect(!links.isEmpty)
    }

    /// The card of ``CanteenDecoder``, with a service that it does not need.
    static let canteenCard = Array(
        #"""
        {"schema": "kazasu.card/1", "idm": "0102030405060708", "pmm": "0120220427674eff", "systems": [
          {"code": "8FC1", "blocks": {"100B": ["e8030000303034320000000000000000"],
                                      "180F": ["c2010000000000000000000000000000"],
                                      "200B": ["00000000000000000000000000000001"]}}]}
        """#.utf8)

    /// A decoder of one's own on a live card reads just what it asks for.
    @Test func ownDecoder() throws {
        let field = try VirtualField(cardFile: Self.canteenCard)
        let reader = CardReader(InProcessReader(field), cancellation: CancellationToken())
        let card = try reader.waitForCard(.decoders([CanteenDecoder()]))
        let report = try card.report(with: [CanteenDecoder()])
        #expect(report.kind == "canteen" && report.balances.map(\.amount) == [1000] && report.history?.count == 1)
        #expect(try card.balance(with: [CanteenDecoder()]).balances.map(\.amount) == [1000])
        #expect(throws: KazasuError.self) { try card.history() }
    }

    /// The commands of a card keep its reader open, however short the line.
    @Test func commandsKeepTheReader() throws {
        let system = try Self.reader("suica-p1").waitForCard(.feliCa).feliCaSystem
        #expect(try system?.requestResponse() == .initial)
    }

    @Test func numbersAsText() {
        #expect(IDm("01:01:03:12:34:56:78:90")?.rawValue == 0x0101_0312_3456_7890)
        #expect(PMm("0120220427674EFF")?.icType == 0x20)
        for text in ["", "0101", "01010312345678901", "010103123456789g"] {
            #expect(IDm(text) == nil && PMm(text) == nil)
        }
        #expect(Instruction.select == 0xA4)
        #expect("\(PINReference(LocalizedText("PIN 1", "暗証番号 1"), p2: 0x81, form: .digits(4)))" == "PIN 1")
    }

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

    private static func file(_ name: String) throws -> [UInt8] {
        try TestFiles.read("Fixtures/cards/\(name)/card.json")
    }

    @Test func cardLeavesBeforeItIsRead() throws {
        let field = try VirtualField(cardFile: Self.file("suica-p1"))
        let reader = CardReader(InProcessReader(field), cancellation: CancellationToken())
        let card = try reader.waitForCard(.purse)
        field.plan(.cardAway(from: field.statistics.exchanges + 1))
        #expect(throws: KazasuError.self) { try card.balance() }
    }

    @Test func cardsCanBeExchanged() throws {
        let field = VirtualField()
        let reader = InProcessReader(field)
        #expect(try reader.activate(.felica(.transit)) == nil)
        try field.place(cardFile: Self.file("suica-p1"))
        #expect(try reader.activate(.felica(.transit)) != nil)
        field.removeCards()
        #expect(try reader.activate(.felica(.transit)) == nil)
    }

    @Test func ownReaderConforms() throws {
        let report = try ReaderConformance.check { field, cancellation in
            BridgeReader(cancellation: cancellation) { packet, time in
                try? field.transceive(packet, at: .kbps212, timeout: time)
            }
        }
        #expect(report.breaches == [])
    }

    @Test func history() throws {
        let card = try Self.reader("suica-p1").waitForCard()
        let report = try card.history()
        #expect(report.kind == "transit")
        #expect(report.history?.count == 20)
    }

    @Test func scanAndDump() throws {
        let card = try Self.reader("suica-p1").waitForCard(.feliCa)
        #expect(try card.scan().get().map(\.system.code).contains(.transit))
        let dump = try card.dump().get()
        #expect(dump.isComplete && dump.systems.map(\.systemCode).contains(.transit))
        #expect(try dump.history().history == card.history().history)
    }

    @Test func dumpsOnlyWhatIsSelected() throws {
        let card = try Self.reader("suica-p1").waitForCard(.feliCa)
        let history = ServiceCode(rawValue: 0x090F)
        var seen: Set<SystemCode> = []
        let result = try card.dump(DumpSelection(systems: [.transit], services: [history])) { seen.insert($0.system) }
        #expect(try result.get().systems.map { $0.services.map(\.code) } == [[history]])
        #expect(seen == [.transit])
    }

    /// The card of a fixture that leaves after some exchanges.
    private static func leaving(_ name: String, after exchanges: Int) throws -> CardReader {
        let whole = String(decoding: try TestFiles.read("Fixtures/cards/\(name)/card.json"), as: UTF8.self)
        let faults = #""virtual": { "faults": [ { "fault": "absent", "from": \#(exchanges) } ] }, "#
        return try virtualReader(cards: Array("{\(faults)\(whole.drop { $0 != "{" }.dropFirst())".utf8))
    }

    @Test(arguments: [12, 20, 40]) func resumesAnInterruptedDump(_ exchanges: Int) throws {
        let partial = try Self.leaving("suica-p1", after: exchanges).waitForCard(.feliCa).dump()
        #expect(partial.error == .reading(.cardLost))
        #expect(!partial.dump.isComplete && !partial.dump.missing.isEmpty)
        #expect(throws: KazasuError.reading(.cardLost)) { try partial.get() }
        let card = try Self.reader("suica-p1").waitForCard(.first(of: [partial.dump.card.technology]))
        let resumed = try card.dump(resuming: partial.dump).get()
        #expect(try resumed.isComplete && resumed.systems == card.dump().dump.systems)
    }

    @Test func keepsWhatAnInterruptedScanFound() throws {
        let scan = try Self.leaving("suica-p1", after: 20).waitForCard(.feliCa).scan()
        #expect(scan.error == .reading(.cardLost))
        #expect(!scan.systems.isEmpty)
        #expect(throws: KazasuError.reading(.cardLost)) { try scan.get() }
    }

    @Test func resumesOnlyTheSameCard() throws {
        let other = try Self.reader("suica-p1").waitForCard().dump().dump
        let card = try Self.reader("edy").waitForCard(.feliCa)
        let error = #expect(throws: KazasuError.self) { try card.dump(resuming: other) }
        guard case .wrongCard(let wrong) = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(wrong.reason == .otherThanDump)
    }

    @Test func readsChosenBlocks() throws {
        let card = try Self.reader("suica-p1").waitForCard(.feliCa(systems: [.transit]))
        let history = ServiceCode(rawValue: 0x090F)
        let blocks = try card.read(history, blocks: 0..<2)
        #expect(blocks.map(\.description) == ["16010002166CE33BE6210A000001E300", "16010002166BE336E338AA000001E100"])
        #expect(throws: KazasuError.self) { try card.read(history, blocks: 19..<21) }
        #expect(throws: KazasuError.self) { try card.read(ServiceCode(rawValue: 0x0FFB), blocks: 0..<1) }
        let result = try card.read([history, ServiceCode(rawValue: 0x0FFB)])
        #expect(result.system.systemCode == .transit && result.system.service(history)?.blocks.count == 20)
        #expect(Array(result.refusals.keys) == [ServiceCode(rawValue: 0x0FFB)] && !result.isComplete)
    }

    @Test func readsAndWritesDumpsOfOtherPrograms() throws {
        let dump = try Self.reader("suica-p1").waitForCard(.feliCa).dump().get()
        let again = try readDumps(dump.encoded(as: .flipper), formats: .complete)
        #expect(try again.map { try $0.balance().balances.map(\.amount) } == [[10]])
    }

    @Test func namesTheOtherKindOfCard() throws {
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

    @Test func unknownReader() {
        #expect(throws: KazasuError.unknownReader("nosuch")) { try openReader("nosuch") }
    }

    @Test func unreadableFile() {
        #expect(throws: KazasuError.unreadableFile("/nonexistent", errno: 2)) { try openReader("virtual:/nonexistent") }
    }

    @Test func balanceWithoutBlocking() async throws {
        let id = "virtual:\(TestFiles.root)/Fixtures/cards/suica-p1/card.json"
        let amounts = try await withReader(id) { reader throws(KazasuError) in
            try reader.waitForCard(.purse).balance().balances.map(\.amount)
        }
        #expect(amounts == [10])
    }

    @Test func readsACardWithoutBlocking() async throws {
        let id = "virtual:\(TestFiles.root)/Fixtures/cards/suica-p1/card.json"
        let reader = try await AsyncCardReader.open(id)
        let card = try await reader.waitForCard(.purse)
        let balance = try await card.balance()
        #expect(balance.balances.map(\.amount) == [10])
        #expect(try await card.history().history?.count == 20)
        #expect(try await card.brand(of: .transit) != nil)
        #expect(try await card.scan().get().map(\.system.code).contains(.transit))
        #expect(try await card.dump().get().isComplete)
        let history = ServiceCode(rawValue: 0x090F)
        #expect(try await card.read([history]).isComplete)
        #expect(try await card.read(history, blocks: 0..<2).count == 2)
        #expect(await card.run { card in card.identity } == card.identity)
        await #expect(throws: KazasuError.self) { try await card.readNDEF() }
        await reader.close()
        await #expect(throws: KazasuError.self) { try await card.balance() }
    }

    @Test func cancelsTheReaderWithTheTask() async throws {
        let id = "virtual:\(TestFiles.root)/Fixtures/cards/suica-p1/card.json"
        let reader = try await AsyncCardReader.open(id)
        let card = try await reader.waitForCard(.purse)
        let task = Task { try await reader.waitForCard(.isoDEP, timeout: nil).technology }
        task.cancel()
        await #expect(throws: KazasuError.cancelled) { try await task.value }
        await #expect(throws: KazasuError.cancelled) { try await card.balance() }
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

    @Test func replaysARecording() throws {
        let recording = try TestFiles.read("Fixtures/recordings/pn532.jsonl")
        let reader = try replayReader(recording, command: "scan")
        #expect(try reader.waitForCard(.feliCa).technology == .felica)
    }

    @Test func placedCardIsATap() async throws {
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

    @Test func writesNothingToALockedTag() throws {
        let card = try Self.reader("tags/ntag213-locked.json").waitForCard(.tag)
        let before = try card.readNDEF()
        #expect(throws: KazasuError.self) { try card.writeNDEF(NDEFMessage([try .text("new")])) }
        #expect(try card.readNDEF() == before)
    }

    @Test func rejectsMalformedMessages() throws {
        let card = try Self.reader("tags/ntag213.json").waitForCard(.tag)
        #expect(throws: KazasuError.tag(.notAMessage(NDEFError(.noRecord)))) { try card.writeNDEF(NDEFMessage([])) }
        #expect(throws: NDEFError.self) { try NDEFRecord.uri("two words") }
    }

    @Test func purseIsNotATag() throws {
        let card = try Self.reader("cards/suica-p1/card.json").waitForCard()
        #expect(throws: KazasuError.tag(.noNDEF(.notFormatted))) { try card.readNDEF() }
    }
}

/// Licenses, My Number cards and APDUs, through the facade.
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

    @Test func readsALicenseWithoutBlocking() async throws {
        let reader = try await AsyncCardReader.open("virtual:\(TestFiles.root)/Fixtures/iso7816/license/sample.json")
        let card = try await reader.waitForCard(.license)
        #expect(try await card.license().get().pin1?.triesLeft == 3)
        let pins = [PIN(Array("1234".utf8)), PIN(Array("5678".utf8))]
        #expect(try await card.license(.asking(given: pins) { _ in nil }).get().photo != nil)
        await reader.close()
    }

    @Test func sendsNoPINAfterAWrongOneWithoutBlocking() async throws {
        let reader = try await AsyncCardReader.open("virtual:\(TestFiles.root)/Fixtures/iso7816/license/sample.json")
        let card = try await reader.waitForCard(.license)
        #expect(try await card.license(.pins(PIN(Array("9999".utf8)))).report.pin1?.triesLeft == 2)
        let again = try await card.license(.pins(PIN(Array("1234".utf8))))
        guard case .fileCard(.pin(.earlierFailure)) = again.error else {
            Issue.record("\(String(describing: again.error))")
            return
        }
        #expect(again.report.pin1?.triesLeft == 2)
        await reader.close()
    }

    @Test func readsAMyNumberCardWithoutBlocking() async throws {
        let reader = try await AsyncCardReader.open("virtual:\(TestFiles.root)/Fixtures/iso7816/mynumber/card.json")
        let result = try await reader.waitForCard(.myNumber).myNumber()
        #expect(try result.get().certificates.isEmpty == false)
        let front = try await reader.waitForCard(.myNumber).myNumberFace()
        #expect(front.report.withheld.contains(.face) && front.report.face == nil)
        await reader.close()
    }

    @Test func readsAMyNumberCard() throws {
        let result = try Self.reader("mynumber/card.json").waitForCard(.myNumber).myNumber()
        #expect(result.error == nil)
        #expect(result.report.certificates.isEmpty == false)
        #expect(result.report.attributes == nil)
    }

    /// A chip that opens with what is typed here, and has the signed data of somebody else.
    private static func forgery(_ file: String, _ old: String, _ new: String) throws -> CardReader {
        let text = String(decoding: try TestFiles.read("Fixtures/iso7816/\(file)"), as: UTF8.self)
        #expect(text.contains(old))
        return try virtualReader(cards: Array(text.replacing(old, with: new).utf8))
    }

    @Test func comparesWhatWasTypedWithTheChip() throws {
        let country = try CertificateAuthorities(files: [TestFiles.read("Fixtures/iso7816/passport/authority.der")])
        let key = try #require(PassportKey("XX0000001,850101,330101"))
        let passport = try Self.forgery("passport/card.json", "SP1234567980040593606148", "XX0000001185010193301018")
            .waitForCard(.passport).passport(key)
        #expect(try passport.signature(authorities: country).state == .otherDocument)
        #expect(passport.report.warnings.contains { $0.reason == .otherDocument && $0.file == .machineReadableZone })

        let agency = try CertificateAuthorities(files: [TestFiles.read("Fixtures/iso7816/residence/authorities.pem")])
        let number = try #require(ResidenceNumber("KZ26061426KZ"))
        let residence = try Self.forgery("residence/second.json", "AA12345678BB", "KZ26061426KZ")
            .waitForCard(.residence).residence(number)
        #expect(try residence.signature(authorities: agency).state == .otherDocument)

        let own = try CertificateAuthorities(files: [TestFiles.read("Fixtures/iso7816/mynumber/authority.bin")])
        let front = try Self.forgery("mynumber/face.json", "50060120311234", "01020320991234")
            .waitForCard(.myNumber).myNumberFace(.pins(PIN(Array("01020320991234".utf8))))
        #expect(try front.faceSignature(authorities: own).state == .otherDocument)
    }

    @Test func checksTheSignaturesOfAMyNumberCard() throws {
        let key = try TestFiles.read("Fixtures/iso7816/mynumber/authority.bin")
        let authorities = try CertificateAuthorities(files: [key])
        let card = try Self.reader("mynumber/face.json").waitForCard(.myNumber)
        let front = try card.myNumberFace(.pins(PIN(Array("50060120311234".utf8))))
        #expect(try front.get().face?.pictures.count == 3)
        #expect(try front.faceSignature(authorities: authorities).state == .valid)
        #expect(try front.faceSignature().state == .unknownAuthority)
        let items = try card.myNumber(.pins(PIN(Array("2222".utf8))))
        #expect(try items.get().attributes?.birthDate == front.report.face?.birthDate)
        #expect(try items.itemsSignature(authorities: authorities).state == .valid)
        let chain = try items.report.chain(of: .authenticationCertificate, authorities: authorities)
        #expect(chain.state == .notChecked)
        // What signs the items is in no dump.
        let again = try #require(try readDumps(items.dump.encoded(as: .json)).first)
        let report = try #require(again.decode().myNumber)
        #expect(try report.itemsSignature(of: again, authorities: authorities).state == .notChecked)
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
