// SPDX-License-Identifier: Apache-2.0

internal import Synchronization

/// A Type 2 Tag (MIFARE Ultralight, NTAG) in software: it parses frames by hand and answers as NXP's data sheets say.
/// Behavior that no source decides is documented in `Docs/virtual-cards.md`.
package final class VirtualType2Tag: VirtualCard {
    private struct State {
        var selection: TypeASelection
        var tag: Type2State
    }

    private let state: Mutex<State>

    /// Creates a tag.
    ///
    /// - Parameters:
    ///   - atqa: in its usual notation.
    ///   - sak: 00 for all known models.
    package convenience init(_ memory: Type2Memory, atqa: UInt16 = 0x0044, sak: UInt8 = 0x00) {
        self.init(TypeAIdentity(tag: memory, atqa: atqa, sak: sak), Type2State(memory))
    }

    /// Creates a tag that deviates from the data sheets.
    convenience init(_ memory: Type2Memory, atqa: UInt16, sak: UInt8, _ quirks: CardQuirks) {
        var memory = memory
        let own = Type2Quirks(quirks, &memory)
        var identity = TypeAIdentity(tag: memory, atqa: atqa, sak: sak)
        identity.apply(quirks)
        var tag = Type2State(memory)
        tag.quirks = own
        self.init(identity, tag)
    }

    private init(_ identity: TypeAIdentity, _ tag: Type2State) {
        state = Mutex(State(selection: TypeASelection(identity), tag: tag))
    }

    /// The current memory.
    package var memory: Type2Memory { state.withLock(\.tag.memory) }

    /// Returns the tag's answer to a frame; `nil` when it does not answer.
    package func answer(_ frame: RadioFrame) -> CardAnswer? {
        state.withLock { state in
            switch state.selection.take(frame) {
            case .silence:
                if !state.selection.isSelected { state.tag.forgetSession() }
                return nil
            case .answer(let answer):
                state.tag.forgetSession()
                return answer
            case .command: break
            }
            let isWhole = frame.hasCRC && frame.lastByteBits == 8
            switch isWhole ? state.tag.take(frame.bytes) : .refusal(Type2State.wrongChecksum) {
            case .data(let data): return CardAnswer(data)
            case .acknowledge: return CardAnswer([0x0A], lastByteBits: 4, hasCRC: false)
            case .refusal(let code):
                // Like a real one it has to be selected again after a NAK.
                state.selection.fallBack()
                state.tag.forgetSession()
                return CardAnswer([code], lastByteBits: 4, hasCRC: false)
            case .silence:
                state.selection.fallBack()
                state.tag.forgetSession()
                return nil
            }
        }
    }

    /// The password is forgotten; written data and counters stay.
    package func losePower() {
        state.withLock { state in
            state.selection.losePower()
            state.tag.losePower()
        }
    }
}
