// SPDX-License-Identifier: Apache-2.0

import ByteCodec
import CardModel
import ReaderCore
import SimulatedChips
import Testing
import VirtualReader
import USBTransport

@testable import PaSoRiReader

/// Commands and answers of real RC-S300s as they were published, on the simulated one and on the driver.
///
/// Sources: simple-attendance-with-pasori `felica.js` (RC-S300/S, vendor interface), EspUsbHost
/// `rcs300_felica_probe.py` (RC-S300, CCID interface), ezsign-nfc-tools `PROTOCOL.md` (RC-S300/S, type A). IDm, PMm and UID
/// are made up.
struct Port400VectorTests {
    private static let idm = "0101031234567890"
    private static let pmm = "0120220427674EFF"
    private static let uid = "04A8D862BC2B80"

    /// A reader with a card, and what was sent to it and came back.
    struct Log: Sendable, CustomTestStringConvertible {
        let name: String
        let card: Card
        let lines: [(command: String, answer: String)]
        var behavior = Port400Behavior()

        enum Card: Sendable { case none, feliCa, tag }
        var testDescription: String { name }
    }

    private static let well = "C003009000 9000"
    private static let opening: [(String, String)] = [
        ("FF500000028200 00", well), ("FF500000028100 00", well), ("FF500000028300 00", well),
        ("FF500000028400 00", well),
    ]
    private static let toFeliCa = ("FF500002048F020300 00", well)
    private static let toTypeA = "FF500002048F020003 00"

    static let logs: [Log] = [
        Log(
            name: "a FeliCa card", card: .feliCa,
            lines: [("FF560000", "0000010001 00FFFF0401FFFF0100FFFF0000 9000")] + opening + [
                toFeliCa,
                (
                    "FF500001000011 5F4604A0860100 95820006 0600FFFF0100 000000",
                    "C003009000 920100 96020000 97141401\(idm)\(pmm)0003 9000"
                ),
                // A short length, without a request for the system code.
                (
                    "FF5000010F 5F4604A0860100 9506 060000030100 00",
                    "C003009000 920100 96020000 97141401\(idm)\(pmm)0003 9000"
                ),
                // The other instruction.
                (
                    "FFC200010F 5F4604A0860100 9506 060000030100 00",
                    "C003009000 920100 96020000 97141401\(idm)\(pmm)0003 9000"
                ),
            ]),
        Log(
            name: "no FeliCa card", card: .none,
            lines: opening + [
                toFeliCa, ("FF500001000011 5F4604A0860100 95820006 0600FFFF0100 000000", "C003026401 9000"),
            ]),
        Log(
            name: "what is wrong", card: .feliCa,
            lines: [("FF500000028400 00", "C003016301 9000")] + opening + [
                toFeliCa, ("FF50000108 9506060000030100 00", "C003016401 9000"),
                ("FF500002038F0103 00", "C003016700 9000"), ("FF500002048F020900 00", "C003016A81 9000"), toFeliCa,
                // Without CRC either way: the card keeps silent.
                ("FF50000113 5F4604A0860100 90020003 9506060000030100 00", "C003036401 9000"),
            ]),
        // Nothing comes while the field was not off once.
        Log(
            name: "the field was never off", card: .feliCa,
            lines: [
                ("FF500000028100 00", well), ("FF500000028400 00", well), toFeliCa,
                ("FF5000010F 5F4604A0860100 9506060000030100 00", "C003026401 9000"),
            ]),
        Log(
            name: "a tag of type A", card: .tag,
            lines: opening + [
                (toTypeA, "C003009000 8F0100 9000"), ("FFCA0000", "\(uid) 9000"),
                // READ at once, and not after the field was switched on in between.
                (
                    "FF5000010B 5F460410270000 95023000 00",
                    "C003009000 920100 96020000 9710 04A8D8FC62BC2B80\(rest) 9000"
                ),
                ("FF500000028400 00", well), ("FF5000010B 5F460410270000 95023000 00", "C003026401 9000"),
            ]),
        Log(
            name: "no tag of type A", card: .none,
            lines: opening + [(toTypeA, well), ("FFCA0000", "C003016401 9000")], behavior: plain),
    ]

    /// What follows the UID of the simulated tag: BCC, internal byte, lock bytes, capability container.
    private static let rest = "75480000E1101200"

    private static let plain: Port400Behavior = {
        var behavior = Port400Behavior()
        behavior.statusWithoutCard = 0x9000
        return behavior
    }()

    private static func card(_ kind: Log.Card) throws -> [any VirtualCard] {
        switch kind {
        case .none: []
        case .feliCa:
            [try Port100Bench.suica()]
        case .tag:
            try VirtualCardFile.loadCards(
                Array(#"{"schema": "kazasu.card/1", "type2": {"model": "ntag213", "uid": "04a8d862bc2b80"}}"#.utf8))
        }
    }

    @Test(arguments: logs) func simulatedReaderAnswersLikeTheLog(_ log: Log) throws {
        let chip = VirtualPort400(field: VirtualField(cards: try Self.card(log.card)), behavior: log.behavior)
        for (number, line) in log.lines.enumerated() {
            chip.receive(Port400Message.command(try Hex.decode(line.command), sequence: UInt8(number)))
            let answer = try #require(chip.nextTransfer())
            let expected = try Hex.decode(line.answer)
            let header = [0x83, UInt8(expected.count), 0, 0, 0, 0, UInt8(number), 0x02, 0, 0]
            #expect(Hex.encode(answer) == Hex.encode(header + expected), "\(line.command)")
        }
    }

    /// A reader that answers what was logged of a real one, by what a command begins with.
    private final class LoggedReader: VirtualUSBChip {
        nonisolated(unsafe) private var pending: [[UInt8]] = []
        private let answers: [(start: String, answer: String)]

        init(_ answers: [(start: String, answer: String)]) { self.answers = answers }

        func receive(_ transfer: [UInt8]) {
            let command = Hex.encode(Array(transfer.dropFirst(10)), uppercase: true)
            let answer = answers.first { command.hasPrefix($0.start) }?.answer ?? "6A81"
            guard let bytes = try? Hex.decode(answer) else { return }
            pending.append([0x83, UInt8(bytes.count), 0, 0, 0, 0, transfer[6], 0x02, 0, 0] + bytes)
        }

        func nextTransfer() -> [UInt8]? { pending.isEmpty ? nil : pending.removeFirst() }
        var isUnplugged: Bool { false }
        var statistics: USBChipStatistics { USBChipStatistics() }
    }

    private static func reader(_ answers: [(start: String, answer: String)]) throws -> PaSoRiReader {
        let always = [
            (start: "FF56", answer: "000001000100FFFF0401FFFF0100FFFF0000 9000"), ("FF500000", well),
            ("FF500002048F0203", well),
        ]
        return try PaSoRiReader(
            rcs300: VirtualUSBLink(LoggedReader(answers + always)), ReaderInformation(id: "", name: "RC-S300"),
            CancellationToken(), pause: { _ in })
    }

    @Test func readsAPollingAnswer() throws {
        let reader = try Self.reader([
            ("FF500001", "C003009000 920100 96020000 97141401\(Self.idm)0531434546 82B7FF 0003 9000")
        ])
        let found = try reader.activate(.felica(.any, requestCode: 1))
        #expect(
            found
                == .felica(
                    try FeliCaPolling(.any, requestCode: 1).target(
                        from: Hex.decode("1401\(Self.idm)053143454682B7FF0003"), bitRate: .kbps212)))
        #expect(reader.information.name == "RC-S300 (firmware 1.00)")
    }

    @Test(arguments: ["C003036401 9000", "C003006401 9000", "C003009000 9000", "6400"])
    func readsAnEmptySearchResult(_ answer: String) throws {
        #expect(try Self.reader([("FF500001", answer)]).activate(.felica(.any)) == nil)
    }

    @Test func distinguishesRefusalFromSilence() throws {
        let reader = try Self.reader([("FF500001", "C003016401 9000")])
        #expect(throws: TransportError.readerFailed(detail: .init(.status, "6401"))) {
            try reader.activate(.felica(.any))
        }
    }

    /// Whatever becomes of the session, it is begun again once, and then that is reported.
    @Test(arguments: ["C003016301 9000", "C003016985 9000", "C003036301 9000"])
    func reportsAMissingSession(_ answer: String) throws {
        let reader = try Self.reader([("FF500001", answer)])
        #expect(throws: Port400Status.notAllowed) { try reader.activate(.felica(.any)) }
        #expect(throws: Port400Status.notAllowed) { try reader.activate(.felica(.any)) }
    }

    @Test(arguments: [
        // With and without the SAK, the RATS of a card that answers.
        (
            "C003009000 8F0120 9000",
            TypeATarget(uid: [8, 1, 2, 3], sak: 0x20, ats: [5, 0x78, 0x80, 0x70, 2], isISODEP: true)
        ),
        ("C003009000 9000", TypeATarget(uid: [8, 1, 2, 3], ats: [5, 0x78, 0x80, 0x70, 2], isISODEP: true)),
    ])
    func usesTheSelectionOfTheReader(_ answer: String, _ target: TypeATarget) throws {
        let reader = try Self.reader([
            ("FF500002048F020003", answer), ("FFCA0000", "08010203 9000"),
            ("FF500001", "C003009000 920100 96020000 9705 0578807002 9000"),
        ])
        #expect(try reader.activate(.typeA()) == .typeA(target))
    }

    /// A card without RATS; and readers that say in different ways that there is none.
    @Test(arguments: [
        ("C003009000 8F0108 9000", "08010203 9000", TypeATarget(uid: [8, 1, 2, 3], sak: 0x08, isISODEP: false)),
        ("C003009000 9000", "08010203 9000", TypeATarget(uid: [8, 1, 2, 3], isISODEP: false)),
        ("C003016401 9000", "6F00", nil), ("C003016A81 9000", "6F00", nil), ("C003016300 9000", "6F00", nil),
        ("C003009000 9000", "6F00", nil), ("C003009000 9000", "C003016401 9000", nil),
    ])
    func cardsWithoutISODEPAndNoCard(_ answer: String, _ uid: String, _ target: TypeATarget?) throws {
        let reader = try Self.reader([
            ("FF500002048F020003", answer), ("FFCA0000", uid), ("FF500001", "C003046401 9000"),
        ])
        #expect(try reader.activate(.typeA()) == target.map { .typeA($0) })
    }
}
