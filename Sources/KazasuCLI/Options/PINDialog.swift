// SPDX-License-Identifier: Apache-2.0

import CardModel
import ISO7816

/// What the user is asked about PINs on the terminal: first whether a last try may be used, then the PINs.
final class PINDialog {
    /// A PIN that a command wants to send.
    struct Wanted {
        var reference: PINReference
        /// What the card said of its tries; `nil` where it was not asked.
        var tries: TriesLeft?
        /// The PIN, when it comes from a source; else it is typed.
        var given: PIN?
        /// Whether the command has something to read without it.
        var isOptional = true
    }

    /// What may be sent, in order, and what stops the PIN after those.
    struct Answer {
        var pins: [PIN] = []
        var refusal: PINGuardError?
    }

    private let context: Context
    private let allowLastTry: Bool
    /// The last tries that the user has agreed to.
    private var agreed: [PINReference: TriesLeft] = [:]

    init(_ context: Context, allowLastTry: Bool) {
        self.context = context
        self.allowLastTry = allowLastTry
    }

    /// What the guard asks: a last try goes only when the flag is there and the user has typed yes on the terminal.
    var consent: PINConsent {
        PINConsent(allowsLastTry: allowLastTry) { reference, tries in
            self.agreed[reference] == tries || self.agrees(reference, tries)
        }
    }

    /// Asks what is to be asked about PINs, before any of them is sent.
    ///
    /// The questions about last tries come before any PIN is typed, and each PIN is checked before the next is asked for.
    /// An empty line means to go without that PIN and those after it.
    func collect(_ wanted: [Wanted]) throws(Failure) -> Answer {
        for one in wanted {
            if let given = one.given, !given.isSpent, !given.matches(one.reference.form) {
                return Answer(refusal: .form(one.reference))
            }
        }
        var answer = Answer()
        var usable: [Wanted] = []
        for one in wanted {
            answer.refusal = obstacle(one)
            guard answer.refusal == nil else { break }
            usable.append(one)
        }
        for one in usable {
            var pin = one.given
            if pin == nil { pin = try typed(one) }
            guard let pin else { return Answer(pins: answer.pins) }
            guard pin.isSpent || pin.matches(one.reference.form) else { return Answer(refusal: .form(one.reference)) }
            answer.pins.append(pin)
        }
        return answer
    }

    /// Whether there is somebody who can be asked.
    var hasTerminal: Bool { Terminal() != nil }

    /// Why a PIN must not be sent.
    private func obstacle(_ wanted: Wanted) -> PINGuardError? {
        let reference = wanted.reference
        switch wanted.tries {
        case .locked: return .locked(reference)
        case .refused(let status): return .notVerifiable(reference, status)
        case .count(1), .unknown:
            guard let tries = wanted.tries, allowLastTry, agrees(reference, tries) else {
                return .lastTry(reference, wanted.tries ?? .count(1))
            }
            agreed[reference] = tries
            return nil
        case .count, .notNeeded, nil: return nil
        }
    }

    private func agrees(_ reference: PINReference, _ tries: TriesLeft) -> Bool {
        guard let terminal = Terminal() else { return false }
        let name = reference.name[Language.current]
        let question =
            switch tries {
            case .count(let count):
                tr(
                    "\(name) has \(count) try left. A wrong PIN locks it.",
                    "\(name)の残りは \(count) 回です。間違えると閉塞します。")
            default:
                tr(
                    "The card does not say how many tries \(name) has left. A wrong PIN may lock it.",
                    "\(name)の残り回数が分かりません。間違えると閉塞するおそれがあります。")
            }
        return (try? terminal.confirms(question)) ?? false
    }

    /// - Returns: `nil` when there is no terminal, or nothing was typed.
    private func typed(_ wanted: Wanted) throws(Failure) -> PIN? {
        guard let terminal = Terminal() else { return nil }
        let name = wanted.reference.name
        let form = wanted.reference.form.words
        let tries = wanted.tries.map { tr(", \($0.words)", "、\($0.words)") } ?? ""
        let enter = wanted.isOptional ? tr("; Enter goes without", "。Enter で省略") : ""
        let question = tr(
            "\(name.english) (\(form)\(tries)\(enter)): ", "\(name.japanese)（\(form)\(tries)\(enter)）: ")
        return try terminal.secret(question).map { PIN($0) }
    }
}
