// SPDX-License-Identifier: Apache-2.0

// Imported as a stranger does: only public names.
import KazasuTesting
import TestSupport
import Testing

/// FeliCa Standard with its owner's keys by public calls.
struct StandardCardTests {
    /// A transit card whose purse and history need keys; all bytes but the published ones of a Suica are invented.
    private static let closed = """
        {"schema": "kazasu.card/1", "idm": "0101031234567890", "pmm": "0120220427674EFF", "systems": [
          {"code": "0003", "nodes": ["0088", "090C"],
           "blocks": {"0088": ["00000000000000002000000A000001E3"],
                      "090C": ["16010002166CE33BE6210A000001E300", "16010002166BE336E338AA000001E100"]},
           "keys": {"FFFF": "64B34B0A2BC199B1", "0000": "6612317B4FD74F39", "0088": "25BB0E7AF2C9D04D",
                    "090C": "4D0134D6E8B5C6FD"},
           "issueId": "1112131415161718", "issueParameter": "2122232425262728"}]}
        """
    private static let file = """
        0003 FFFF 64B34B0A2BC199B1
        0003 0000 6612317B4FD74F39
        0003 0088 25BB0E7AF2C9D04D
        0003 090C 4D0134D6E8B5C6FD
        """

    private static func keys(_ file: String = file) throws -> StandardKeys {
        var keys = StandardKeys()
        try keys.add(file: Array(file.utf8))
        return keys
    }

    private static func card(_ text: String = closed) throws -> Card {
        try virtualReader(cards: Array(text.utf8)).waitForCard(.feliCa)
    }

    @Test func balanceAndHistory() throws {
        let card = try Self.card()
        #expect(throws: KazasuError.self) { try card.balance() }
        let standard = try card.standard(keys: Self.keys())
        #expect(try standard.balance().balances.map(\.amount) == [10])
        let report = try standard.history()
        #expect(report.historyReport?.records.count == 2)
        // The card answers as before.
        #expect(throws: KazasuError.self) { try card.balance() }
    }

    @Test func decodesADumpThatKeysOpened() throws {
        let dump = try Self.card().standard(keys: Self.keys()).dump().get()
        #expect(dump.systems[0].services.map(\.opened) == [.des, .des])
        #expect(dump.systems[0].issue?.id == Array(0x11...0x18))
        #expect(try dump.balance().balances.map(\.amount) == [10])
        #expect(try dump.history().historyReport?.records.count == 2)
        #expect(throws: DumpDecodingError.self) { try Self.card().dump().get().balance() }
    }

    /// With a wrong key, the reason is the key's; it is sent once.
    @Test func wrongKeys() throws {
        let card = try Self.card()
        let wrong = try card.standard(
            keys: Self.keys(Self.file.replacing("25BB0E7AF2C9D04D", with: "0123456789ABCDEF")))
        let service = ServiceCode(rawValue: 0x0088)
        #expect(throws: KazasuError.standard(.key(.wrongKey, service: service, node: service.node))) {
            try wrong.balance()
        }
        #expect(throws: KazasuError.standard(.key(.keyFailedBefore, service: service, node: service.node))) {
            try wrong.balance()
        }
        #expect(throws: KazasuError.standard(.key(.keyFailedBefore, service: service, node: service.node))) {
            try wrong.read([service])
        }
    }

    @Test func verifies() throws {
        let card = try Self.card()
        let proof = try card.standard(keys: Self.keys()).verify()
        #expect(proof.isGenuine && proof.system == .transit && proof.failures.isEmpty)
        #expect(proof.opened.map(\.description) == ["0088", "090C"])
        #expect(proof.issue?.parameter == Array(0x21...0x28))
        // A key of a service that this card lacks proves nothing against it.
        #expect(try card.standard(keys: Self.keys(Self.file + "\n0003 1008 0123456789ABCDEF")).verify().isGenuine)
        let wrong = Self.file.replacing("4D0134D6E8B5C6FD", with: "0123456789ABCDEF")
        let copy = try card.standard(keys: Self.keys(wrong)).verify()
        #expect(!copy.isGenuine && copy.opened.map(\.description) == ["0088"])
        #expect(copy.failures.keys.map(\.description) == ["090C"])
        #expect(throws: KazasuError.standard(.noKeys(.transit))) {
            try card.standard(keys: Self.keys("FE00 0048 0123456789ABCDEF")).verify()
        }
    }

    /// A planned write is shown, done once, and not done again.
    @Test func writes() throws {
        let card = try Self.card().standard(keys: Self.keys())
        let block = try #require(Block([UInt8](repeating: 7, count: 16)))
        let planned = try card.plan(BlockWrite(ServiceCode(rawValue: 0x0088), block: 0, .blocks([block])))
        #expect(planned.blocks.map(\.after) == [block] && planned.opened == .des && !planned.isDone)
        #expect(try card.write(planned))
        #expect(try card.read([ServiceCode(rawValue: 0x0088)]).system.services[0][0] == block)
        #expect(throws: KazasuError.blockWrite(.changed(block: 0))) { try card.write(planned) }
        #expect(throws: KazasuError.blockWrite(.notNewest(ServiceCode(rawValue: 0x090C)))) {
            try card.plan(BlockWrite(ServiceCode(rawValue: 0x090C), block: 1, .blocks([block])))
        }
    }

    @Test func changesKeys() throws {
        let card = try Self.card().standard(keys: Self.keys())
        let new = try Self.keys("0003 0088 0123456789ABCDEF 0007")
        #expect(try card.keyChanges(to: new).map(\.node.description) == ["0088"])
        nonisolated(unsafe) var steps: [StandardStep] = []
        try card.changeKeys(to: new) { step throws(KazasuError) in steps.append(step) }
        let node = NodeCode(rawValue: 0x0088)
        #expect(steps == [.key(node), .keyProved(node), .done])
        #expect(throws: KazasuError.keyChange(.sameVersion(node))) { try card.keyChanges(to: new) }
        try card.changeKeys(
            to: new, resuming: [StandardKeyChange(node: node, from: .init(rawValue: 0), to: .init(rawValue: 7))]
        ) {
            _ throws(KazasuError) in
        }
    }

    @Test func keysOneByOne() throws {
        var keys = StandardKeys()
        let key = try #require(StandardKey([0x64, 0xB3, 0x4B, 0x0A, 0x2B, 0xC1, 0x99, 0xB1]))
        let other = try #require(StandardKey([UInt8](repeating: 7, count: 8)))
        #expect(StandardKey([1, 2, 3]) == nil && "\(key)" == "Redacted")
        let isNew = keys.add(key, of: .system, in: .transit)
        let isKnown = keys.add(key, of: .system, in: .transit)
        let isOther = keys.add(other, of: .system, in: .transit)
        #expect(isNew && isKnown && !isOther)
        #expect(keys.systems == [.transit])
    }

    @Test func otherCards() throws {
        let lite = try virtualReader(cards: TestFiles.read("Fixtures/felica/lite-s.json")).waitForCard(.any)
        #expect(throws: KazasuError.standard(.notStandard)) { try lite.standard() }
        let tag = try virtualReader(cards: TestFiles.read("Fixtures/virtual/ntag213.json")).waitForCard(.any)
        #expect { try tag.standard() } throws: { error in
            if case KazasuError.wrongCard = error { true } else { false }
        }
    }

    /// Without a need, keys cost no byte: the same frames are sent with and without them.
    @Test func openCardCostsNothing() throws {
        let file = try TestFiles.read("Fixtures/cards/suica-p1/card.json")
        let keys = try Self.keys(Self.file + "\n0003 090C 4D0134D6E8B5C6FD\n0003 090A 4D0134D6E8B5C6FE")
        func frames(_ read: (Card) throws -> Void) throws -> [[UInt8]] {
            let virtual = try virtualReader(cards: file)
            defer { virtual.close() }
            let device = CountingReader(virtual.device)
            let reader = CardReader(device, cancellation: CancellationToken())
            try read(reader.waitForCard(.purse))
            return device.sent
        }
        let plain = try frames {
            _ = try $0.balance()
            _ = try $0.history()
        }
        let keyed = try frames {
            let card = try $0.standard(keys: keys)
            _ = try card.balance()
            _ = try card.history()
        }
        #expect(plain.count > 1 && plain == keyed)
    }

    private final class CountingReader: Reader {
        private let reader: any Reader
        private(set) var sent: [[UInt8]] = []

        init(_ reader: any Reader) { self.reader = reader }

        var information: ReaderInformation { reader.information }
        func activate(_ request: ActivationRequest) throws(TransportError) -> PICC? {
            sent.append(Array("\(request)".utf8))
            return try reader.activate(request)
        }
        func transceive(_ frame: [UInt8], timeout: Duration) throws(TransportError) -> [UInt8] {
            sent.append(frame)
            return try reader.transceive(frame, timeout: timeout)
        }
        func close() { reader.close() }
    }
}
