// SPDX-License-Identifier: Apache-2.0

import ByteCodec
import CardDecoders
import CardModel
import CardReading
import ISO7816
import Testing
import VirtualReader

@Suite("Reading a license")
struct LicenseReaderTests {
    static let right: [(LicensePIN, String)] = [(.pin1, "1234"), (.pin2, "5678")]

    /// Reads a card to its end with some PINs.
    private func read(
        _ card: FileCard, _ pins: [(LicensePIN, String)] = right, consent: PINConsent = .never
    ) throws -> (dump: CardDump, error: FileCardReadingError?) {
        var reader = try LicenseReader(card.session, card.identity)
        reader.verify(pins.map { ($0.0, FileCard.pin($0.1)) }, consent: consent)
        let dump = reader.finish()
        return (dump, reader.error)
    }

    private func report(_ dump: CardDump) throws -> LicenseReport { try #require(LicenseDecoder.decode(dump)) }

    private func states(_ dump: CardDump) -> [LicenseFile: ReadState] {
        var states: [LicenseFile: ReadState] = [:]
        for file in LicenseFile.allCases {
            states[file] = dump.application(file.application)?.file(file.id)?.state
        }
        return states
    }

    @Test("With both PINs everything is read, each PIN sent once and in order")
    func everything() throws {
        let card = try FileCard("license/sample.json")
        let (dump, error) = try read(card)
        #expect(error == nil)
        #expect(dump.isComplete)
        #expect(card.spy.sentPINs.map(\.p2) == [0x81, 0x82])
        #expect(card.spy.sentPINs.map(\.text) == ["1234", "5678"])
        #expect(states(dump).values.allSatisfy { $0 == .read })
        let report = try report(dump)
        #expect(report.warnings.isEmpty)
        #expect(report.name?.description == "日本　花子")
        #expect(report.address?.description == "東京都千代田区霞が関２−１−３")
        #expect(report.photo?.count == 2_000)
        #expect(report.pin1 == CardPINState(triesLeft: 3, isVerified: true))
        #expect(report.pin2 == CardPINState(triesLeft: 3, isVerified: true))
    }

    @Test("PIN settings are read first, and no read is longer than F0 bytes")
    func order() throws {
        let card = try FileCard("license/sample.json")
        _ = try read(card)
        let frames = card.spy.frames.map { Hex.encode($0, uppercase: true) }
        #expect(
            frames.prefix(4) == [
                "00A4040C10A0000002310100000000000000000000", "00A4000C023F00", "00A4000C023F00", "00A4020C02000A",
            ])
        #expect(frames.dropFirst(4).first == "00B0000003")
        let firstVERIFY = try #require(frames.firstIndex { $0.hasPrefix("0020") })
        let readOfSetting = try #require(frames.firstIndex { $0.hasPrefix("00B0") })
        #expect(readOfSetting < firstVERIFY)
        for frame in card.spy.frames where frame[1] == 0xB0 { #expect(frame.count == 5) }
    }

    @Test("Without PINs: the free data and the tries left, and no VERIFY with data")
    func free() throws {
        let card = try FileCard("license/sample.json")
        var reader = try LicenseReader(card.session, card.identity)
        let dump = reader.finish()
        #expect(card.spy.sentPINs.isEmpty)
        let report = try report(dump)
        #expect(report.edition?.version == "008")
        #expect(report.pin1 == CardPINState(triesLeft: 3, isVerified: false))
        #expect(report.withheldFiles == LicenseKind.license.files.filter { $0.access != .free })
        #expect(report.withheld.contains(.name))
        #expect(report.field(.name) == nil)
        #expect(report.warnings.isEmpty)
    }

    @Test("With PIN 1 only: everything but the domicile and the photo")
    func firstPINOnly() throws {
        let card = try FileCard("license/sample.json")
        let (dump, error) = try read(card, [(.pin1, "1234")])
        #expect(error == nil)
        #expect(try report(dump).withheldFiles == [.domicile, .laterDomicile, .photo])
        #expect(card.spy.sentPINs.map(\.p2) == [0x81])
    }

    @Test("A wrong PIN 1 is sent once, PIN 2 is not sent, nothing is read with it")
    func wrongFirst() throws {
        let card = try FileCard("license/sample.json")
        let (dump, error) = try read(card, [(.pin1, "0000"), (.pin2, "5678")])
        guard case .pin(.wrong(_, .count(2)))? = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(card.spy.sentPINs.map(\.text) == ["0000"])
        #expect(
            states(dump).filter { $0.value == .read }.keys.sorted { $0.rawValue < $1.rawValue } == [
                .commonData, .pinSetting,
            ])
        let report = try report(dump)
        #expect(report.edition?.version == "008")
        #expect(report.pin1 == CardPINState(triesLeft: 2, isVerified: false, refusal: .wrong))
        #expect(report.pin2 == CardPINState(triesLeft: 3, isVerified: false))
        #expect(report.json(.english)["withheldReason"] == "wrongPIN")
    }

    @Test("A wrong last try is reported as locked, and a lost answer by the state read after it")
    func triesNow() throws {
        let (locked, _) = try read(try FileCard("license/last-try.json"), [(.pin1, "0000")], consent: .always)
        #expect(try report(locked).pin1 == CardPINState(triesLeft: 0, isVerified: false, refusal: .locked))
        // The answer to VERIFY is lost: the card has counted all the same.
        let faulty = try FileCard(
            "license/sample.json",
            faults: [
                InjectedFaultRule(.silence, .during(4...4), command: 0x20, countsAPDUs: true)
            ])
        let (dump, error) = try read(faulty, [(.pin1, "0000")])
        guard case .pin(.interrupted(_, _, _, .count(2)?))? = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(try report(dump).pin1 == CardPINState(triesLeft: 2, isVerified: false))
    }

    @Test("A wrong PIN 2 keeps the data that PIN 1 opened")
    func wrongSecond() throws {
        let card = try FileCard("license/sample.json")
        let (dump, error) = try read(card, [(.pin1, "1234"), (.pin2, "0000")])
        guard case .pin(.wrong(_, .count(2)))? = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(card.spy.sentPINs.map(\.text) == ["1234", "0000"])
        let report = try report(dump)
        #expect(report.name != nil)
        #expect(report.withheldFiles == [.domicile, .laterDomicile, .photo])
        #expect(report.pin1 == CardPINState(triesLeft: 3, isVerified: true))
        #expect(report.pin2 == CardPINState(triesLeft: 2, isVerified: false, refusal: .wrong))
    }

    @Test("Malformed PINs never reach the card", arguments: ["", "123", "12345", "12a4", "１２３４", "****"])
    func form(text: String) throws {
        for place in 0..<2 {
            var pins = Self.right
            pins[place].1 = text
            let card = try FileCard("license/sample.json")
            let (dump, error) = try read(card, pins)
            guard case .pin(.form)? = error else {
                Issue.record("\(String(describing: error))")
                continue
            }
            #expect(card.spy.sentPINs.isEmpty)
            #expect(try report(dump).pin1?.isVerified == false)
            #expect(try report(dump).name == nil)
        }
    }

    /// A card on which a PIN is not sent without consent, the PINs that are sent then, and those with consent.
    static let guarded: [(card: String, without: [UInt8], with: [UInt8])] = [
        ("locked", [], []), ("last-try", [], [0x81, 0x82]), ("second-last-try", [0x81], [0x81, 0x82]),
        ("unknown-tries", [], [0x81, 0x82]),
    ]

    @Test("Locked, one try left, tries unknown: what is sent without and with consent", arguments: guarded)
    func guardedCards(card name: String, without: [UInt8], with: [UInt8]) throws {
        for (consent, expected) in [(PINConsent.never, without), (.always, with)] {
            let card = try FileCard("license/\(name).json")
            let (dump, error) = try read(card, consent: consent)
            #expect(card.spy.sentPINs.map(\.p2) == expected)
            #expect((error == nil) == (expected.count == 2))
            #expect(try report(dump).edition?.version == "008", "the free data are there all the same")
        }
    }

    @Test("After a failed exchange, no PIN is asked for or sent", arguments: [true, false])
    func failedExchange(isAsked: Bool) throws {
        // The eighth command reads the common data.
        let card = try FileCard("license/sample.json", faults: .once(.silence, atAPDU: 8))
        var reader = try LicenseReader(card.session, card.identity)
        var prompts = 0
        if isAsked {
            reader.verify(
                .asking(consent: .always) { _ in
                    prompts += 1
                    return FileCard.pin("1234")
                })
        } else {
            reader.verify(Self.right.map { ($0.0, FileCard.pin($0.1)) }, consent: .always)
        }
        #expect(prompts == 0)
        #expect(card.spy.frames.count == 8)
        #expect(!reader.finish().isComplete)
        guard case .card? = reader.error else {
            Issue.record("\(String(describing: reader.error))")
            return
        }
    }

    @Test("Without PINs on the card, asterisks are sent, whatever was given")
    func unset() throws {
        let card = try FileCard("license/unset.json")
        let (dump, error) = try read(card, [(.pin1, "1234")])
        #expect(error == nil)
        #expect(card.spy.sentPINs.map(\.text) == ["****", "****"])
        #expect(try report(dump).photo != nil)
        #expect(try report(dump).arePINsSet == false)
    }

    @Test(
        "Where it cannot be read whether PINs are set, nothing else is done",
        arguments: [
            "\"data\": \"050102\"", "\"data\": \"050201\"", "\"data\": \"0501\"", "\"data\": \"\"",
            "\"data\": \"450101\"",
            "\"data\": \"050101\", \"read\": \"6400\"", "\"data\": \"050101\", \"read\": \"never\"",
        ])
    func settingUnreadable(file: String) throws {
        let card = try FileCard("license/sample.json", changes: [("\"data\": \"050101\"", file)])
        do {
            _ = try LicenseReader(card.session, card.identity)
            Issue.record("it was read")
        } catch {
            guard case .pinSettingUnreadable = error else {
                Issue.record("\(error)")
                return
            }
        }
        #expect(!card.spy.frames.contains { $0[1] == 0x20 }, "not even the tries were asked for")
    }

    @Test("The license on a My Number card, ten tries")
    func myNumberLicense() throws {
        let card = try FileCard("license/my-number-licence.json")
        let (dump, error) = try read(card, [(.myNumberLicense, "2580")])
        #expect(error == nil)
        let report = try report(dump)
        #expect(report.kind == .myNumberLicense)
        #expect(report.pin1 == CardPINState(triesLeft: 10, isVerified: true))
        #expect(card.spy.sentPINs.map(\.p2) == [0x86])
        #expect(report.code(.number) == "123456789000")
        #expect(
            report.categories.filter { $0.isHeld == true }.map(\.id) == [
                "twoWheelSmallMoped", "other", "ordinaryMotorcycle", "medium",
            ])
        #expect(report.expires?.description == "2028-07-01")
        #expect(report.photo?.count == 2_000)
        #expect(report.code(.signatureSerial) == "1234567890ABCDEF")
        #expect(report.warnings.isEmpty)
    }

    @Test("A card that refuses SELECT of the master file by its identifier is selected without one")
    func otherRoot() throws {
        let card = try FileCard(
            "license/sample.json",
            changes: [
                (
                    "\"applications\": [",
                    "\"virtual\": {\"answers\": {\"00a4000c023f00\": [\"6a82\"]}}, \"applications\": ["
                )
            ])
        let (dump, error) = try read(card)
        #expect(error == nil)
        #expect(try report(dump).photo != nil)
    }

    @Test("A dump, its JSON and a virtual card made from it give the same report")
    func roundTrip() throws {
        let card = try FileCard("license/gaiji.json")
        let (dump, _) = try read(card)
        let again = try CardDump(parsing: Array(dump.json.prettyText.utf8))
        #expect(again == dump)
        #expect(try report(again) == report(dump))
        let virtual = try FileCard(again)
        var reader = try LicenseReader(virtual.session, virtual.identity)
        let free = reader.finish()
        #expect(try report(free).edition == report(dump).edition)
    }

    static let faults: [InjectedFault] = [
        .silence, .absent, .damaged(status: 0x02), .replaced(by: [0x02, 0x64, 0x00]), .replaced(by: [0x02, 0x90]),
        .truncated(to: 1),
    ]

    @Test("After any fault at any exchange: no PIN is sent twice, and none is in the dump", arguments: faults)
    func everyFault(fault: InjectedFault) throws {
        let changes = [("\"text\": \"1234\"", "\"text\": \"7391\""), ("\"text\": \"5678\"", "\"text\": \"8264\"")]
        for number in 1...60 {
            let card = try FileCard("license/sample.json", changes: changes, faults: .once(fault, atAPDU: number))
            var text = ""
            do throws(FileCardReadingError) {
                var reader = try LicenseReader(card.session, card.identity)
                reader.verify([(.pin1, FileCard.pin("7391")), (.pin2, FileCard.pin("8264"))], consent: .always)
                let dump = reader.finish()
                text = dump.json.compactText
                let report = LicenseDecoder.decode(dump)
                #expect(report != nil)
                if reader.error == nil {
                    #expect(dump.isComplete)
                } else {
                    #expect(report?.photo == nil || report?.pin2?.isVerified == true)
                    if case .card? = reader.error { #expect(!dump.isComplete) }
                    if case .pin(.interrupted)? = reader.error {
                        #expect(!dump.isComplete && report?.warnings.contains { $0.reason == .lost } == true)
                    }
                }
            } catch {
                #expect(!card.spy.frames.contains { $0[1] == 0x20 })
            }
            let sent = card.spy.sentPINs
            #expect(sent.count { $0.p2 == 0x81 } <= 1 && sent.count { $0.p2 == 0x82 } <= 1)
            #expect(!text.contains("37333931") && !text.contains("38323634"))
        }
    }
}
