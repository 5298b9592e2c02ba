// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// A reader of ours with PC/SC part 3's transparent session, and an NTAG213 or a FeliCa card on it: within a session it
/// knows no storage commands, without one no frames. It answers as an RC-S300 was seen to.
final class TransparentReader: Sendable {
    /// Whether it takes the commands that manage a session with Le only, or without only.
    private let wantsLe: Bool
    /// What the FeliCa card answers to a packet; `nil` for silence.
    private let feliCa: @Sendable ([UInt8]) -> [UInt8]?

    init(wantsLe: Bool = true, feliCa: @escaping @Sendable ([UInt8]) -> [UInt8]? = TransparentReader.card) {
        (self.wantsLe, self.feliCa) = (wantsLe, feliCa)
    }

    private struct State {
        var isOpen = false
        /// Whether the field was off in this session: cards hear nothing before.
        var wasOff = false
        /// The standard and the layer that were chosen.
        var air: [UInt8]?
        var sessions = 0
        var ends = 0
        /// Whether the answer to the next frame is damaged on its way from the card.
        var damagesNext = false
        var isTagGone = false
    }

    private let state = Mutex(State())

    /// How many sessions were begun.
    var sessions: Int { state.withLock(\.sessions) }
    /// How many were ended.
    var ends: Int { state.withLock(\.ends) }

    /// Damages the card's next answer, as when it is still moving.
    func damageNextAnswer() { state.withLock { $0.damagesNext = true } }

    /// Takes the tag away, or brings it back; the service does not notice.
    func takeTag(_ isGone: Bool) { state.withLock { $0.isTagGone = isGone } }

    /// Ends the host's session, as a reader may do by itself.
    func endSession() {
        state.withLock { state in
            if state.isOpen { state.ends += 1 }
            (state.isOpen, state.air) = (false, nil)
        }
    }

    static let version: [UInt8] = [0x00, 0x04, 0x04, 0x02, 0x01, 0x00, 0x0F, 0x03]

    /// The answer to a pseudo-APDU.
    func answer(_ command: [UInt8]) -> [UInt8] {
        state.withLock { state in
            switch (Array(command.prefix(4)), state.isOpen) {
            case ([0xFF, 0xC2, 0x00, 0x00], _) where (command.count == 8) != wantsLe: return [0x67, 0x00]
            case ([0xFF, 0xC2, 0x00, 0x02], _) where (command.count == 10) != wantsLe: return [0x67, 0x00]
            case ([0xFF, 0xC2, 0x00, 0x00], let isOpen):
                switch command[5] {
                case 0x81 where isOpen: return [0xC0, 0x03, 0x01, 0x69, 0x8A, 0x90, 0x00]
                case 0x81:
                    (state.isOpen, state.wasOff, state.air) = (true, false, nil)
                    state.sessions += 1
                case 0x82:
                    if isOpen { state.ends += 1 }
                    (state.isOpen, state.air) = (false, nil)
                case 0x83, 0x84:
                    guard isOpen else { return [0xC0, 0x03, 0x01, 0x63, 0x01, 0x90, 0x00] }
                    if command[5] == 0x83 { state.wasOff = true }
                default: return [0x6A, 0x81]
                }
                return [0xC0, 0x03, 0x00, 0x90, 0x00, 0x90, 0x00]
            case ([0xFF, 0xC2, 0x00, 0x02], true):
                let air = Array(command.dropFirst(7).prefix(2))
                guard command[5] == 0x8F, air == [0x00, 0x03] || air == [0x03, 0x00] else { return [0x6A, 0x80] }
                if air == [0x00, 0x03], state.isTagGone { return [0xC0, 0x03, 0x01, 0x64, 0x01, 0x90, 0x00] }
                state.air = air
                return [0xC0, 0x03, 0x00, 0x90, 0x00, 0x90, 0x00]
            case ([0xFF, 0xC2, 0x00, 0x01], true):
                // Without a timer nothing is sent.
                guard Array(command.dropFirst(5).prefix(3)) == [0x5F, 0x46, 0x04] else {
                    return [0xC0, 0x03, 0x01, 0x64, 0x01, 0x90, 0x00]
                }
                guard let air = state.air, command.count > 15, command[12] == 0x95, command[13] == command.count - 15
                else { return [0x6A, 0x80] }
                if state.damagesNext {
                    state.damagesNext = false
                    return [0xC0, 0x03, 0x02, 0x63, 0x00, 0x90, 0x00]
                }
                let content = Array(command[14..<command.count - 1])
                let isHeard = air == [0x00, 0x03] || state.wasOff
                guard isHeard, let frame = air == [0x00, 0x03] ? Self.tag(content) : feliCa(content) else {
                    return [0xC0, 0x03, 0x02, 0x64, 0x01, 0x90, 0x00]
                }
                let bits: UInt8 = frame.count == 1 ? 4 : 0
                return [0xC0, 0x03, 0x00, 0x90, 0x00, 0x92, 0x01, bits, 0x96, 0x02, 0x00, 0x00]
                    + [0x97, UInt8(frame.count)] + frame + [0x90, 0x00]
            case ([0xFF, 0xB0, 0x00, 0x04], false): return Array(0..<16) + [0x90, 0x00]
            case ([0xFF, 0xC2, 0x00, 0x01], false), ([0xFF, 0xC2, 0x00, 0x02], false):
                return [0xC0, 0x03, 0x01, 0x63, 0x01, 0x90, 0x00]
            default: return [0x69, 0x85]
            }
        }
    }

    static let idm: [UInt8] = [0x01, 0x01, 0x03, 0x12, 0x34, 0x56, 0x78, 0x90]
    static let pmm: [UInt8] = [0x01, 0x20, 0x22, 0x04, 0x27, 0x67, 0x4E, 0xFF]

    /// What a FeliCa card with the system 0003 answers; `nil` for silence.
    @Sendable private static func card(_ packet: [UInt8]) -> [UInt8]? {
        switch packet {
        case [0x06, 0x00, 0xFF, 0xFF, 0x01, 0x00], [0x06, 0x00, 0x00, 0x03, 0x01, 0x00]:
            [0x14, 0x01] + idm + pmm + [0x00, 0x03]
        case [0x0A, 0x0C] + idm: [0x0D, 0x0D] + idm + [0x01, 0x00, 0x03]
        default: nil
        }
    }

    /// What the tag answers; `nil` for silence.
    private static func tag(_ frame: [UInt8]) -> [UInt8]? {
        switch frame {
        case [0x60]: version
        case [0x30, 0x04]: Array(0..<16)
        case [0x30, 0x60]: [0x00]
        case [0xA2, 0x05, 1, 2, 3, 4]: [0x0A]
        default: nil
        }
    }
}
