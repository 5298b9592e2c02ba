// SPDX-License-Identifier: Apache-2.0

internal import Synchronization

/// A card of type A or B that speaks ISO-DEP and holds files (ISO 7816-4): a program that reads frames by hand.
///
/// What was written to files and what became of the PINs stays until the program ends; nothing is written to a disk.
public final class VirtualFileCard: VirtualCard {
    private struct State {
        var radio: VirtualISODEPRadio
        var files: FileCardState
        var change: Fault?
        var commands: [[UInt8]] = []
    }

    /// How many commands are remembered.
    private static let remembered = 10_000

    private let state: Mutex<State>

    /// A card.
    ///
    /// - Parameters:
    ///   - interface: how it is selected.
    ///   - files: what is on it.
    ///   - options: what is odd about its commands.
    ///   - isoDEP: how it behaves below its APDUs.
    public init(
        _ interface: ISODEPInterface, files: VirtualFileTree, options: FileCardOptions = FileCardOptions(),
        isoDEP: ISODEPOptions = ISODEPOptions()
    ) {
        state = Mutex(State(radio: VirtualISODEPRadio(interface, isoDEP), files: FileCardState(files, options)))
    }

    /// The files and PINs as they are now.
    public var files: VirtualFileTree { state.withLock(\.files.tree) }

    /// The command APDUs that the card got, the oldest first; the first 10 000 are kept.
    public var commands: [[UInt8]] { state.withLock(\.commands) }

    /// What the card does with a frame; `nil` when it keeps silent.
    public func answer(_ frame: RadioFrame) -> CardAnswer? {
        state.withLock { state in
            switch state.radio.take(frame) {
            case .silence: return nil
            case .answer(let answer): return answer
            case .activated(let answer):
                state.files.losePower()
                return answer
            case .command(let command):
                if state.commands.count < VirtualFileCard.remembered { state.commands.append(command) }
                var response = CardAnswer(state.files.answer(command))
                if let change = state.change, case .answer(let changed) = change.applied(to: response) {
                    response = changed
                }
                state.change = nil
                var answer = state.radio.respond(response.frame)
                answer?.thinkingTime += response.thinkingTime
                return answer
            }
        }
    }

    /// Back to the master file, with nothing verified; what was written and tried stays.
    public func losePower() {
        state.withLock { state in
            state.radio.losePower()
            state.files.losePower()
            state.change = nil
        }
    }

    /// The command that this frame would complete.
    public func apdu(completedBy frame: RadioFrame) -> [UInt8]? {
        state.withLock { $0.radio.command(completedBy: frame) }
    }

    /// Changes the next response.
    public func changeNextResponse(_ fault: Fault) {
        state.withLock { $0.change = fault }
    }
}
