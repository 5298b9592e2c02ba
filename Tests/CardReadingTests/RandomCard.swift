// SPDX-License-Identifier: Apache-2.0

import CardModel
import VirtualReader

/// Cards made by chance, the same for the same seed: services of any size, any style of status flags, any limit.
struct RandomCard {
    let card: VirtualFeliCaCard
    /// The blocks of each service.
    let blocks: [ServiceCode: BlockTable]
    let description: String

    init(seed: UInt64, style: String, limit: Int, overLimit: String = "A2", pmm: String = "01998b868fbecbff") throws {
        var random = Generator(state: seed &* 0x9E37_79B9_7F4A_7C15 &+ 1)
        var services: [(String, JSONValue)] = []
        var expected: [ServiceCode: BlockTable] = [:]
        var number: UInt16 = 0
        for _ in 0..<Int(random.next(9) + 1) {
            number += UInt16(random.next(12) + 1)
            let attribute: UInt16 = [0x09, 0x0B, 0x0D, 0x0F, 0x17][Int(random.next(5))]
            let code = ServiceCode(rawValue: number << 6 | attribute)
            let count = [0, 1, 2, 3, 4, 5, 8, 9, 12, 13, 15, 16, 20, 30, 33][Int(random.next(15))]
            let blocks = (0..<count).compactMap { _ in Block((0..<16).map { _ in UInt8(random.next(256)) }) }
            services.append((code.description, .array(blocks.map { .string($0.description) })))
            expected[code] = BlockTable(blocks.enumerated().map { (UInt16($0), $1) })
        }
        let file: JSONValue = [
            "schema": "kazasu.card/1", "idm": "0102030405060708", "pmm": .string(pmm),
            "systems": [["code": "8ABC", "blocks": .object(JSONObject(services))]],
            "virtual": [
                "statusStyle": .string(style), "blocksPerRead": .int(limit), "overLimit": .string(overLimit),
            ],
        ]
        description = file.compactText
        card = try VirtualCardFile.load(Array(description.utf8))
        blocks = expected
    }

    /// A small generator (Knuth's MMIX constants) whose numbers do not change with the library's.
    struct Generator {
        var state: UInt64

        mutating func next(_ bound: UInt64) -> UInt64 {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return (state >> 33) % bound
        }
    }
}
