// SPDX-License-Identifier: Apache-2.0

internal import ByteCodec
package import CardModel
package import ISO7816

/// Reads a driver's license, or the license on a My Number card, into a dump.
///
/// The order is always the same: the kind of card; whether PINs are set, and nothing more if that cannot be read; the
/// free data; the remaining tries; then the PINs, only through the session's guard; then what they unlock. The dump
/// never contains a PIN.
package struct LicenseReader: IdentityReader {
    package let kind: LicenseKind
    /// Whether the holder has set PINs.
    package let arePINsSet: Bool
    /// The remaining tries of each PIN, as last reported by the card.
    package private(set) var tries: [LicensePIN: TriesLeft] = [:]
    package var error: FileCardReadingError? { recorder.error }

    private let session: ISO7816Session
    private let root: SelectTarget
    private var recorder: FileCardRecorder
    private var given: Set<LicensePIN> = []
    private var verified: Set<LicensePIN> = []
    private var refusals: [LicensePIN: CardPINState.Reason] = [:]

    /// Determines the kind of license, and reads everything that needs no PIN.
    ///
    /// - Throws: ``FileCardReadingError`` if it is not a license, or if it cannot be determined whether PINs are set.
    package init(_ session: ISO7816Session, _ card: CardIdentity) throws(FileCardReadingError) {
        self.session = session
        kind = try LicenseReader.kind(session)
        root = kind == .license ? try LicenseReader.root(session) : .masterFile
        recorder = FileCardRecorder(session, card)
        let setting: LicenseFile = kind == .license ? .pinSetting : .myNumberPINSetting
        recorder.read(setting, root)
        if let error = recorder.error { throw error }
        arePINsSet = try LicenseReader.setting(recorder.dump.application(setting.application)?.file(setting.id))
        if kind == .license { recorder.read(.commonData, root) }
        askForTries()
    }

    /// The PINs of such a card, in the order in which they are verified.
    package var pins: [LicensePIN] { kind.pins }

    /// Verifies the PINs of a source, once the card has reported the tries left.
    ///
    /// If the holder has not set PINs, none is asked for.
    package mutating func verify(_ source: PINSource) {
        let prompts = arePINsSet ? pins.map { PINPrompt(reference($0), tries[$0]) } : []
        guard error == nil, let choice = source.choose(prompts) else { return }
        guard arePINsSet else {
            verify([], consent: choice.consent)
            return
        }
        let pins = pins
        let isReached = choice.pass { first, secrets in
            verify(Array(zip(pins.dropFirst(first), secrets)), consent: choice.consent)
        }
        if isReached, let refusal = choice.refusal { refuse(refusal) }
    }

    /// Sends PINs through the guard, in the order of ``pins``; any other PIN is not sent.
    ///
    /// If the holder has not set PINs, the card's placeholder is sent instead, whatever is given.
    ///
    /// - Returns: whether everything succeeded; otherwise ``error`` gives the reason.
    @discardableResult
    package mutating func verify(_ given: [(LicensePIN, PIN)], consent: PINConsent) -> Bool {
        guard error == nil else { return false }
        var requests: [(LicensePIN, PINRequest)] = []
        for pin in pins {
            let reference = reference(pin)
            if !arePINsSet {
                requests.append((pin, PINRequest(reference, PIN(LicensePIN.unset))))
            } else if let secret = given.first(where: { $0.0 == pin })?.1 {
                requests.append((pin, PINRequest(reference, secret)))
            }
        }
        recorder.forgetSelection()
        self.given.formUnion(requests.map(\.0))
        do throws(PINGuardError) {
            _ = try session.pinGuard.verify(requests.map(\.1), in: session, consent: consent)
            verified.formUnion(requests.map(\.0))
        } catch {
            refuse(error)
            if error.leavesEarlierPINsVerified {
                let failed = requests.firstIndex { $0.1.reference == error.reference } ?? 0
                verified.formUnion(requests.prefix(failed).map(\.0))
            } else if let failure = error.exchangeFailure {
                recorder.end(.card(failure))
            }
        }
        return error == nil
    }

    /// Ends the verification: a PIN was not accepted, or not even sent.
    ///
    /// Only the first error counts.
    package mutating func refuse(_ error: PINGuardError) {
        guard self.error == nil else { return }
        recorder.refuse(.pin(error))
        guard let pin = pins.first(where: { reference($0) == error.reference }) else { return }
        tries[pin] = error.triesLeft(before: tries[pin])
        refusals[pin] = CardPINState.Reason(error)
    }

    /// Returns the location and the format of a PIN of this card.
    package func reference(_ pin: LicensePIN) -> PINReference { pin.reference(isSet: arePINsSet, root: root) }

    /// Reads what the verified PINs unlock, and returns everything that was read.
    package mutating func finish() -> CardDump {
        for file in kind.files where file.access != .free {
            // If the PIN of a file was given, a failed exchange means that the file is lost.
            if isOpen(file, with: recorder.isLost ? given : verified) {
                recorder.read(file, root)
            } else {
                recorder.add(FileDump(id: file.id, state: .keyRequired), of: file.application)
            }
        }
        for pin in pins {
            let state = CardPINState(
                triesLeft: tries[pin]?.number, isVerified: verified.contains(pin), refusal: refusals[pin])
            recorder.add(FileDump(id: pin.file, state: .keyRequired, pin: state), of: pin.application)
        }
        return recorder.dump
    }

    private func isOpen(_ file: LicenseFile, with verified: Set<LicensePIN>) -> Bool {
        switch (file.access, kind) {
        case (.free, _): true
        case (.pin1, .license): verified.contains(.pin1)
        case (.bothPINs, .license): verified.isSuperset(of: [.pin1, .pin2])
        case (_, .myNumberLicense): verified.contains(.myNumberLicense)
        }
    }

    private mutating func askForTries() {
        for pin in pins where error == nil {
            recorder.forgetSelection()
            do throws(ISO7816Error) {
                tries[pin] = try session.pinGuard.triesLeft(
                    of: reference(pin), in: session)
            } catch {
                recorder.end(.card(error))
            }
        }
    }

    /// Determined by the application names: a locked application (6283) exists, too.
    private static func kind(_ session: ISO7816Session) throws(FileCardReadingError) -> LicenseKind {
        for (aid, kind) in [(LicenseFile.df1, LicenseKind.license), (LicenseFile.myNumberLicense, .myNumberLicense)] {
            guard let aid else { continue }
            do throws(ISO7816Error) {
                try session.select(.application(aid))
                return kind
            } catch .status(_, .fileDeactivated) {
                return kind
            } catch .status {
                continue
            } catch {
                throw .card(error)
            }
        }
        throw .otherCard
    }

    /// Returns the form of SELECT with which this card allows selecting its master file.
    private static func root(_ session: ISO7816Session) throws(FileCardReadingError) -> SelectTarget {
        do throws(ISO7816Error) {
            try session.select(.masterFile)
            return .masterFile
        } catch .status {
            return .masterFileWithoutName
        } catch {
            throw .card(error)
        }
    }

    /// Determines whether PINs are set.
    ///
    /// Only the exact bytes of a license are accepted, since a mistake here costs a try.
    private static func setting(_ file: FileDump?) throws(FileCardReadingError) -> Bool {
        guard let file, file.state == .read else {
            if case .refused(let status?)? = file?.state {
                throw .pinSettingUnreadable(StatusWord(rawValue: status))
            }
            throw .pinSettingUnreadable(nil)
        }
        guard file.data.count == 3, [0x05, 0xC1].contains(file.data.first), file.data.element(at: 1) == 1 else {
            throw .pinSettingUnreadable(nil)
        }
        switch file.data.element(at: 2) {
        case 0: return false
        case 1: return true
        default: throw .pinSettingUnreadable(nil)
        }
    }
}

extension PINGuardError {
    /// The failure between reader and card, if that was the cause.
    var exchangeFailure: ISO7816Error? {
        switch self {
        case .triesUnreadable(_, let error), .interrupted(_, let error, _, _): error
        default: nil
        }
    }

    /// Whether the card was in its normal state when it refused, so that PINs accepted earlier still unlock files.
    fileprivate var leavesEarlierPINsVerified: Bool {
        switch self {
        case .locked, .lastTry, .notVerifiable, .wrong, .refused: true
        default: false
        }
    }
}

extension CardPINState.Reason {
    /// Why a PIN unlocked nothing; `nil` if the radio failed, which says nothing about the PIN.
    init?(_ error: PINGuardError) {
        switch error {
        case .form: self = .form
        case .locked, .wrong(_, .locked), .refused(_, _, .locked?): self = .locked
        case .lastTry: self = .lastTry
        case .wrong: self = .wrong
        case .notVerifiable, .refused: self = .refused
        case .alreadySent, .earlierFailure, .triesUnreadable, .interrupted: return nil
        @unknown default: return nil
        }
    }
}

extension FileCardRecorder {
    fileprivate mutating func read(_ file: LicenseFile, _ root: SelectTarget) {
        read(file.id, of: file.application, limit: file.longest, root: root)
    }
}

extension LicensePIN {
    /// The placeholder on a card whose holder has set no PIN: four asterisks.
    static let unset: [UInt8] = [0x2A, 0x2A, 0x2A, 0x2A]

    /// Returns the location of the PIN, and its four-digit format.
    ///
    /// On a license, it is addressed by its number under the master file, as hmpow's programs do with real cards.
    func reference(isSet: Bool, root: SelectTarget) -> PINReference {
        let form = isSet ? PINForm.digits(4) : .exactly(LicensePIN.unset)
        return switch self {
        case .pin1: PINReference(name, path: [root], p2: 0x81, form: form)
        case .pin2: PINReference(name, path: [root], p2: 0x82, form: form)
        case .myNumberLicense:
            PINReference(name, path: application.map { [.application($0)] } ?? [], p2: 0x86, form: form)
        }
    }
}
