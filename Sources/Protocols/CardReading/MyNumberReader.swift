// SPDX-License-Identifier: Apache-2.0

package import CardModel
package import ISO7816

/// Reads a My Number card into a dump.
///
/// It reads what is open, the remaining tries of every PIN, and, with the four-digit PIN, the four items. The dump
/// never contains the PIN, and nothing is signed.
package struct MyNumberReader: FileCardReader {
    /// The remaining tries of each PIN, as last reported by the card.
    package private(set) var tries: [MyNumberPIN: TriesLeft] = [:]
    /// Why reading ended early.
    package private(set) var error: FileCardReadingError?

    private let session: ISO7816Session
    private var recorder: FileCardRecorder
    private var isVerified = false
    private var refusal: CardPINState.Reason?
    /// The PINs that this card has.
    private var known: Set<MyNumberPIN> = []

    /// Reads everything that needs no PIN.
    ///
    /// - Throws: ``FileCardReadingError`` if it is not such a card.
    package init(_ session: ISO7816Session, _ card: CardIdentity) throws(FileCardReadingError) {
        self.session = session
        recorder = FileCardRecorder(session, card)
        do throws(ISO7816Error) {
            if let aid = MyNumberApplication.jpki.aid { try session.select(.application(aid)) }
        } catch .status {
            throw .otherCard
        } catch {
            throw .card(error)
        }
        for application in MyNumberApplication.allCases { read(application) }
    }

    private mutating func read(_ application: MyNumberApplication) {
        for file in MyNumberFile.allCases where file.application == application && file.pin == nil {
            recorder.read(file)
        }
        for pin in MyNumberPIN.allCases where pin.application == application { askForTries(pin) }
    }

    private mutating func askForTries(_ pin: MyNumberPIN) {
        guard recorder.failure == nil, error == nil else { return }
        recorder.forgetSelection()
        do throws(ISO7816Error) {
            let left = try session.pinGuard.triesLeft(of: MyNumberReader.reference(pin), in: session)
            tries[pin] = left
            if left.isOfPIN { known.insert(pin) }
        } catch .status {
            // Not every generation of the card has all of them.
        } catch {
            self.error = .card(error)
            recorder.end(error)
        }
    }

    /// Verifies the PIN of a source, once the card has reported the tries left.
    package mutating func verify(_ source: PINSource) {
        guard error == nil, recorder.failure == nil,
            let choice = source.choose([PINPrompt(MyNumberReader.cardInput, tries[.cardInput])])
        else { return }
        let isReached = choice.pass { _, pins in pins.allSatisfy { verify($0, consent: choice.consent) } }
        if isReached, let refusal = choice.refusal { refuse(refusal) }
    }

    /// Sends the PIN of 券面事項入力補助 through the guard.
    ///
    /// - Returns: whether the card accepted it; otherwise ``error`` gives the reason.
    @discardableResult
    package mutating func verify(_ pin: PIN, consent: PINConsent) -> Bool {
        guard error == nil, recorder.failure == nil else { return false }
        recorder.forgetSelection()
        do throws(PINGuardError) {
            let request = PINRequest(MyNumberReader.cardInput, pin)
            _ = try session.pinGuard.verify([request], in: session, consent: consent)
            isVerified = true
        } catch {
            refuse(error)
            if let failure = error.exchangeFailure { recorder.end(failure) }
        }
        return isVerified
    }

    /// Ends the verification: the PIN was not accepted, or not even sent.
    ///
    /// Only the first error counts.
    package mutating func refuse(_ error: PINGuardError) {
        guard self.error == nil else { return }
        self.error = .pin(error)
        tries[.cardInput] = error.triesLeft(before: tries[.cardInput])
        refusal = CardPINState.Reason(error)
    }

    /// The PIN of 券面事項入力補助, the only one that is ever sent.
    package static var cardInput: PINReference { reference(.cardInput) }

    /// Reads what the verified PIN unlocks, and returns everything that was read.
    package mutating func finish() -> CardDump {
        for file in MyNumberFile.allCases where file.pin != nil {
            if isVerified, file.pin == .cardInput {
                recorder.read(file)
            } else {
                recorder.add(FileDump(id: file.id, state: .keyRequired), of: file.application.aid)
            }
        }
        if error == nil, let failure = recorder.failure { error = .card(failure) }
        for pin in MyNumberPIN.allCases {
            guard known.contains(pin) else { continue }
            let isSent = pin == .cardInput
            let state = CardPINState(
                triesLeft: tries[pin]?.number, isVerified: isVerified && isSent, refusal: isSent ? refusal : nil)
            recorder.add(FileDump(id: pin.file, state: .keyRequired, pin: state), of: pin.application.aid)
        }
        return recorder.dump
    }

    private static func reference(_ pin: MyNumberPIN) -> PINReference {
        let form: PINForm =
            switch pin {
            case .authentication, .cardInput: .digits(4)
            case .signature: .capitalsAndDigits(6...16)
            case .cardInputNumberA, .cardSurfaceNumberA: .digits(12)
            case .cardInputNumberB, .cardSurfaceNumberB: .digits(14)
            case .cardSurfaceBirth: .digits(6)
            }
        let path = pin.application.aid.map { [SelectTarget.application($0), .childEF(pin.file)] } ?? []
        return PINReference(pin.name, path: path, p2: 0x80, form: form)
    }
}

extension TriesLeft {
    /// The number, 0 if it is locked; `nil` if the card did not report it.
    var number: Int? {
        switch self {
        case .count(let count): count
        case .locked: 0
        case .notNeeded, .unknown, .refused: nil
        }
    }

    /// Whether the card has such a PIN at all.
    fileprivate var isOfPIN: Bool {
        if case .refused = self { false } else { true }
    }
}

extension FileCardRecorder {
    /// Reads a file of a My Number card.
    fileprivate mutating func read(_ file: MyNumberFile) {
        read(file.id, of: file.application.aid, limit: file.longest, isDataObject: file != .token)
    }
}
