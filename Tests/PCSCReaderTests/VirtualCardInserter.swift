// SPDX-License-Identifier: Apache-2.0

import CardModel
import ReaderCore
import Synchronization
import TestSupport
import VirtualReader

/// A virtual card in a virtual reader of vpcd: between them a reader as PC/SC has them, with an ATR that it makes up,
/// pseudo-APDUs, and ISO-DEP out of sight.
final class VirtualCardInserter: Sendable {
    /// Used by the card's queue only, once the card is in.
    private struct Inside: @unchecked Sendable {
        let reader: InProcessReader
        let picc: PICC
    }

    struct NoCard: Error {}

    /// The card as the real reader sees it.
    let inserted: VPCDCard

    init(_ card: any VirtualCard, port: UInt16) throws {
        let reader = InProcessReader(VirtualField(cards: [card]))
        guard let picc = try reader.activate(.typeA()) ?? reader.activate(.typeB()) else { throw NoCard() }
        let inside = Mutex(Inside(reader: reader, picc: picc))
        inserted = try VPCDCard(
            port: port, atr: Self.atr(picc),
            reset: { inside.withLock { _ = try? $0.reader.activate(Self.request($0.picc)) } },
            answer: { command in inside.withLock { Self.answer(command, $0) } })
    }

    private static func request(_ picc: PICC) -> ActivationRequest {
        picc.technology == .typeB ? .typeB() : .typeA()
    }

    /// What the reader makes up: PC/SC part 3 §3.1.3.2.3.
    private static func atr(_ picc: PICC) -> [UInt8] {
        let content: [UInt8] =
            switch picc {
            case .typeA(let target) where !target.isISODEP:
                [0x80, 0x4F, 0x0C, 0xA0, 0x00, 0x00, 0x03, 0x06, 0x03, 0x00, 0x03, 0x00, 0x00, 0x00, 0x00]
            case .typeB(let target): (target.applicationData ?? []) + (target.protocolInfo ?? []) + [0x00]
            // The historical bytes of the ATS, of which the cards have none.
            default: []
            }
        let atr = [0x3B, 0x80 | UInt8(content.count), 0x80, 0x01] + content
        return atr + [atr.dropFirst().reduce(0, ^)]
    }

    private static func answer(_ command: [UInt8], _ inside: Inside) -> [UInt8] {
        switch (Array(command.prefix(3)), inside.picc) {
        case ([0xFF, 0xCA, 0x00], .typeA(let target)): return target.uid + [0x90, 0x00]
        case ([0xFF, 0xCA, 0x00], .typeB(let target)): return (target.pupi ?? []) + [0x90, 0x00]
        case ([0xFF, 0xCA, 0x01], .typeA(let target)): return target.ats.map { $0 + [0x90, 0x00] } ?? [0x6A, 0x81]
        case ([0xFF, 0xCA, 0x01], _): return [0x6A, 0x81]
        case ([0xFF, 0xB0, 0x00], _) where command.count == 5: return send([0x30, command[3]], inside) ?? [0x63, 0x00]
        case ([0xFF, 0xD6, 0x00], _) where command.count == 9:
            return send([0xA2, command[3]] + command[5...], inside) == [0x0A, 0x90, 0x00]
                ? [0x90, 0x00] : [0x63, 0x00]
        default: return (try? inside.reader.transceive(command, timeout: .seconds(5))) ?? [0x64, 0x00]
        }
    }

    private static func send(_ frame: [UInt8], _ inside: Inside) -> [UInt8]? {
        (try? inside.reader.transceive(frame, timeout: .seconds(5))).map { $0 + [0x90, 0x00] }
    }
}
