// SPDX-License-Identifier: Apache-2.0

/// Where the PINs of a card come from, and whether a last try may be used.
///
/// The card reports the tries left of each PIN first. A PIN that is locked, or whose last try `consent` does not allow,
/// is neither asked for nor sent.
public struct PINSource {
    let given: [PIN]
    let ask: ((PINPrompt) -> PIN?)?
    let consent: PINConsent

    private init(given: [PIN], ask: ((PINPrompt) -> PIN?)?, consent: PINConsent) {
        (self.given, self.ask, self.consent) = (given, ask, consent)
    }

    /// No PIN is asked for or sent.
    public static var none: PINSource { PINSource(given: [], ask: nil, consent: .never) }

    /// These PINs, for the card's first PINs in the card's own order.
    public static func pins(_ pins: PIN..., consent: PINConsent = .never) -> PINSource {
        PINSource(given: pins, ask: { _ in nil }, consent: consent)
    }

    /// These PINs, or if there are none, those that a closure returns.
    ///
    /// - Parameters:
    ///   - given: PINs that are known before there is a card.
    ///   - consent: whether the last try may be used; asked about all PINs before any of them is asked for.
    ///   - ask: called once for each PIN, once the card has accepted those before it; `nil` skips that PIN and those
    ///     after it.
    public static func asking(
        given: [PIN] = [], consent: PINConsent = .never, _ ask: @escaping (PINPrompt) -> PIN?
    ) -> PINSource {
        PINSource(given: given, ask: ask, consent: consent)
    }

    /// The PINs that may be sent, in order, and why the next one is not sent.
    package struct Choice {
        /// Why the PIN after these is not sent, if not for lack of a PIN.
        package let refusal: PINGuardError?
        /// Does not ask again about a last try that was agreed to.
        package let consent: PINConsent
        fileprivate let given: [PIN]
        /// The PINs that are asked for if none were given.
        fileprivate let prompts: [PINPrompt]
        fileprivate let ask: (PINPrompt) -> PIN?

        /// Passes the PINs on: given ones all at once, so that the form of each is checked before any is sent; others one
        /// by one, so that nobody types a second PIN after a wrong first one.
        ///
        /// - Parameter send: sends PINs, of which the first has this place in the order; returns whether the card accepted
        ///   them.
        /// - Returns: whether all were accepted; `false` if one was skipped.
        @discardableResult
        package func pass<Failure: Error>(
            _ send: (_ first: Int, [PIN]) throws(Failure) -> Bool
        ) throws(Failure) -> Bool {
            if !given.isEmpty { return try send(0, given) }
            for (index, prompt) in prompts.enumerated() {
                guard let pin = ask(prompt), try send(index, [pin]) else { return false }
            }
            return true
        }
    }

    /// Decides about a card's PINs: `nil` if none is to be asked for.
    ///
    /// - Parameter prompts: the PINs in the order in which the card verifies them.
    package func choose(_ prompts: [PINPrompt]) -> Choice? {
        guard let ask else { return nil }
        let wanted = given.isEmpty ? prompts : Array(prompts.prefix(given.count))
        var agreed: [PINReference: TriesLeft] = [:]
        var refusal = zip(wanted, given).first { prompt, pin in !pin.isSpent && !prompt.accepts(pin) }
            .map { PINGuardError.form($0.0.reference) }
        var usable: [PINPrompt] = []
        for prompt in refusal == nil ? wanted : [] {
            refusal = prompt.refusal { reference, tries in
                guard consent.allowsLastTry, consent.confirm(reference, tries) else { return false }
                agreed[reference] = tries
                return true
            }
            guard refusal == nil else { break }
            usable.append(prompt)
        }
        let remembering = PINConsent(allowsLastTry: consent.allowsLastTry) { [agreed] reference, tries in
            agreed[reference] == tries || consent.confirm(reference, tries)
        }
        var sent: [PIN] = []
        for (pin, _) in zip(given, usable) { sent.append(pin) }
        return Choice(
            refusal: refusal, consent: remembering, given: sent, prompts: given.isEmpty ? usable : [], ask: ask)
    }
}

/// A PIN that a card can verify now.
public struct PINPrompt {
    /// The PIN of the card.
    public let reference: PINReference
    /// The tries left as the card reported them; `nil` if it was not asked.
    public let tries: TriesLeft?

    package init(_ reference: PINReference, _ tries: TriesLeft?) {
        (self.reference, self.tries) = (reference, tries)
    }

    /// Returns whether a PIN has the format of the card's PIN; one of another format is never sent.
    public func accepts(_ pin: PIN) -> Bool { pin.matches(reference.form) }

    /// Returns why the PIN must not be sent.
    ///
    /// - Parameter agrees: whether the last try may be used.
    fileprivate func refusal(_ agrees: (PINReference, TriesLeft) -> Bool) -> PINGuardError? {
        switch tries {
        case .locked: .locked(reference)
        case .refused(let status): .notVerifiable(reference, status)
        case .count(1), .unknown:
            tries.flatMap { agrees(reference, $0) ? nil : .lastTry(reference, $0) }
        case .count, .notNeeded, nil: nil
        }
    }
}

extension PINPrompt: CustomStringConvertible {
    /// The English name of the PIN, with the tries left if the card gave their number.
    public var description: String {
        if case .count(let count)? = tries {
            "\(reference), \(count) \(count == 1 ? "try" : "tries") left"
        } else {
            "\(reference)"
        }
    }
}
