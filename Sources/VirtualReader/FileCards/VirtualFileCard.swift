// SPDX-License-Identifier: Apache-2.0

internal import Synchronization

/// A card of type A or B that speaks ISO-DEP and holds files (ISO 7816-4): a program that reads frames by hand.
///
/// What was written to files and what became of the PINs stays until the program ends; nothing is written to a disk.
package final class VirtualFileCard: VirtualCard {
    private struct State {
        var radio: VirtualISODEPRadio
        var files: FileCardState
        var change: InjectedFault?
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
    package init(
        _ interface: ISODEPInterface, files: VirtualFileTree, options: FileCardOptions = FileCardOptions(),
        isoDEP: ISODEPOptions = ISODEPOptions()
    ) {
        state = Mutex(State(radio: VirtualISODEPRadio(interface, isoDEP), files: FileCardState(files, options)))
    }

    /// The files and PINs as they are now.
    package var files: VirtualFileTree { state.withLock(\.files.tree) }

    /// The command APDUs that the card got, the oldest first; the first 10 000 are kept.
    package var commands: [[UInt8]] { state.withLock(\.commands) }

    /// What the card does with a frame; `nil` when it keeps silent.
    package func answer(_ frame: RadioFrame) -> CardAnswer? {
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
    package func losePower() {
        state.withLock { state in
            state.radio.losePower()
            state.files.losePower()
            state.change = nil
        }
    }

    /// The command that this frame would complete.
    package func apdu(completedBy frame: RadioFrame) -> [UInt8]? {
        state.withLock { $0.radio.command(completedBy: frame) }
    }

    /// Changes the next response.
    package func changeNextResponse(_ fault: InjectedFault) {
        state.withLock { $0.change = fault }
    }
}

/// What differs from an ordinary card: the oddities of a virtual card of files.
package struct FileCardOptions: Hashable, Sendable {
    /// How an answer that is longer than expected, or that was not asked for, is given.
    package enum LongAnswers: String, Hashable, Sendable, CaseIterable {
        /// As much as is expected.
        case cut
        /// 61xx, and the data with GET RESPONSE.
        case more
        /// 6Cxx with the right length.
        case wrongLength
    }

    /// What a read that goes past the end of a file leads to.
    package enum EndOfFile: String, Hashable, Sendable, CaseIterable {
        /// What there is, with 6282; with 9000 when all that there is was asked for (Le 00).
        case warning = "6282"
        /// What there is, with 9000.
        case success = "9000"
        /// 6B00 without data.
        case wrongOffset = "6B00"
        /// 6Cxx with what there is.
        case wrongLength = "6Cxx"
    }

    /// How long answers are given.
    package var longAnswers = LongAnswers.cut
    /// With ``LongAnswers/more``: GET RESPONSE always tells of more, for ever.
    package var endlessMore = false
    /// What a read past the end leads to.
    package var endOfFile = EndOfFile.warning
    /// The most bytes that one READ BINARY gives; less than was asked for, with 9000.
    package var longestRead = 65_536
    /// Whether commands with extended lengths are taken; else they are answered with 6700.
    package var takesExtendedLength = true
    /// Values of P2 that SELECT refuses with 6A86, as 0C by cards that always give file control information.
    package var refusedSelections: Set<UInt8> = []
    /// VERIFY without data, the question for the tries left, is answered with this in place of 63Cx.
    package var queryStatus: UInt16?
    /// The status word of a VERIFY whose reference there is not.
    package var unknownReferenceStatus: UInt16 = 0x6A88
    /// Answers to single commands, byte for byte, with their status words; of several the last goes on for ever.
    package var answers: [[UInt8]: [[UInt8]]] = [:]
    /// Status words that instructions are answered with, in place of doing anything.
    package var instructionStatus: [UInt8: UInt16] = [:]
    /// Every answer is cut to so many bytes, its status word included; `nil` leaves them whole.
    package var longestAnswer: Int?

    /// A card without oddities.
    package init() {}
}
