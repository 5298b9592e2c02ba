// SPDX-License-Identifier: Apache-2.0

import CardDecoders
import CardModel
import Testing

@Suite("Decoders and what they read")
struct RegistryTests {
    @Test("Ids are unique and found")
    func ids() {
        let ids = DecoderRegistry.standard.decoders.map(\.id)
        #expect(Set(ids).count == ids.count)
        #expect(ids.starts(with: ["transit", "edy"]))
        for id in ids { #expect(DecoderRegistry.standard.decoder(id: id)?.id == id) }
        #expect(DecoderRegistry.standard.decoder(id: "nothing") == nil)
    }

    @Test("Systems are polled in the decoders' order, each once")
    func systems() {
        let twice = DecoderRegistry([CyberneticsDecoder.transit, EdyDecoder(), CyberneticsDecoder.transit])
        #expect(twice.systems == [.transit, .commonArea])
    }

    @Test("The balance needs one block, readable without a key", arguments: DecoderRegistry.standard.decoders.map(\.id))
    func balanceRead(_ id: String) throws {
        let decoder = try #require(DecoderRegistry.standard.decoder(id: id))
        #expect(decoder.balanceRead.blocks.count == 1)
        for request in decoder.historyReads + [decoder.balanceRead] {
            // 0118 of Shenzhen Tong is stated by one source and has no attribute that a manual names.
            #expect(!request.service.requiresAuthentication || request.service.kind == nil)
            #expect(request.system == decoder.system)
            #expect(!request.blocks.isEmpty)
        }
    }

    @Test("What is read is what the cards need")
    func plans() {
        let transit = CyberneticsDecoder.transit
        #expect("\(transit.balanceRead.system)/\(transit.balanceRead.service)" == "0003/008B")
        #expect(
            transit.historyReads.map { "\($0.service) \($0.blocks)" } == ["008B 0..<1", "090F 0..<20", "108F 0..<3"])
        #expect(transit.historyReads.map(\.isRequired) == [true, true, false])
        let edy = EdyDecoder()
        #expect("\(edy.balanceRead.system)/\(edy.balanceRead.service)" == "FE00/1317")
        #expect(edy.historyReads.map { "\($0.service) \($0.blocks)" } == ["1317 0..<1", "170F 0..<6"])
    }

    @Test(
        "A dump with no more than the planned blocks gives the same balance and history",
        arguments: ["suica-p1", "edy"])
    func plansSuffice(_ name: String) throws {
        let whole = try CardFixture(name: name).dump()
        let decoder = try #require(DecoderRegistry.standard.recognising(whole).first)
        let light = try decoder.balance(whole.reduced(to: [decoder.balanceRead]))
        #expect(light.balances == (try decoder.balance(whole).balances))
        #expect(light.warnings.isEmpty)
        let history = try decoder.decode(whole.reduced(to: decoder.historyReads))
        #expect(history.historyReport == (try decoder.decode(whole).historyReport))
        #expect(history.warnings.isEmpty)
    }

    @Test("The system of the transit format is data")
    func otherSystem() throws {
        let other = CyberneticsDecoder(
            id: "other", name: LocalizedText("Other", "他"), system: SystemCode(rawValue: 0x80DE))
        var dump = try CardFixture.suica.dump()
        #expect(!other.recognises(dump))
        dump.systems[0].systemCode = SystemCode(rawValue: 0x80DE)
        #expect(other.recognises(dump))
        #expect(try other.balance(dump).balances.map(\.card) == ["other"])
        #expect(!CyberneticsDecoder.transit.recognises(dump))
    }
}

extension CardDump {
    /// What a reader returns that was asked for these blocks only.
    fileprivate func reduced(to requests: [ReadRequest]) -> CardDump {
        var dump = self
        dump.systems = systems.compactMap { system in
            var system = system
            system.services = system.services.compactMap { service in
                guard
                    let request = requests.first(where: {
                        $0.system == system.systemCode && $0.service == service.code
                    })
                else { return nil }
                var service = service
                service.blocks = service.blocks.filter { request.blocks.contains($0.number) }
                return service
            }
            return system.services.isEmpty ? nil : system
        }
        return dump
    }
}
