// SPDX-License-Identifier: Apache-2.0

import CardDecoders
import CardModel
import Testing

/// What `--redact` masks follows from the decoders: whoever marks a field personal must declare its bytes.
@Suite("Personal data")
struct PersonalDataTests {
    private static let data = PersonalData.standard

    /// A dump without its personal bytes.
    private func masked(_ dump: CardDump) -> CardDump {
        var masked = dump
        for system in masked.systems.indices {
            let code = masked.systems[system].systemCode
            for place in masked.systems[system].services.indices {
                let service = masked.systems[system].services[place]
                masked.systems[system].services[place].blocks = BlockTable(
                    service.blocks.map { ($0, Self.data.masked($1, at: $0, of: service.code, in: code)) })
            }
        }
        return masked
    }

    private func personal(_ decoder: any CardDecoder, _ dump: CardDump) -> [String: String] {
        let fields = ((try? decoder.decode(dump))?.fields ?? []).filter(\.isPersonal)
        return Dictionary(fields.map { ($0.key, $0.value) }) { first, _ in first }
    }

    @Test("No personal field survives the masking of a card", arguments: CardFixture.all)
    func survivors(_ fixture: CardFixture) throws {
        let dump = try fixture.dump()
        let masked = masked(dump)
        for decoder in DecoderRegistry.standard.recognizing(dump) {
            let after = personal(decoder, masked)
            for (key, value) in personal(decoder, dump) where value.contains(where: { $0 != "0" }) {
                #expect(after[key] != value, "\(decoder.kind) leaves \(key)")
            }
        }
    }

    @Test("Every byte that changes a personal field is declared", arguments: CardFixture.all)
    func everyByte(_ fixture: CardFixture) throws {
        let dump = try fixture.dump()
        for decoder in DecoderRegistry.standard.recognizing(dump) {
            let before = personal(decoder, dump)
            guard !before.isEmpty else { continue }
            for (place, system) in dump.systems.enumerated() {
                for (index, service) in system.services.enumerated() {
                    func after(_ block: Block, _ number: UInt16) -> [String: String] {
                        var other = dump
                        other.systems[place].services[index].blocks[number] = block
                        return personal(decoder, other)
                    }
                    func masked(_ block: Block, _ number: UInt16) -> Block {
                        Self.data.masked(block, at: number, of: service.code, in: system.systemCode)
                    }
                    // Most blocks have no part in any personal field.
                    for (number, block) in service.blocks where after(Block.ones, number) != before {
                        for offset in 0..<16 {
                            let changed = block.with(offset, block[offset] ^ 0x01)
                            let after = after(changed, number)
                            // A field that is gone (a message whose length is wrong) says nothing of its bytes.
                            let touched = before.contains { key, value in after[key].map { $0 != value } ?? false }
                            #expect(
                                !touched || masked(changed, number) == masked(block, number),
                                "\(decoder.kind): byte \(offset) of \(system.systemCode)/\(service.code) \(number)")
                        }
                    }
                }
            }
        }
    }

    @Test("A decoder whose cards have a personal field declares bytes, and the card is among the fixtures")
    func declared() throws {
        var shown: Set<CardKind> = []
        for fixture in CardFixture.all {
            let dump = try fixture.dump()
            for decoder in DecoderRegistry.standard.recognizing(dump) where !personal(decoder, dump).isEmpty {
                shown.insert(decoder.kind)
                #expect(!decoder.personal.isEmpty, "\(decoder.kind)")
            }
        }
        #expect(
            shown.isSuperset(of: [
                "coop", "edy", "fcf", "felica-lite", "gifu-university", "hcmc", "kmt", "mrtj", "nanaco", "ndef",
                "ryuto", "toyama", "waon",
            ]))
    }

    @Test("Bytes are masked in the blocks and the system that are declared, and in services on the same blocks")
    func places() throws {
        let block = try Dumps.block("00112233445566778899AABBCCDDEEFF")
        func masked(_ number: UInt16, _ service: UInt16, _ system: UInt16?) -> String {
            Self.data.masked(
                block, at: number, of: ServiceCode(rawValue: service), in: system.map { SystemCode(rawValue: $0) }
            ).description
        }
        let half = "00000000000000008899AABBCCDDEEFF"
        let none = "00000000000000000000000000000000"
        #expect(masked(0x82, 0x000B, 0x88B4) == half)
        #expect(masked(0x82, 0x0009, 0x88B4) == half, "the same blocks, for writing")
        #expect(masked(0x84, 0x000B, 0x88B4) == block.description)
        #expect(masked(0x82, 0x000B, 0x0003) == block.description)
        #expect(masked(0, 0x110B, 0xFE00) == none)
        #expect(masked(0, 0x1108, 0xFE00) == none)
        #expect(masked(0, 0x090F, 0x0003) == block.description)
        // Where the system is not known, a byte that is personal anywhere is.
        #expect(masked(0, 0x110B, nil) == none)
        #expect(masked(0, 0x110B, 0x0003) == block.description)
    }

    @Test("Of a card whose layout is not published, only histories and purses stay")
    func unpublished() {
        for decoder in NamedCardDecoder.all {
            for row in decoder.personal { #expect(row.service.kind == .random && row.system == decoder.system) }
        }
        let rakuten = NamedCardDecoder.all.first { $0.kind == "rakuten-point" }
        #expect(rakuten?.personal.map(\.service.description) == ["7B8B"])
    }
}

extension Block {
    fileprivate static let ones = Block([UInt8](repeating: 0x11, count: 16)) ?? .zero
}
