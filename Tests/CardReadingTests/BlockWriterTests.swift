// SPDX-License-Identifier: Apache-2.0

import ByteCodec
import CardModel
import CardReading
import FeliCa
import ReaderCore
import TestSupport
import Testing
import VirtualReader

/// Writing services of FeliCa Standard, with and without keys, and what interrupts it: each block is the old or the new
/// one, and the answer says which.
struct BlockWriterTests {
    /// Purses hold 5000, of which 700 may be given back.
    private static let purse = "881300 00 BC020000 75736572 0A0B 0007".filter { $0 != " " }

    private static let card = """
        {"schema": "kazasu.card/1", "idm": "010A4B0012345678", "pmm": "0144220427674EFF", "systems": [
          {"code": "0003", "nodes": ["1000-1FFE", "1408", "140A", "148C", "14D2", "14D4", "1510", "2009", "200B", "2053"],
           "blocks": {"1408": 300, "148C": 3, "14D2": ["\(purse)"], "1510": ["\(purse)"], "2009": 20,
                      "2053": ["\(purse)"]},
           "keys": {"FFFF": "64B34B0A2BC199B1", "0000": "6612317B4FD74F39", "1000": "EFAA8C23162FBB60",
                    "1408": "A989255BF6DACD10", "140A": "4D0134D6E8B5C6FD", "148C": "25BB0E7AF2C9D04D",
                    "14D2": "4DEAC542F287241F", "14D4": "93281FA024436061", "1510": "8DEAC542F287241F"}},
          {"code": "FE00", "nodes": ["0048"], "blocks": {"0048": 20},
           "aesKeys": {"0048": "0F0E0D0C0B0A09080706050403020100"}}]}
        """
    private static let file = """
        0003 FFFF 64B34B0A2BC199B1
        0003 0000 6612317B4FD74F39
        0003 1000 EFAA8C23162FBB60
        0003 1408 A989255BF6DACD10
        0003 140A 4D0134D6E8B5C6FD
        0003 148C 25BB0E7AF2C9D04D
        0003 14D2 4DEAC542F287241F
        0003 14D4 93281FA024436061
        0003 1510 8DEAC542F287241F
        FE00 0048 0F0E0D0C0B0A09080706050403020100
        """

    private static func block(_ byte: UInt8) -> Block { Block([UInt8](repeating: byte, count: 16)) ?? .zero }

    /// A card on a reader, and the writer for one of its systems.
    private struct Stand {
        let card: VirtualFeliCaCard
        let field: VirtualField
        let reader: InProcessReader
        let writer: BlockWriter

        init(
            _ system: SystemCode = .transit, keys: String? = BlockWriterTests.file,
            _ profile: (inout CardProfile) -> Void = { _ in },
            behind change: ((VirtualFeliCaCard) -> any VirtualCard)? = nil
        ) throws {
            let loaded = try VirtualCardFile.load(Array(BlockWriterTests.card.utf8))
            var own = loaded.profile
            profile(&own)
            card = VirtualFeliCaCard(systems: loaded.systems, profile: own)
            field = VirtualField(cards: [change?(card) ?? card])
            reader = InProcessReader(field)
            guard case .felica(let target)? = try reader.activate(.felica(system)) else { throw ReadingError.cardLost }
            var keyring: StandardKeyring?
            if let keys {
                var all = StandardKeys()
                try all.add(file: Array(keys.utf8))
                keyring = StandardKeyring(all)
            }
            writer = BlockWriter(
                session: CardSession(reader: reader, target: target),
                system: SystemHandle(code: system, idm: target.idm, pmm: target.pmm), keyring: keyring)
        }

        /// The blocks of a service, as the card has them.
        func blocks(_ service: UInt16, _ numbers: Range<UInt16>) -> [Block] {
            let code = ServiceCode(rawValue: service)
            return card.systems.filter { $0.node(service) != nil }.flatMap { system in
                numbers.compactMap { system.blocks(code)[$0] }
            }
        }

        func write(_ write: BlockWrite) throws -> Bool { try writer.run(writer.plan(write)) }
    }

    private static func write(_ service: UInt16, _ number: UInt16 = 0, _ content: BlockWrite.Content) -> BlockWrite {
        BlockWrite(ServiceCode(rawValue: service), block: number, content)
    }

    struct Case: CustomTestStringConvertible, Sendable {
        let id: String
        var system = SystemCode.transit
        let write: BlockWrite
        let opened: StandardScheme?
        var testDescription: String { id }
    }

    static let cases = [
        Case(id: "one block with DES", write: write(0x1408, 3, .blocks([block(0xA1)])), opened: .des),
        Case(id: "twelve blocks", write: write(0x1408, 1, .blocks((1...12).map { block($0) })), opened: .des),
        Case(id: "a block beyond 255", write: write(0x1408, 299, .blocks([block(7)])), opened: .des),
        Case(id: "one entry of a log", write: write(0x148C, 0, .blocks([block(1), block(2)])), opened: .des),
        Case(id: "a debit", write: write(0x14D4, 0, .decrement(1200)), opened: .des),
        Case(id: "a debit that can be given back", write: write(0x14D2, 0, .decrement(5000)), opened: .des),
        Case(id: "cashback", write: write(0x14D2, 0, .cashback(700)), opened: .des),
        Case(id: "a purse as a block", write: write(0x1510, 0, .blocks([block(9)])), opened: .des),
        Case(id: "one block without a key", write: write(0x2009, 19, .blocks([block(0xA1)])), opened: nil),
        Case(id: "eight without a key", write: write(0x2009, 2, .blocks((1...8).map { block($0) })), opened: nil),
        Case(id: "cashback without a key", write: write(0x2053, 0, .cashback(1)), opened: nil),
        Case(
            id: "thirteen blocks with AES", system: .commonArea,
            write: write(0x0048, 5, .blocks((1...13).map { block($0) })), opened: .aes),
    ]

    /// A write goes to the card once, and is planned as the card then has it.
    @Test(arguments: cases)
    func writes(_ row: Case) throws {
        let stand = try Stand(row.system)
        let (service, numbers) = (row.write.service.rawValue, row.write.numbers)
        let range = (numbers.first ?? 0)..<(numbers.last ?? 0) + 1
        let before = stand.blocks(service, range)
        let planned = try stand.writer.plan(row.write)
        #expect(planned.opened == row.opened)
        #expect(planned.blocks.map(\.before) == before && planned.blocks.map(\.number) == numbers)
        #expect(stand.blocks(service, range) == before)
        #expect(try stand.writer.run(planned))
        #expect(stand.blocks(service, range) == planned.blocks.map(\.after))
        // The card is in mode 0 again.
        #expect(try stand.reader.activate(.felica(row.system)) != nil)
        if case .blocks = row.write.content { #expect(try stand.write(row.write) == false) }
    }

    /// The value, what was taken last and the user's data; the execution ID differs in its last two bytes.
    @Test(arguments: [2, 4])
    func purses(_ length: Int) throws {
        let stand = try Stand { $0.executionIDLength = length }
        for (content, expected) in [
            (BlockWrite.Content.decrement(1200), "D80E0000B0040000757365720A0B0008"),
            (.decrement(3800), "00000000D80E0000757365720A0B0009"),
            (.cashback(3000), "B80B000000000000757365720A0B000A"),
        ] {
            #expect(try stand.write(Self.write(0x14D2, 0, content)))
            #expect(stand.blocks(0x14D2, 0..<1).map(\.description) == [expected])
        }
        #expect(throws: BlockWriteError.purseRange(value: 3000, last: 0)) {
            try stand.write(Self.write(0x14D2, 0, .decrement(3001)))
        }
        #expect(throws: BlockWriteError.purseRange(value: 3000, last: 0)) {
            try stand.write(Self.write(0x14D2, 0, .cashback(1)))
        }
    }

    /// Nothing is sent that writes.
    @Test func refusals() throws {
        func code(_ service: UInt16) -> ServiceCode { ServiceCode(rawValue: service) }
        let one = BlockWrite.Content.blocks([.zero])
        let rows: [(BlockWrite, BlockWriteError)] = [
            (Self.write(0x140A, 0, one), .notAllowed(code(0x140A), .write)),
            (Self.write(0x200B, 0, one), .notAllowed(code(0x200B), .write)),
            (Self.write(0x14D2, 0, one), .notAllowed(code(0x14D2), .write)),
            (Self.write(0x1408, 0, .decrement(1)), .notAllowed(code(0x1408), .decrement)),
            (Self.write(0x1510, 0, .decrement(1)), .notAllowed(code(0x1510), .decrement)),
            (Self.write(0x14D4, 0, .cashback(1)), .notAllowed(code(0x14D4), .cashback)),
            (Self.write(0x0007, 0, one), .notAllowed(code(0x0007), .write)),
            (Self.write(0x1428, 0, one), .notAllowed(code(0x1428), .write)),
            (Self.write(0x148C, 1, one), .notNewest(code(0x148C))),
            (Self.write(0x1408, 300, one), .noSuchBlock(code(0x1408), 300)),
            (Self.write(0x1408, 299, .blocks([.zero, .zero])), .noSuchBlock(code(0x1408), 300)),
            (Self.write(0x1408, .max, .blocks([.zero, .zero])), .noSuchBlock(code(0x1408), .max)),
            (Self.write(0x148C, 0, .blocks(Array(repeating: .zero, count: 4))), .noSuchBlock(code(0x148C), 3)),
            (Self.write(0x1408, 0, .blocks(Array(repeating: .zero, count: 13))), .tooManyBlocks(13, most: 12)),
            (Self.write(0x1408, 0, .blocks([])), .tooManyBlocks(0, most: 12)),
            (Self.write(0x2009, 0, .blocks(Array(repeating: .zero, count: 14))), .tooManyBlocks(14, most: 13)),
            (Self.write(0x14D4, 0, .decrement(5001)), .purseRange(value: 5000, last: 700)),
            (Self.write(0x14D2, 0, .cashback(701)), .purseRange(value: 5000, last: 700)),
            (
                Self.write(0x1048, 0, one),
                .key(.key(.noKey, service: code(0x1048), node: NodeCode(rawValue: 0x1048)))
            ),
        ]
        for (write, error) in rows {
            let stand = try Stand()
            let before = stand.card.systems
            #expect(throws: error, "\(write)") { try stand.write(write) }
            #expect(stand.card.systems == before)
        }
        let without = try Stand(keys: nil)
        let sent = without.field.statistics.exchanges
        #expect(throws: BlockWriteError.key(.key(.noKey, service: code(0x1408), node: NodeCode(rawValue: 0x1408)))) {
            try without.write(Self.write(0x1408, 0, one))
        }
        #expect(without.field.statistics.exchanges == sent)
    }

    /// A card that was changed after it was shown is not written.
    @Test func changedMeanwhile() throws {
        let stand = try Stand()
        let planned = try stand.writer.plan(Self.write(0x14D4, 0, .decrement(100)))
        #expect(try stand.write(Self.write(0x14D4, 0, .decrement(1))))
        #expect(throws: BlockWriteError.changed(block: 0)) { try stand.writer.run(planned) }
        #expect(stand.blocks(0x14D4, 0..<1)[0].uint32(at: 0, .little) == 4999)
    }

    /// A card that says that it wrote, and did not.
    @Test func liar() throws {
        let deaf = try Stand(
            behind: { card in
                TamperedCard(card) { command, answer in
                    guard command[1] == 0x06, var answer, answer.frame.count == 29 else { return answer }
                    answer.frame.replaceSubrange(13..., with: [UInt8](repeating: 0, count: 16))
                    return answer
                }
            })
        #expect(throws: BlockWriteError.notVerified(block: 0)) {
            try deaf.write(Self.write(0x2009, 0, .blocks([Self.block(1)])))
        }
    }

    // MARK: Interruptions

    /// What an answer says about the card.
    private enum Claim { case old, new, either }

    private static func claim(_ result: Result<Bool, any Error>) -> Claim {
        switch result {
        case .success: .new
        case .failure(BlockWriteError.notReadBack): .new
        case .failure(BlockWriteError.unconfirmed): .either
        case .failure: .old
        }
    }

    private static func check(
        _ row: Case, _ faults: InjectedFaults, _ what: String
    ) throws -> Result<Bool, any Error> {
        let stand = try Stand(row.system)
        let numbers = row.write.numbers
        let range = (numbers.first ?? 0)..<(numbers.last ?? 0) + 1
        let before = stand.blocks(row.write.service.rawValue, range)
        let after = try row.write.expected(before)
        stand.field.plan(faults.moved(by: stand.field.statistics.exchanges))
        let result = Result { try stand.write(row.write) }
        let found = stand.blocks(row.write.service.rawValue, range)
        #expect(found == before || found == after, "\(what)")
        switch claim(result) {
        case .new: #expect(found == after, "\(what): \(result)")
        case .old: #expect(found == before, "\(what): \(result)")
        case .either: break
        }
        return result
    }

    private static func exchanges(_ row: Case) throws -> Int {
        let stand = try Stand(row.system)
        let before = stand.field.statistics.exchanges
        _ = try stand.write(row.write)
        return stand.field.statistics.exchanges - before
    }

    /// The card leaves at each exchange, before it carries the command out and after.
    @Test(arguments: cases)
    func leavesAtEveryExchange(_ row: Case) throws {
        for place in 1...(try Self.exchanges(row)) {
            for isDone in [false, true] {
                let away = InjectedFaults.cardAway(from: isDone ? place + 1 : place)
                let lost = InjectedFaultRule(.silence, .during(place...place))
                _ = try Self.check(
                    row, InjectedFaults((isDone ? [lost] : []) + away.rules), "\(place) \(isDone)")
            }
        }
    }

    /// At each exchange an answer is lost, damaged or changed, or the card loses its power for a moment: it is written, once.
    @Test(arguments: cases)
    func survivesEveryExchange(_ row: Case) throws {
        for place in 1...(try Self.exchanges(row)) {
            for fault in [InjectedFault.silence, .absent, .damaged(status: 2), .flipped(offset: 5, mask: 1)] {
                let result = try Self.check(row, .once(fault, at: place), "\(place) \(fault)")
                #expect(throws: Never.self, "\(place) \(fault)") { _ = try result.get() }
            }
        }
    }

    @Test(arguments: cases)
    func randomInterruptions(_ row: Case) throws {
        for seed in TestEffort.rounds(12) {
            let seed = UInt64(seed)
            _ = try Self.check(
                row,
                [
                    InjectedFaultRule(.absent, .random(perThousand: 40, seed: seed)),
                    InjectedFaultRule(.silence, .random(perThousand: 80, seed: seed &+ 7)),
                    InjectedFaultRule(.damaged(status: 2), .random(perThousand: 80, seed: seed &+ 9)),
                ], "seed \(seed)")
        }
    }

    /// A card that carries out a write only partly, which none does: nothing is guessed.
    @Test func neitherOldNorNew() throws {
        nonisolated(unsafe) var isHit = false
        let stand = try Stand(
            behind: { card in
                TamperedCard(card) { command, answer in
                    guard command[1] == 0x08, !isHit else { return answer }
                    isHit = true
                    let other: [UInt8] =
                        [0x20, 0x08] + command[2..<10] + [1, 0x09, 0x20, 1, 0x80, 0]
                        + [UInt8](repeating: 0x55, count: 16)
                    _ = card.answer(other, at: .kbps212)
                    return nil
                }
            })
        #expect(throws: BlockWriteError.unconfirmed) {
            try stand.write(Self.write(0x2009, 0, .blocks([Self.block(1)])))
        }
    }
}

extension InjectedFaults {
    /// The same, counted from a later exchange.
    func moved(by count: Int) -> InjectedFaults {
        InjectedFaults(
            rules.map { rule in
                guard case .during(let range) = rule.moment else { return rule }
                var rule = rule
                let (last, isOver) = range.upperBound.addingReportingOverflow(count)
                rule.moment = .during(range.lowerBound + count...(isOver ? Int.max : last))
                return rule
            })
    }
}

extension BlockWrite {
    /// The blocks after the write, worked out by hand.
    fileprivate func expected(_ before: [Block]) throws -> [Block] {
        let old = try #require(before.first)
        let value = old.uint32(at: 0, .little)
        func purse(_ value: UInt32, _ last: UInt32) -> [Block] {
            var bytes = old.bytes
            for place in 0..<4 {
                bytes[place] = UInt8(truncatingIfNeeded: value >> UInt32(8 * place))
                bytes[4 + place] = UInt8(truncatingIfNeeded: last >> UInt32(8 * place))
            }
            bytes[15] += 1
            return [Block(bytes) ?? .zero]
        }
        return switch content {
        case .blocks(let blocks): blocks
        case .decrement(let amount): purse(value - amount, amount)
        case .cashback(let amount): purse(value + amount, 0)
        @unknown default: []
        }
    }
}
