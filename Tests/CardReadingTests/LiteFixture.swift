// SPDX-License-Identifier: Apache-2.0

import ByteCodec
import CardModel
import CardReading
import FeliCa
import ReaderCore
import Testing
import VirtualReader

/// Virtual FeliCa Lite-S cards, and channels to them.
enum LiteFixture {
    static let idm = IDm(rawValue: 0x012E_4CE4_4505_5B87)
    static let key: [UInt8] = (0x41...0x50).map { UInt8($0) }

    static func liteKey(_ bytes: [UInt8] = key) throws -> LiteKey { try #require(LiteKey(bytes)) }

    static func card(
        _ kind: LiteMemory.Kind = .liteS, idm: IDm = idm, key: [UInt8]? = nil, _ blocks: BlockTable = [:]
    ) -> VirtualFeliCaCard {
        var all = blocks
        if let key { all[0x87] = Block(key) }
        let pmm = PMm(rawValue: kind == .liteS ? 0x00F1_0000_0001_4300 : 0x00F0_0000_0001_4300)
        return VirtualFeliCaCard(lite: LiteMemory(kind: kind, idm: idm, pmm: pmm, blocks: all))
    }

    /// Polls for a card and makes a channel to it.
    static func channel(
        _ card: any VirtualCard, _ faults: InjectedFaults = [], longestAnswer: Int = 255
    ) throws -> LiteChannel {
        let field = VirtualField(cards: [card])
        let information = ReaderInformation(
            id: "in-process", name: "Virtual reader", longestFeliCaAnswer: longestAnswer)
        let reader = InProcessReader(field, information: information)
        guard case .felica(let target)? = try reader.activate(.felica(.lite)) else { throw ReadingError.cardLost }
        // The faults are counted from the first exchange after the search.
        field.plan(InjectedFaults(faults.rules.map { $0.moved(by: 1) }))
        return LiteChannel(CardSession(reader: reader, target: target))
    }

    static func block(_ hex: String) throws -> Block { try #require(Block(Hex.decode(hex))) }
}

extension InjectedFaultRule {
    fileprivate func moved(by count: Int) -> InjectedFaultRule {
        guard case .during(let range) = moment else { return self }
        var rule = self
        rule.moment = .during(range.lowerBound + count...max(range.upperBound, range.upperBound &+ count))
        return rule
    }
}
