// SPDX-License-Identifier: Apache-2.0

import CardModel
import ReaderCore
import TestSupport
import Testing
import VirtualReader

/// The cards of the repository: what a dump says can be read from the card that is made of it.
struct FixtureCardTests {
    static let names = TestFiles.names(in: "Fixtures/cards")

    @Test func thereAreSome() {
        #expect(Self.names.count >= 5)
    }

    @Test(arguments: names) func everyBlockOfTheDumpIsOnTheCard(_ name: String) throws {
        let bytes = try TestFiles.read("Fixtures/cards/\(name)/card.json")
        let dump = try CardDump(parsing: bytes)
        let reader = InProcessReader(try VirtualField(cardFile: bytes))
        for system in dump.systems {
            let picc = try reader.activate(.felica(system.systemCode, requestCode: 1))
            let target = FeliCaTarget(
                idm: system.idm, pmm: system.pmm, requestData: system.systemCode.rawValue, bitRate: .kbps212)
            #expect(picc == .felica(target))
            for service in system.services {
                for (number, block) in service.blocks {
                    let answer = try reader.transceive(
                        Self.read(system.idm, service.code, number), timeout: .seconds(1))
                    #expect(Array(answer.dropFirst(10)) == [0, 0, 1] + block.bytes)
                }
                if service.state == .read, dump.card.pmm?.romType != 0x00 {
                    let next = service.blocks.last.map { $0.number + 1 } ?? 0
                    let end = try reader.transceive(Self.read(system.idm, service.code, next), timeout: .seconds(1))
                    #expect(Array(end.dropFirst(10)) == [0x01, 0xA8])
                }
                if service.state == .keyRequired {
                    let refused = try reader.transceive(Self.read(system.idm, service.code, 0), timeout: .seconds(1))
                    #expect(Array(refused.dropFirst(10)) == [0x01, 0xA5])
                }
            }
        }
    }

    /// Read Without Encryption of one block, written out by hand.
    private static func read(_ idm: IDm, _ service: ServiceCode, _ number: UInt16) -> [UInt8] {
        let code = service.rawValue
        let body =
            [0x06] + idm.bytes + [1, UInt8(code & 0xFF), UInt8(code >> 8), 1, 0x00]
            + [UInt8(number & 0xFF), UInt8(number >> 8)]
        return [UInt8(body.count + 1)] + body
    }

    /// The example of a card file in `Docs/virtual-cards.md`.
    @Test func guideExampleIsACard() throws {
        let guide = String(decoding: try TestFiles.read("Docs/virtual-cards.md"), as: UTF8.self)
        let examples = guide.split(separator: "```json\n").dropFirst().compactMap { $0.split(separator: "```").first }
        let card = try VirtualFeliCaCard.from(String(try #require(examples.first)))
        #expect(card.systems.map(\.code) == [.transit, .commonArea])
        #expect(card.systems.first?.blocks(ServiceCode(rawValue: 0x1009)).count == 300)
        #expect(
            card.systems.first?.nodes.map(\.code.description).joined(separator: " ")
                == "0000 0040 0048 008B 090F 1000 1009")
        let faults = try #require(examples.last).dropFirst().drop { $0 != "\"" }
        let text = """
            {"schema": "kazasu.card/1", "idm": "0102030405060708", "pmm": "01368b868fbecbff",
             "systems": [{"code": "0003"}], "virtual": {\(faults)}
            """
        #expect(try VirtualField(cardFile: Array(text.utf8)).cards.count == 1)
    }
}
