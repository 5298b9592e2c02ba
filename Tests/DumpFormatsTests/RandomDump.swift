// SPDX-License-Identifier: Apache-2.0

import CardModel
import TestSupport

/// Cards with any codes, any block numbers and any bytes.
enum RandomDump {
    static func make(seed: UInt64) -> CardDump {
        var random = SeededGenerator(seed: seed &* 0x9E37_79B9_7F4A_7C15)
        var codes: Set<UInt16> = []
        let systems = (0..<Int.random(in: 1...4, using: &random)).compactMap { _ -> SystemDump? in
            let code = UInt16.random(in: 0...0xFFFE, using: &random)
            return codes.insert(code).inserted ? system(code, &random) : nil
        }
        return CardDump(
            complete: true,
            card: CardIdentity(technology: .felica, idm: systems.first?.idm, pmm: systems.first?.pmm), systems: systems)
    }

    private static func system(_ code: UInt16, _ random: inout SeededGenerator) -> SystemDump {
        var known: Set<UInt16> = []
        let services = (0..<Int.random(in: 1...12, using: &random)).compactMap { _ -> ServiceDump? in
            // Bits 1 to 5 of a service code are never all zero: that is an area.
            let code =
                UInt16.random(in: 0...0x3FF, using: &random) << 6 | UInt16.random(in: 0x08...0x17, using: &random)
            return known.insert(code).inserted ? service(code, &random) : nil
        }
        let areas = (0..<Int.random(in: 0...3, using: &random)).map { _ in
            let start = UInt16.random(in: 0...0x3FF, using: &random) << 6
            return AreaDump(start: AreaCode(rawValue: start), end: AreaCode(rawValue: start | 0x3F))
        }
        return SystemDump(
            systemCode: SystemCode(rawValue: code), idm: IDm(rawValue: random.next()),
            pmm: PMm(rawValue: random.next()),
            areas: areas, services: services)
    }

    private static func service(_ code: UInt16, _ random: inout SeededGenerator) -> ServiceDump {
        var blocks: BlockTable = [:]
        let last: UInt16 = Bool.random(using: &random) ? 20 : 0xFFFF
        for _ in 0..<Int.random(in: 1...12, using: &random) {
            let bytes = (0..<16).map { _ in UInt8.random(in: 0...255, using: &random) }
            blocks[UInt16.random(in: 0...last, using: &random)] = Block(bytes)
        }
        let code = ServiceCode(rawValue: code)
        if code.requiresAuthentication { return ServiceDump(code: code, state: .keyRequired) }
        return ServiceDump(code: code, state: .read, blocks: blocks)
    }
}
