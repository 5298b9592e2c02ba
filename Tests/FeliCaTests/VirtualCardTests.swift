// SPDX-License-Identifier: Apache-2.0

import CardModel
import FeliCa
import ReaderCore
import TestSupport
import Testing
import VirtualReader

/// The commands against virtual cards, which read packets by hand and share no code with this module.
@Suite struct VirtualCardTests {
    static func reader(_ fixture: String) throws -> InProcessReader {
        let bytes = try TestFiles.read("Fixtures/cards/\(fixture)/card.json")
        return InProcessReader(try VirtualCardFile.load(bytes))
    }

    static func system(_ reader: InProcessReader, _ code: SystemCode) throws -> FeliCaSystem {
        let target = try #require(try reader.activateFeliCa(systems: [code]))
        return FeliCaSystem(channel: reader, target: target)
    }

    @Test func listsSystemsAndServicesOfASuica() throws {
        let system = try Self.system(Self.reader("suica-p1"), .transit)
        let systems = try system.requestSystemCode()
        #expect(systems.contains(.transit) && systems.contains(.commonArea))
        #expect(try system.requestResponse() == .initial)
        var found: [SearchedNode] = []
        for index in UInt16.min..<1000 {
            guard let node = try system.searchServiceCode(index: index) else { break }
            found.append(node)
        }
        #expect(found.first == .area(AreaRange(start: .root, end: AreaCode(rawValue: 0xFFFE))))
        #expect(found.contains(.service(ServiceCode(rawValue: 0x090F))))
        let versions = try system.requestService([NodeCode(rawValue: 0x090F), NodeCode(rawValue: 0x0FCF)])
        #expect(versions.map { $0 == nil } == [false, true])
    }

    @Test func readsTheBalanceOfASuicaAndTheEndOfAService() throws {
        let system = try Self.system(Self.reader("suica-p1"), .transit)
        let services = [ServiceCode(rawValue: 0x008B), ServiceCode(rawValue: 0x090F)]
        let both = try system.readWithoutEncryption(
            services: services, blocks: [.init(number: 0), .init(serviceIndex: 1, number: 0)])
        #expect(both.map(\.description) == ["00000000000000002000000A000001E3", "16010002166CE33BE6210A000001E300"])
        #expect(throws: FeliCaError.status(StatusFlags(0x01, 0xA8))) {
            try system.readWithoutEncryption(services: [services[1]], blocks: BlockList(numbers: [20]))
        }
    }

    @Test func pollingReturnsTheSystemCode() throws {
        let reader = try Self.reader("suica-p1")
        _ = try Self.system(reader, .any)
        func poll(_ system: SystemCode) throws(TransportError) -> FeliCaTarget? {
            try FeliCaPolling(system, requestCode: 1).look(at: .kbps212) { frame, time throws(TransportError) in
                try reader.transceive(frame, timeout: time)
            }
        }
        #expect(try poll(.commonArea)?.requestData == SystemCode.commonArea.rawValue)
        #expect(try poll(SystemCode(rawValue: 0x1234)) == nil)
    }

    @Test func feliCaLiteReadsFourBlocksAndIsSilentToOtherCommands() throws {
        let system = try Self.system(Self.reader("felica-lite-s"), .lite)
        let service = [ServiceCode(rawValue: 0x000B)]
        let blocks = try system.readWithoutEncryption(services: service, blocks: BlockList(numbers: 0..<4))
        #expect(blocks.count == 4)
        do {
            _ = try system.readWithoutEncryption(services: service, blocks: BlockList(numbers: 0..<5))
            Issue.record("five blocks were read")
        } catch {
            #expect(error.statusFlags?.flag2 == .wrongBlockCount)
        }
        #expect(throws: FeliCaError.transport(.noAnswer)) { try system.requestSystemCode() }
        try system.echo([UInt8](repeating: 0x5A, count: 75))
    }

    @Test func parsesEveryCommand() throws {
        let idm = IDm(rawValue: 0x0110_0310_A412_ED23)
        let service = ServiceCode(rawValue: 0x0009)
        var profile = CardProfile()
        profile.product.productInformation = [0x18, 0x01]
        profile.product.specificationVersion = [0x00, 0x00, 0x85, 0x01, 0x00, 0x83]
        profile.product.systemStatus = [0x00, 0x01, 0x5A]
        profile.product.containerIssue = Array(0..<16)
        let card = VirtualFeliCaCard(
            systems: [
                VirtualSystem(
                    code: .transit, idm: idm, pmm: PMm(rawValue: .max),
                    nodes: [VirtualNode(service: service, keyVersion: KeyVersion(rawValue: 7))],
                    memory: [service.overlapGroup: BlockStore([Block.zero, .zero])])
            ], profile: profile)
        let system = try Self.system(InProcessReader(card), .transit)
        let nodes = [service.node, NodeCode(rawValue: 0x0049)]
        #expect(try system.requestService(nodes) == [KeyVersion(rawValue: 7), nil])
        #expect(try system.requestServiceV2(nodes).aes == [KeyVersion(rawValue: 7), nil])
        let top = try system.requestCodeList(parent: .system, index: 1)
        #expect(top.areas.map(\.start) == [.root] && top.services.isEmpty && !top.hasMore)
        #expect(try system.requestCodeList(parent: AreaCode.root.node, index: 1).services == [service])
        #expect(try system.requestBlockInformation([service.node]) == [2])
        #expect(try system.requestBlockInformationEx([service.node]).map(\.assigned) == [2])
        #expect(throws: FeliCaError.status(StatusFlags(0xFF, 0xE0))) { try system.getAreaInformation(.root) }
        #expect(try system.getContainerIssueInformation().model == Array(5..<16))
        let version = try system.requestSpecificationVersion()
        #expect(version.basic.description == "5.0.0")
        #expect(version.version(of: .des)?.description == "3.0.0")
        #expect(try system.requestProductInformation() == [0x18, 0x01])
        #expect(try system.getSystemStatus().data == [0x5A])
        try system.resetMode()
        try system.echo([1, 2, 3])
        let written = try counting()
        try system.writeWithoutEncryption(services: [service], blocks: BlockList(numbers: [1]), data: [written])
        #expect(
            try system.readWithoutEncryption(services: [service], blocks: BlockList(numbers: 0...1))
                == [.zero, written])
    }
}
