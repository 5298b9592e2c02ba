// SPDX-License-Identifier: Apache-2.0

import CardDecoders
import CardModel
import CardReading
import ISO7816
import TestSupport
import Testing
import VirtualReader

@Suite("Reading a My Number card")
struct MyNumberReaderTests {
    @Test("Without a PIN: token, certificates byte for byte, tries left of every PIN")
    func free() throws {
        let card = try FileCard("mynumber/card.json")
        var reader = try MyNumberReader(card.session, card.identity)
        let dump = reader.finish()
        let report = try #require(MyNumberDecoder.decode(dump))
        #expect(reader.error == nil)
        #expect(card.spy.sentPINs.isEmpty)
        #expect(report.token == "JPKIAPICCTOKEN2")
        #expect(report.kind == .myNumberCard)
        let expected: [(MyNumberFile, String)] = [
            (.authenticationCertificate, "authentication.der"), (.authenticationCA, "authentication-ca.der"),
            (.signatureCA, "signature-ca.der"),
        ]
        #expect(report.certificates.count == 3)
        for (file, name) in expected {
            #expect(try report.certificates[file] == TestFiles.read("Fixtures/iso7816/mynumber/\(name)"))
        }
        #expect(
            MyNumberPIN.allCases.map { report.pins[$0]?.triesLeft } == [3, 4, 3, 10, 10, 10, 10, 10])
        #expect(report.withheld == [.signatureCertificate, .attributes])
        #expect(report.attributes == nil)
        #expect(report.warnings.isEmpty)
    }

    @Test("With the PIN of four digits: the four items, and the signature certificate stays closed")
    func attributes() throws {
        let card = try FileCard("mynumber/card.json")
        var reader = try MyNumberReader(card.session, card.identity)
        let isVerified = reader.verify(FileCard.pin("2222"), consent: .never)
        #expect(isVerified)
        let dump = reader.finish()
        let report = try #require(MyNumberDecoder.decode(dump))
        #expect(report.attributes?.name == "日本　花子")
        #expect(report.attributes?.address == "東京都千代田区霞が関２－１－２")
        #expect(report.attributes?.birthDate?.description == "1975-06-01")
        #expect(report.attributes?.sex == "2")
        #expect(report.withheld == [.signatureCertificate])
        #expect(report.pins[.cardInput] == CardPINState(triesLeft: 3, isVerified: true))
        #expect(card.spy.sentPINs.map(\.text) == ["2222"])
        #expect(try CardDump(parsing: Array(dump.json.prettyText.utf8)) == dump)
    }

    @Test("A wrong PIN is sent once; a malformed one and a last try never")
    func refused() throws {
        let rows: [(String, String, Int, CardPINState)] = [
            ("card", "0000", 1, CardPINState(triesLeft: 2, isVerified: false, refusal: .wrong)),
            ("card", "22222", 0, CardPINState(triesLeft: 3, isVerified: false, refusal: .form)),
            ("last-try", "2222", 0, CardPINState(triesLeft: 1, isVerified: false, refusal: .lastTry)),
        ]
        for (file, pin, sent, state) in rows {
            let card = try FileCard("mynumber/\(file).json")
            var reader = try MyNumberReader(card.session, card.identity)
            let isVerified = reader.verify(FileCard.pin(pin), consent: .never)
            #expect(!isVerified)
            #expect(card.spy.sentPINs.count == sent)
            let dump = reader.finish()
            #expect(MyNumberDecoder.decode(dump)?.attributes == nil)
            #expect(MyNumberDecoder.decode(dump)?.pins[.cardInput] == state)
            guard case .pin? = reader.error else {
                Issue.record("\(String(describing: reader.error))")
                continue
            }
        }
    }

    @Test("A file that contains no data object does not end the reading", arguments: ["00000000000000", ""])
    func notADataObject(data: String) throws {
        let card = try FileCard("mynumber/card.json", changes: [("\"ff4005df41020100\"", "\"\(data)\"")])
        var reader = try MyNumberReader(card.session, card.identity)
        let isVerified = reader.verify(FileCard.pin("2222"), consent: .never)
        #expect(isVerified)
        let dump = reader.finish()
        #expect(reader.error == nil)
        #expect(dump.isComplete && dump.missing.isEmpty)
        let file = MyNumberFile.cardInputInformation
        #expect(dump.application(file.application.aid)?.file(file.id)?.state == .refused(status: nil))
        let report = try #require(MyNumberDecoder.decode(dump))
        #expect(report.attributes?.name == "日本　花子")
        #expect(report.pins[.cardSurfaceBirth]?.triesLeft == 10)
    }

    @Test("After a failed exchange, no PIN is asked for or sent")
    func failedExchange() throws {
        let card = try FileCard("mynumber/card.json", faults: .once(.silence, atAPDU: 4))
        var reader = try MyNumberReader(card.session, card.identity)
        var isAsked = false
        reader.verify(
            .asking(consent: .always) { _ in
                isAsked = true
                return FileCard.pin("2222")
            })
        #expect(!isAsked)
        #expect(card.spy.frames.count == 4)
        #expect(!reader.finish().isComplete)
        guard case .card? = reader.error else {
            Issue.record("\(String(describing: reader.error))")
            return
        }
    }
}
