// SPDX-License-Identifier: Apache-2.0

import Kazasu
import TestSupport
import Testing

@Suite("Messages of the facade's errors")
struct KazasuErrorTests {
    private enum Kind: CaseIterable {
        case noReader, unknownReader, reader, unreadableFile, badFile, noSimulatedReader, cannotLink, noCard, wrongCard,
            reading
        case heard, severalCards, refused, decoding, fileCard, apdu, tag, lite, classic, standard, blockWrite, keyChange
        case provision, desfire, provisionDESFire
        case cancelled
    }

    private static let suica = PICC.felica(
        FeliCaTarget(
            idm: IDm(rawValue: 0x0101_0312_3456_7890), pmm: PMm(rawValue: 0), requestData: 0x0003, bitRate: .kbps212))

    @Test("T7: a card that needs keys is named, and a refusal is not called leaving")
    func classic() throws {
        let reader = try openReader("virtual:\(TestFiles.root)/Fixtures/virtual/classic-1k.json")
        let card = try reader.waitForCard(.first(of: [.typeA]))
        do {
            _ = try card.dump()
            Issue.record("nothing can be dumped without keys")
        } catch {
            #expect(error.message.english.hasPrefix("nothing on this card (MIFARE Classic 1K"))
            #expect(error.message.english.hasSuffix("can be read without a key"))
        }
        do {
            _ = try card.transceive([0x30, 4])
            Issue.record("a block cannot be read without a key")
        } catch {
            #expect(error.message.english == "the card did not answer: it left, or it does not accept this command")
        }
    }

    @Test("Every case describes itself")
    func cases() {
        let busy = ReaderListing(
            id: "rcs380", state: .unavailable(.busy, detail: .init(.heldByProgram)))
        let serial = ReaderListing(id: "pn532_uart:/dev/ttyUSB0", state: .unknown)
        let decoding = CardDecodingError(
            kind: "edy", field: "balance", system: .commonArea, service: ServiceCode(rawValue: 0x1317), block: 0,
            offset: 0, reason: .noSuchService)
        let errors: [KazasuError] = [
            .noReader([]), .noReader([serial]), .noReader([serial, busy]), .unknownReader("rcs390"),
            .reader(.readerTimeout, id: "rcs380"), .unreadableFile("card.json", errno: 2),
            .badFile("card.json", .missing(key: "card")), .noSimulatedReader(errno: 28), .cannotLink("link", errno: 17),
            .cannotLink("link", errno: 13), .noCard, .heard(.unstarted(.typeA)), .severalCards([nil, nil]),
            .severalCards([LocalizedText("Suica", "Suica"), nil]),
            .wrongCard(WrongCard(Self.suica, .noISODEP)), .reading(.cardLost),
            .refused(ServiceCode(rawValue: 0x090F), .silence), .decoding(decoding), .fileCard(.otherCard),
            .apdu(.selectionLost), .tag(.badAnswer), .lite(.locked), .classic(.noKey(sector: 1)),
            .standard(.notStandard), .blockWrite(.unconfirmed), .keyChange(.nothingToChange), .provision(.alreadySetUp),
            .provisionDESFire(.tooOld),
            .desfire(.wrongKey), .cancelled,
        ]
        checkSentences(errors) { error -> Kind in
            switch error {
            case .noReader: .noReader
            case .unknownReader: .unknownReader
            case .reader: .reader
            case .unreadableFile: .unreadableFile
            case .badFile: .badFile
            case .noSimulatedReader: .noSimulatedReader
            case .cannotLink: .cannotLink
            case .noCard: .noCard
            case .heard: .heard
            case .severalCards: .severalCards
            case .wrongCard: .wrongCard
            case .reading: .reading
            case .refused: .refused
            case .decoding: .decoding
            case .fileCard: .fileCard
            case .apdu: .apdu
            case .tag: .tag
            case .lite: .lite
            case .classic: .classic
            case .standard: .standard
            case .blockWrite: .blockWrite
            case .keyChange: .keyChange
            case .provision: .provision
            case .provisionDESFire: .provisionDESFire
            case .desfire: .desfire
            case .cancelled: .cancelled
            }
        }
        #expect(errors[1].description == "no reader was detected")
        #expect(errors[2].description == "the reader is in use: rcs380: another program is using it")
        #expect(errors[5].description == "card.json cannot be read: no such file or folder")
        #expect(errors[6].description == "card.json: card is missing")
    }

    private enum Reason: CaseIterable { case kind, noSystem, noISODEP, noService, otherThanDump }

    @Test("Every wrong card is named, never numbered")
    func wrongCards() {
        let names = [LocalizedText("NTAG213", "NTAG213")]
        let tag = PICC.typeA(TypeATarget(uid: [4, 1, 2, 3, 4, 5, 6], isISODEP: false))
        let cards =
            CardQuery.Kind.allCases.map { WrongCard(tag, .kind(wanted: $0)) } + [
                WrongCard(tag, names: names, .kind(wanted: .feliCa)), WrongCard(Self.suica, .noSystem([])),
                WrongCard(Self.suica, .noSystem([.octopus, .ndef])), WrongCard(.typeB(TypeBTarget()), .noISODEP),
                WrongCard(Self.suica, .noService(.commonArea, kinds: [.edy])),
                WrongCard(Self.suica, .noService(nil, kinds: [.edy, .nanaco, .waon, .octopus])),
                WrongCard(Self.suica, .otherThanDump),
            ]
        checkSentences(cards) { card -> Reason in
            switch card.reason {
            case .kind: .kind
            case .noSystem: .noSystem
            case .noISODEP: .noISODEP
            case .noService: .noService
            case .otherThanDump: .otherThanDump
            }
        }
        #expect(cards.map(\.description).contains("wrong kind of card (NTAG213): expected a FeliCa card"))
        #expect(!cards.contains { $0.description.contains("1234") || $0.description.contains("0401") })
    }
}
