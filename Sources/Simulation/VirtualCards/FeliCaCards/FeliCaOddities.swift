// SPDX-License-Identifier: Apache-2.0

internal import ByteCodec
internal import CardModel
internal import ReaderCore

/// Oddities of real FeliCa cards that change what a card hears and says, frame by frame: switches of `virtual.quirks`.
struct FeliCaOddities: Hashable, Sendable {
    /// It answers a Polling for any system.
    var answersAnySystem = false
    /// Its PMm is zeros.
    var hasNoTimes = false
    /// It is deaf after a read of this block or a later one, until the field is off.
    var deafeningBlock: Int?
    /// It does not answer a Request Service for more nodes.
    var mostNodes: Int?
    /// It refuses a read of several services with A1.
    var readsOneService = false
    /// Every so many answers carry the IDm of another card.
    var otherIDmEvery: Int?
    /// Search Service Code finds nothing.
    var findsNothing = false
    /// Its IDm is another one each time that it gets power.
    var changesIDm = false

    /// Whether two of three reads are lost after a Search Service Code.
    var losesReads = false
    /// Whether reads are refused with B1, as those of a Lite-S whose blocks need a key.
    var refusesReads = false
    /// Whether it is a card of generation 0, which answers a Polling with a malformed packet.
    var isOfGeneration0 = false

    private var hasSearched = false
    private var reads = 0
    private var isDeaf = false
    private var answers = 0
    private var starts: UInt64 = 0

    /// What becomes of a frame.
    enum Handling: Hashable {
        case ignored
        /// The card handles this frame in its place.
        case handled([UInt8])
        /// The card answers so.
        case answered([UInt8])
    }

    /// A frame reaches the card.
    mutating func receive(_ frame: [UInt8]) -> Handling {
        guard !isDeaf, let code = frame.element(at: 1) else { return .ignored }
        guard !isOfGeneration0 else {
            return code == 0x00 ? .answered([0x06, 0x00, 0x00, 0x00, 0x07, 0x07]) : .ignored
        }
        if code == 0x0A { hasSearched = true }
        switch code {
        case 0x00 where answersAnySystem && frame.count == 6:
            return .handled(frame.prefix(2) + [0xFF, 0xFF] + frame.dropFirst(4))
        case 0x02:
            guard let mostNodes, let count = frame.element(at: 10), count > mostNodes else { return .handled(frame) }
            return .ignored
        case 0x06:
            reads += 1
            if losesReads, hasSearched, reads % 3 != 0 { return .ignored }
            if refusesReads { return .answered([0x0C, 0x07] + frame[2..<10] + [0xFF, 0xB1]) }
            if let deafeningBlock, Self.blocks(of: frame).contains(where: { $0 >= deafeningBlock }) {
                isDeaf = true
                return .ignored
            }
            guard readsOneService, let count = frame.element(at: 10), count > 1 else { return .handled(frame) }
            return .answered([0x0C, 0x07] + frame[2..<10] + [0xFF, 0xA1])
        default: return .handled(frame)
        }
    }

    /// The card's answer as it is sent.
    mutating func send(_ answer: [UInt8], to frame: [UInt8]) -> [UInt8] {
        guard let code = frame.element(at: 1), answer.count >= 10 else { return answer }
        var answer = answer
        answers += 1
        if code == 0x00 {
            if hasNoTimes, answer.count >= 18 { answer.replaceSubrange(10..<18, with: [UInt8](repeating: 0, count: 8)) }
            return answer
        }
        if code == 0x0A, findsNothing { answer = [0x0C, 0x0B] + answer[2..<10] + [0xFF, 0xFF] }
        if let otherIDmEvery, otherIDmEvery > 0, answers % otherIDmEvery == 0 { answer[9] ^= 0xFF }
        return answer
    }

    /// The field goes off.
    ///
    /// - Returns: the IDm from now on; `nil` if it stays.
    mutating func losePower(_ idm: IDm) -> UInt64? {
        (isDeaf, hasSearched) = (false, false)
        guard changesIDm else { return nil }
        starts += 1
        var generator = SplitMix64(seed: starts)
        return idm.rawValue & 0xFFFF_0000_0000_0000 | generator.next() & 0x0000_FFFF_FFFF_FFFF
    }

    /// The block numbers of a Read Without Encryption.
    private static func blocks(of frame: [UInt8]) -> [Int] {
        guard let services = frame.element(at: 10) else { return [] }
        var rest = frame.dropFirst(12 + 2 * Int(services))
        var numbers: [Int] = []
        while let first = rest.first {
            let isShort = first & 0x80 != 0
            let number = rest.dropFirst().prefix(isShort ? 1 : 2).reversed().reduce(0) { $0 << 8 | Int($1) }
            numbers.append(number)
            rest = rest.dropFirst(isShort ? 2 : 3)
        }
        return numbers
    }
}

extension CardProfile {
    /// The quirks of a FeliCa card.
    static let quirks: [CardQuirks.Name] = [
        .twoCards, .slow, .countAfterRefusal, .doubledSystem, .mute, .searchEnds, .anySystem, .zeroPMm, .dropsBlocks,
        .fewNodes, .oneService, .otherAnswer, .octopus, .searchMute, .noRequestCode, .plug, .randomIDm, .searchLoses,
        .flagsB, .seac,
    ]

    /// Sets the switches of this file.
    mutating func apply(_ quirks: CardQuirks) throws(DocumentError) {
        if quirks.has(.anySystem) { oddities.answersAnySystem = true }
        if quirks.has(.zeroPMm) { oddities.hasNoTimes = true }
        if quirks.has(.dropsBlocks) { oddities.deafeningBlock = 0x20 }
        if let count = try quirks.number(.fewNodes, usual: 1) { oddities.mostNodes = Int(count) }
        if quirks.has(.oneService) { oddities.readsOneService = true }
        if let count = try quirks.number(.otherAnswer, usual: 4) { oddities.otherIDmEvery = Int(count) }
        if quirks.has(.randomIDm) { oddities.changesIDm = true }
        if quirks.has(.searchLoses) { oddities.losesReads = true }
        if quirks.has(.flagsB) { oddities.refusesReads = true }
        if quirks.has(.seac) { oddities.isOfGeneration0 = true }
        if quirks.has(.searchMute) { silentSearchIndex = 0 }
        if quirks.has(.noRequestCode) { requestCodes = [] }
        if quirks.has(.plug) { blocksPerRead = 1 }
        if quirks.has(.octopus) {
            oddities.findsNothing = true
            commands.subtract([.requestService, .requestSystemCode])
            bitRates = [.kbps212]
        }
    }
}
