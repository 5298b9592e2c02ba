// SPDX-License-Identifier: Apache-2.0

internal import ByteCodec
package import CardModel
package import ISO7816

/// Reads a driver's licence, or the licence on a My Number card, into a dump.
///
/// The order is always the same: which card it is; whether PINs are set, and nothing more when that cannot be read; the
/// free data; the tries that are left; then, by the session's guard only, the PINs; then what they open. A PIN is never
/// in the dump.
package struct LicenseReader {
    /// Which licence it is.
    package let kind: LicenseKind
    /// Whether the holder has set PINs.
    package let arePINsSet: Bool
    /// The tries that each PIN has left, as the card said last.
    package private(set) var tries: [LicensePIN: TriesLeft] = [:]
    /// Why reading has ended early.
    package private(set) var error: FileCardReadingError?

    private let session: ISO7816Session
    private let root: SelectTarget
    private var recorder: FileCardRecorder
    private var given: Set<LicensePIN> = []
    private var verified: Set<LicensePIN> = []
    private var refusals: [LicensePIN: CardPINState.Reason] = [:]

    /// Says which licence it is, and reads all that needs no PIN.
    ///
    /// - Throws: ``FileCardReadingError`` when it is no licence, and when it cannot be read whether PINs are set.
    package init(_ session: ISO7816Session, _ card: CardIdentity) throws(FileCardReadingError) {
        self.session = session
        kind = try LicenseReader.kind(session)
        root = kind == .license ? try LicenseReader.root(session) : .masterFile
        recorder = FileCardRecorder(session, card)
        let setting: LicenseFile = kind == .license ? .pinSetting : .myNumberPINSetting
        recorder.read(setting, root)
        if let failure = recorder.failure { throw .card(failure) }
        arePINsSet = try LicenseReader.setting(recorder.dump.application(setting.application)?.file(setting.id))
        if kind == .license { recorder.read(.commonData, root) }
        askForTries()
    }

    /// The PINs of such a card, in the order in which they are verified.
    package var pins: [LicensePIN] { kind.pins }

    /// Sends PINs, in the order of ``pins``, through the guard; what is not among them is not sent.
    ///
    /// Where the holder has set none, what the card has in their place is sent, whatever is given.
    ///
    /// - Returns: whether all went well; else ``error`` says why.
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
        self.given = Set(requests.map(\.0))
        do throws(PINGuardError) {
            _ = try session.pinGuard.verify(requests.map(\.1), in: session, consent: consent)
            verified = Set(requests.map(\.0))
        } catch {
            refuse(error)
            if error.leavesEarlierPINsVerified {
                let failed = requests.firstIndex { $0.1.reference == error.reference } ?? 0
                verified = Set(requests.prefix(failed).map(\.0))
            } else if let failure = error.exchangeFailure {
                recorder.end(failure)
            }
        }
        return error == nil
    }

    /// Ends the verification: a PIN was not taken, or not even sent.
    ///
    /// Only the first error counts.
    package mutating func refuse(_ error: PINGuardError) {
        guard self.error == nil else { return }
        self.error = .pin(error)
        guard let pin = pins.first(where: { reference($0) == error.reference }) else { return }
        tries[pin] = error.triesLeft(before: tries[pin])
        refusals[pin] = CardPINState.Reason(error)
    }

    /// Where a PIN of this card is, and what it may be.
    package func reference(_ pin: LicensePIN) -> PINReference { pin.reference(isSet: arePINsSet, root: root) }

    /// Reads what the verified PINs open, and gives everything that was read.
    package mutating func finish() -> CardDump {
        for file in kind.files where file.access != .free {
            // Of a file whose PIN was given, a failed exchange means that it is lost.
            if isOpen(file, with: recorder.failure == nil ? verified : given) {
                recorder.read(file, root)
            } else {
                recorder.add(FileDump(id: file.id, state: .keyRequired), of: file.application)
            }
        }
        if error == nil, let failure = recorder.failure { error = .card(failure) }
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
        for pin in pins where recorder.failure == nil && error == nil {
            recorder.forgetSelection()
            do throws(ISO7816Error) {
                tries[pin] = try session.pinGuard.triesLeft(
                    of: reference(pin), in: session)
            } catch {
                self.error = .card(error)
                recorder.end(error)
            }
        }
    }

    /// By the names of the applications: a locked one (6283) is there as well.
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

    /// The form of SELECT by which this card lets its master file be selected.
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

    /// Whether PINs are set: just the bytes of a licence will do, since a mistake here costs a try.
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
    /// What went wrong between reader and card, where that was it.
    var exchangeFailure: ISO7816Error? {
        switch self {
        case .triesUnreadable(_, let error), .interrupted(_, let error, _, _): error
        default: nil
        }
    }

    /// Whether the card was as it should be when it said no, so that what it has taken before still opens files.
    fileprivate var leavesEarlierPINsVerified: Bool {
        switch self {
        case .locked, .lastTry, .notVerifiable, .wrong, .refused: true
        default: false
        }
    }
}

extension CardPINState.Reason {
    /// Why a PIN opened nothing; `nil` where the radio failed, which says nothing of the PIN.
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
    /// Reads a file of a licence.
    fileprivate mutating func read(_ file: LicenseFile, _ root: SelectTarget) {
        read(file.id, of: file.application, limit: file.longest, root: root)
    }
}

extension LicensePIN {
    /// What a card has in its place when its holder set none: four asterisks.
    static let unset: [UInt8] = [0x2A, 0x2A, 0x2A, 0x2A]

    /// Where it is, and that it has four digits: on a licence by its number under the master file, as hmpow's programs
    /// do with real cards.
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
