// SPDX-License-Identifier: Apache-2.0

import ReaderCore
import Synchronization
import VirtualReader

/// One card with two systems that answers as few commands as the chip's tests need.
final class PlainField: RadioField {
    static let idm: [UInt8] = [0x01, 0x02, 0x03, 0x04, 0x05, 0x06, 0x07, 0x08]
    static let pmm: [UInt8] = [0xF1, 0xF2, 0xF3, 0xF4, 0xF5, 0xF6, 0xF7, 0xF8]

    private struct State {
        var outcomes: [Int: FieldResult]
        var hasCard: Bool
        var bitRates: Set<FeliCaBitRate>
        var frames: [[UInt8]] = []
        var switchedOff = 0
    }

    private let state: Mutex<State>

    /// - Parameters:
    ///   - outcomes: what happens at some exchanges of FeliCa packets, by index from 0; the card answers at the others.
    ///   - hasCard: whether a card is there.
    ///   - bitRates: speeds that the card answers at.
    init(
        _ outcomes: [Int: FieldResult] = [:], hasCard: Bool = true,
        bitRates: Set<FeliCaBitRate> = [.kbps212, .kbps424]
    ) {
        state = Mutex(State(outcomes: outcomes, hasCard: hasCard, bitRates: bitRates))
    }

    /// What was sent to the field as FeliCa packets.
    var frames: [[UInt8]] { state.withLock(\.frames) }
    /// How often the field went off.
    var switchedOff: Int { state.withLock(\.switchedOff) }

    func exchange(_ frame: RadioFrame) -> FieldResult {
        state.withLock { state in
            guard case .felica(let bitRate) = frame.technology else { return .silence }
            defer { state.frames.append(frame.bytes) }
            if let outcome = state.outcomes[state.frames.count] { return outcome }
            guard state.hasCard, state.bitRates.contains(bitRate), let answer = Self.answer(frame.bytes)
            else {
                return .silence
            }
            return .answer(CardAnswer(answer))
        }
    }

    func switchOff() { state.withLock { $0.switchedOff += 1 } }

    /// The card: system AABB and FFFF for all, block 8000 of service 000B, Request System Code, Echo.
    static func answer(_ frame: [UInt8]) -> [UInt8]? {
        guard let length = frame.first, Int(length) == frame.count, frame.count >= 6 else { return nil }
        switch frame[1] {
        case 0x00:
            guard [[0xFF, 0xFF], [0xAA, 0xBB], [0x12, 0xFC]].contains(Array(frame[2...3])) else { return nil }
            let name: [UInt8] = frame[4] == 1 ? [frame[2] == 0x12 ? 0x12 : 0xAA, frame[2] == 0x12 ? 0xFC : 0xBB] : []
            return [UInt8(18 + name.count), 0x01] + idm + pmm + name
        case 0x06 where frame.count == 16 && Array(frame[2..<10]) == idm:
            return [0x1D, 0x07] + idm + [0x00, 0x00, 0x01] + attributeBlock
        case 0x0C where frame.count == 10 && Array(frame[2..<10]) == idm:
            return [0x0F, 0x0D] + idm + [0x02, 0xAA, 0xBB, 0x12, 0xFC]
        case 0xF0:
            return frame
        default:
            return nil
        }
    }

    /// The attribute block of an empty Type 3 Tag: version 1.0, one block a command, 13 blocks, read-only.
    static let attributeBlock: [UInt8] = [0x10, 0x01, 0x01, 0x00, 0x0D, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x00, 0x1F]
}
