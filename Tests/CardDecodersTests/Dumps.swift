// SPDX-License-Identifier: Apache-2.0

import ByteCodec
import CardModel

/// Makes dumps of single services.
enum Dumps {
    static let attribute: ServiceCode = ServiceCode(rawValue: 0x008B)
    static let history: ServiceCode = ServiceCode(rawValue: 0x090F)
    static let edyPurse: ServiceCode = ServiceCode(rawValue: 0x1317)
    static let edyHistory: ServiceCode = ServiceCode(rawValue: 0x170F)
    static let edyNumber: ServiceCode = ServiceCode(rawValue: 0x110B)

    static func card(_ system: SystemCode, _ services: [ServiceDump]) -> CardDump {
        let (idm, pmm) = (IDm(rawValue: 0x0101_0203_0405_0607), PMm(rawValue: 0x0120_2204_2767_4EFF))
        return CardDump(
            card: CardIdentity(technology: .felica, idm: idm, pmm: pmm),
            systems: [SystemDump(systemCode: system, idm: idm, pmm: pmm, services: services)])
    }

    static func service(_ code: ServiceCode, _ blocks: [Block]) -> ServiceDump {
        ServiceDump(
            code: code, state: .read,
            blocks: BlockTable(zip(UInt16(0)..., blocks)))
    }

    static func transit(_ history: [Block], attribute: Block? = nil) -> CardDump {
        card(.transit, (attribute.map { [service(Dumps.attribute, [$0])] } ?? []) + [service(Dumps.history, history)])
    }

    static func edy(_ history: [Block], purse: Block? = nil, number: Block? = nil) -> CardDump {
        card(
            .commonArea,
            [(edyNumber, number), (edyPurse, purse)].compactMap { code, block in block.map { service(code, [$0]) } }
                + [service(edyHistory, history)])
    }

    /// A block from 32 digits.
    static func block(_ hex: String) throws -> Block {
        guard let block = Block(try Hex.decode(hex)) else { throw NoBlock(hex: hex) }
        return block
    }

    struct NoBlock: Error {
        let hex: String
    }
}

extension Block {
    /// This block with one byte changed.
    func with(_ offset: Int, _ byte: UInt8) -> Block {
        var bytes = self.bytes
        bytes[offset] = byte
        return Block(bytes) ?? .zero
    }
}
