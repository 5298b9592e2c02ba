// SPDX-License-Identifier: Apache-2.0

import ByteCodec
import CardModel
import CardReading
import ReaderCore
import TestSupport
import Testing
import VirtualReader

/// What a card is by its applications, on virtual cards.
struct CardRecognizerTests {
    static let uid: [UInt8] = [0x04, 0x52, 0x5A, 0x19, 0xB2, 0x1B, 0x80]
    static let payment = "325041592E5359532E4444463031"
    /// Vector PM6 without its status word.
    static let directory =
        "6F2F840E325041592E5359532E4444463031A51DBF0C1A61184F07A0000000031010500A56495341204445424954870101"

    /// A card with these applications, by AID and what SELECT answers.
    static func card(
        _ applications: [(aid: String, information: String)], options: FileCardOptions = FileCardOptions(),
        locked: Bool = false, typeB: Bool = false
    ) throws -> VirtualFileCard {
        let directories = try applications.map {
            VirtualDirectory(
                name: AID($0.aid), information: try Hex.decode($0.information),
                isLocked: locked)
        }
        let interface: ISODEPInterface =
            typeB
            ? .typeB(try #require(TypeBIdentity(pupi: [1, 2, 3, 4])))
            : .typeA(try #require(TypeAIdentity(uid: uid, atqa: 0x0344, sak: 0x20)))
        return VirtualFileCard(interface, files: VirtualFileTree(applications: directories), options: options)
    }

    /// What a card is recognized as.
    static func kinds(_ card: VirtualFileCard, typeB: Bool = false) throws -> [RecognizedCard] {
        let reader = InProcessReader(card)
        let request: ActivationRequest = typeB ? .typeB() : .typeA()
        let picc = try #require(try reader.activate(request))
        return try CardRecognizer(reader: reader, picc: picc, request: request).applications()
    }

    static let applications: [(String, String)] = [
        ("A0000002310100000000000000000000", "licence"), ("A0000002310600000000000000000000", "mynumberLicence"),
        ("D392F000260100000001", "mynumber"), ("D392F0004F0200000000000000000000", "residence"),
        ("A0000002471001", "passport"), ("D2760000850101", "type4"), ("D27600012401", "openpgp"),
    ]

    @Test(arguments: applications, [false, true]) func byItsApplication(
        _ application: (String, String), _ typeB: Bool
    ) throws {
        let kinds = try Self.kinds(Self.card([(application.0, "")], typeB: typeB), typeB: typeB)
        #expect(kinds.map(\.kind.id) == [application.1])
        #expect(kinds.first?.kind.certainty == .certain)
    }

    @Test func recognizesALockedLicense() throws {
        let kinds = try Self.kinds(Self.card([("A0000002310100000000000000000000", "")], locked: true))
        #expect(kinds.map(\.kind.id) == ["licence"])
    }

    @Test func readsOnlyTheSchemeOfAPaymentCard() throws {
        let card = try Self.card([(Self.payment, Self.directory)])
        let kinds = try Self.kinds(card)
        #expect(kinds.map(\.kind.id) == ["emv"])
        #expect(kinds.first?.details.map(\.value) == ["A0000000031010 Visa", "VISA DEBIT"])
        // SELECT and GetVersion; no READ RECORD, no GET PROCESSING OPTIONS, no GET DATA.
        #expect(card.commands.allSatisfy { $0[1] == 0xA4 || $0.starts(with: [0x90, 0x60]) })
        let scheme: [UInt8] = [0xA0, 0x00, 0x00, 0x00, 0x03, 0x10, 0x10]
        #expect(!card.commands.contains { $0.dropFirst(5).starts(with: scheme) })
    }

    @Test func phoneHasSeveralIdentities() throws {
        let card = try Self.card([
            (Self.payment, Self.directory), ("A0000006472F0001", Hex.encode(Array("U2F_V2".utf8))),
            ("D2760000850101", ""),
        ])
        let kinds = try Self.kinds(card)
        #expect(kinds.map(\.kind.id) == ["emv", "fido", "type4"])
        #expect(kinds[1].details.map(\.value) == ["U2F_V2"])
    }

    /// Vector PM7.
    @Test func reportsTheVersionOfADESFireWithoutItsUID() throws {
        var options = FileCardOptions()
        options.answers = [
            try Hex.decode("9060000000"): [try Hex.decode("0401010002180591AF")],
            try Hex.decode("90AF000000"): [
                try Hex.decode("0401010006180591AF"), try Hex.decode("04525A19B21B808E36544D4026049100"),
            ],
        ]
        let kinds = try Self.kinds(Self.card([], options: options))
        #expect(kinds.map(\.kind.id) == ["desfire"])
        #expect(kinds.first?.details.map(\.value) == ["0.2", "0.6", "4096 bytes"])
    }

    @Test func letsTheCardContinueItsChain() throws {
        var options = FileCardOptions()
        options.refusedSelections = [0x0C]
        let kinds = try Self.kinds(Self.card([("A0000002471001", "")], options: options))
        #expect(kinds.map(\.kind.id) == ["passport"])
    }

    @Test func reportsNothingForAnUnknownCard() throws {
        #expect(try Self.kinds(Self.card([])).isEmpty)
        #expect(try Self.kinds(Self.card([("F00102030405", "")])).isEmpty)
    }

    static let broken = [
        "", "6F", "6FFF", "6F02A5", "6F04A502BF0C", "6F08A506BF0C0361014F", "6F84FFFFFFFF", "BF0C00",
        "6F2F840E325041592E5359532E4444463031A51DBF0C1A61184F07A0000000031010500A", "000000000000",
        // A label that is not text.
        "6F2F840E325041592E5359532E4444463031A51DBF0C1A61184F07A0000000031010500A00010203040506070809870101",
    ]

    @Test(arguments: broken) func ignoresABrokenDirectory(_ directory: String) throws {
        let kinds = try Self.kinds(Self.card([(Self.payment, directory)]))
        #expect(kinds.map(\.kind.id) == ["emv"])
        #expect(kinds.first?.details.contains { $0.key == "label" } == false)
    }

    @Test func reportsACardThatLeft() throws {
        let reader = InProcessReader(try Self.card([("A0000002471001", "")]))
        let picc = try #require(try reader.activate(.typeA()))
        reader.field.removeCards()
        #expect(throws: (any Error).self) {
            try CardRecognizer(reader: reader, picc: picc, request: .typeA()).applications()
        }
    }
}
