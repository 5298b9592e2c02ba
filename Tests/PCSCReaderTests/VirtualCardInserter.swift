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
        /// The key that was loaded into the reader.
        var key: [UInt8] = []
        /// Whether a transparent session is open, in which the reader has no commands of its own for tags.
        var isTransparent = false
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
            answer: { command in
                inside.withLock { inside in
                    Self.transparent(command, &inside) ?? Self.classic(command, &inside) ?? Self.answer(command, inside)
                }
            })
    }

    private static func request(_ picc: PICC) -> ActivationRequest {
        picc.technology == .typeB ? .typeB() : .typeA()
    }

    /// What the reader makes up: PC/SC part 3 §3.1.3.2.3.
    private static func atr(_ picc: PICC) -> [UInt8] {
        let content: [UInt8] =
            switch picc {
            case .typeA(let target) where target.sak == 0x08:
                [0x80, 0x4F, 0x0C, 0xA0, 0x00, 0x00, 0x03, 0x06, 0x03, 0x00, 0x01, 0x00, 0x00, 0x00, 0x00]
            case .typeA(let target) where !target.isISODEP:
                [0x80, 0x4F, 0x0C, 0xA0, 0x00, 0x00, 0x03, 0x06, 0x03, 0x00, 0x03, 0x00, 0x00, 0x00, 0x00]
            case .typeB(let target): (target.applicationData ?? []) + (target.protocolInfo ?? []) + [0x00]
            // The historical bytes of the ATS, of which the cards have none.
            default: []
            }
        let atr = [0x3B, 0x80 | UInt8(content.count), 0x80, 0x01] + content
        return atr + [atr.dropFirst().reduce(0, ^)]
    }

    /// The transparent session of PC/SC part 3, for type A.
    private static func transparent(_ command: [UInt8], _ inside: inout Inside) -> [UInt8]? {
        guard command.starts(with: [0xFF, 0xC2, 0x00]), command.count > 6 else {
            return inside.isTransparent && command.first == 0xFF ? [0x69, 0x85] : nil
        }
        let done: [UInt8] = [0xC0, 0x03, 0x00, 0x90, 0x00]
        switch command[3] {
        case 0x00:
            inside.isTransparent = command[5] != 0x82
            return done + [0x90, 0x00]
        case 0x02:
            return inside.isTransparent && command[7] == 0x00 ? done + [0x90, 0x00] : [0x6A, 0x80]
        default:
            guard inside.isTransparent, command.count > 14, command[12] == 0x95 else { return [0x6A, 0x80] }
            let frame = command[14...].prefix(Int(command[13]))
            guard let answer = try? inside.reader.transceive(Array(frame), timeout: .seconds(5)) else {
                return [0xC0, 0x03, 0x01, 0x64, 0x01, 0x90, 0x00]
            }
            return done + [0x92, 0x01, answer.count == 1 ? 0x04 : 0x00, 0x96, 0x02, 0x00, 0x00]
                + [0x97, UInt8(answer.count)] + answer + [0x90, 0x00]
        }
    }

    /// The commands of part 3 for MIFARE Classic: the reader has the key, knows the UID, and counts most significant byte
    /// first.
    private static func classic(_ command: [UInt8], _ inside: inout Inside) -> [UInt8]? {
        guard case .typeA(let target) = inside.picc, target.sak == 0x08, command.first == 0xFF, command.count >= 5
        else {
            return nil
        }
        func run(_ frames: [UInt8]...) -> [UInt8] {
            for frame in frames where (try? inside.reader.transceive(frame, timeout: .seconds(5))) == nil {
                return [0x63, 0x00]
            }
            return [0x90, 0x00]
        }
        let block = command[3]
        switch (command[1], command.count) {
        case (0x82, 11):
            inside.key = Array(command[5...])
            return [0x90, 0x00]
        case (0x86, 10): return run([command[8], command[7]] + inside.key + target.uid.suffix(4))
        case (0xB0, 5):
            let answer = try? inside.reader.transceive([0x30, block], timeout: .seconds(5))
            return answer.map { $0.count == 16 ? $0 + [0x90, 0x00] : [0x63, 0x00] } ?? [0x63, 0x00]
        case (0xD6, 21): return run([0xA0, block] + command[5...])
        case (0xD7, 10) where command[5] == 0x01 || command[5] == 0x02:
            return run([command[5] == 0x01 ? 0xC1 : 0xC0, block] + command[6...].reversed(), [0xB0, block])
        default: return nil
        }
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
