// SPDX-License-Identifier: Apache-2.0

internal import Synchronization

/// A card of type A or B with ISO-DEP and files (ISO 7816-4): a program that parses frames by hand.
///
/// Changes to files and PINs last until the program ends; nothing is written to a disk.
package final class VirtualFileCard: VirtualCard {
    private struct State {
        var radio: VirtualISODEPRadio
        var files: FileCardState
        var change: InjectedFault?
        var commands: [[UInt8]] = []
    }

    /// The number of commands that are kept.
    private static let remembered = 10_000

    private let state: Mutex<State>

    /// Creates a card.
    ///
    /// - Parameters:
    ///   - interface: how it is selected.
    ///   - files: its content.
    ///   - options: the deviations of its commands.
    ///   - isoDEP: its behavior below its APDUs.
    package init(
        _ interface: ISODEPInterface, files: VirtualFileTree, options: FileCardOptions = FileCardOptions(),
        isoDEP: ISODEPOptions = ISODEPOptions()
    ) {
        state = Mutex(State(radio: VirtualISODEPRadio(interface, isoDEP), files: FileCardState(files, options)))
    }

    /// The current files and PINs.
    package var files: VirtualFileTree { state.withLock(\.files.tree) }

    /// The command APDUs that the card received, the oldest first; the first 10 000 are kept.
    package var commands: [[UInt8]] { state.withLock(\.commands) }

    /// Returns the card's answer to a frame; `nil` when it does not answer.
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

    /// Returns to the master file, with nothing verified; written data and used tries stay.
    package func losePower() {
        state.withLock { state in
            state.radio.losePower()
            state.files.losePower()
            state.change = nil
        }
    }

    /// Returns the command that this frame would complete.
    package func apdu(completedBy frame: RadioFrame) -> [UInt8]? {
        state.withLock { $0.radio.command(completedBy: frame) }
    }

    /// Applies a fault to the next response.
    package func changeNextResponse(_ fault: InjectedFault) {
        state.withLock { $0.change = fault }
    }
}

/// The deviations of a virtual file-based card from an ordinary card.
package struct FileCardOptions: Hashable, Sendable {
    /// How an answer is returned that is longer than expected, or that was not requested.
    package enum LongAnswers: String, Hashable, Sendable, CaseIterable {
        /// Cut to the expected length.
        case cut
        /// 61xx, and the data with GET RESPONSE.
        case more
        /// 6Cxx with the right length.
        case wrongLength
    }

    /// The result of a read past the end of a file.
    package enum EndOfFile: String, Hashable, Sendable, CaseIterable {
        /// The available data, with 6282; with 9000 when all available data was requested (Le 00).
        case warning = "6282"
        /// The available data, with 9000.
        case success = "9000"
        /// 6B00 without data.
        case wrongOffset = "6B00"
        /// 6Cxx with the available length.
        case wrongLength = "6Cxx"
    }

    /// How long answers are returned.
    package var longAnswers = LongAnswers.cut
    /// With ``LongAnswers/more``: GET RESPONSE always reports more data, without end.
    package var endlessMore = false
    /// The result of a read past the end.
    package var endOfFile = EndOfFile.warning
    /// The maximum number of bytes that one READ BINARY returns; less than requested, with 9000.
    package var longestRead = 65_536
    /// Whether commands with extended lengths are supported; otherwise they are answered with 6700.
    package var takesExtendedLength = true
    /// Values of P2 that SELECT refuses with 6A86, such as 0C on cards that always return file control information.
    package var refusedSelections: Set<UInt8> = []
    /// The status word of a SELECT that expects an answer (Le), such as 6700; `nil` if Le is accepted.
    package var selectionWithLe: UInt16?
    /// The status word of a SELECT by name without Le, such as 6A82; `nil` if it is accepted.
    package var selectionWithoutLe: UInt16?
    /// The answer, in place of 63Cx, to VERIFY without data, the query for the tries left.
    package var queryStatus: UInt16?
    /// The status word of a VERIFY with an unknown reference.
    package var unknownReferenceStatus: UInt16 = 0x6A88
    /// Answers to single commands, byte for byte, with their status words; of several the last repeats without end.
    package var answers: [[UInt8]: [[UInt8]]] = [:]
    /// Status words with which instructions are answered instead of being executed.
    package var instructionStatus: [UInt8: UInt16] = [:]
    /// The maximum length of every answer, its status word included; longer ones are cut. `nil` leaves them whole.
    package var longestAnswer: Int?

    package init() {}
}
