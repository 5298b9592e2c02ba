// SPDX-License-Identifier: Apache-2.0

internal import ByteCodec
internal import CardCiphers
package import CardCrypto
package import CardModel
package import ISO7816

/// Reads a My Number card into a dump.
///
/// It reads what is open, the remaining tries of every PIN, with the four-digit PIN the four items, and with 照合番号B the
/// face of the card. The dump never contains a PIN, the picture of the security code, or anything that was made from the personal number,
/// and nothing is signed.
package struct MyNumberReader: IdentityReader {
    /// The remaining tries of each PIN, as last reported by the card.
    package private(set) var tries: [MyNumberPIN: TriesLeft] = [:]
    package var error: FileCardReadingError? { recorder.error }

    private let session: ISO7816Session
    private var recorder: FileCardRecorder
    /// What the check of the four items found; `nil` if they were not read.
    package private(set) var itemsCheck: MyNumberItemsCheck?
    private var verified: Set<MyNumberPIN> = []
    private var refusals: [MyNumberPIN: CardPINState.Reason] = [:]
    /// Whether the face is wanted.
    private var wantsFace = false
    /// What of 照合番号B the chip says in other words, once it was sent.
    private var typedNumber: SecretBytes?
    /// 照合番号B compared with the face; `nil` if it did not open the face.
    package private(set) var typedMatch: TypedMatch?
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
        for file in MyNumberFile.allCases
        where file.application == application && file.pin == nil && !file.isSignersCertificate {
            recorder.read(file)
        }
        for pin in MyNumberPIN.allCases where pin.application == application { askForTries(pin) }
    }

    private mutating func askForTries(_ pin: MyNumberPIN) {
        guard error == nil else { return }
        recorder.forgetSelection()
        do throws(ISO7816Error) {
            let left = try session.pinGuard.triesLeft(of: MyNumberReader.reference(pin), in: session)
            tries[pin] = left
            if left.isOfPIN { known.insert(pin) }
        } catch .status {
            // Not every generation of the card has all of them.
        } catch {
            recorder.end(.card(error))
        }
    }

    /// Verifies the PIN of a source for the four items, once the card has reported the tries left.
    package mutating func verify(_ source: PINSource) { verify(source, for: .cardInput) }

    /// Verifies 照合番号B of a source for the face, once the card has reported the tries left.
    package mutating func verifyFace(_ source: PINSource) {
        wantsFace = true
        verify(source, for: .cardSurfaceNumberB)
    }

    private mutating func verify(_ source: PINSource, for pin: MyNumberPIN) {
        guard error == nil,
            let choice = source.choose([PINPrompt(MyNumberReader.reference(pin), tries[pin])])
        else { return }
        let isReached = choice.pass { _, pins in pins.allSatisfy { verify($0, for: pin, consent: choice.consent) } }
        if isReached, let refusal = choice.refusal { refuse(refusal, pin) }
    }

    /// Sends a PIN through the guard: that of 券面事項入力補助, or 照合番号B of 券面.
    ///
    /// - Returns: whether the card accepted it; otherwise ``error`` gives the reason.
    @discardableResult
    package mutating func verify(_ pin: PIN, for which: MyNumberPIN = .cardInput, consent: PINConsent) -> Bool {
        guard error == nil else { return false }
        recorder.forgetSelection()
        if which == .cardSurfaceNumberB { typedNumber = pin.printedPart(CheckNumberB.length) }
        do throws(PINGuardError) {
            let request = PINRequest(MyNumberReader.reference(which), pin)
            _ = try session.pinGuard.verify([request], in: session, consent: consent)
            verified.insert(which)
            recorder.noteSelection(which.application.aid)
        } catch {
            refuse(error, which)
            if let failure = error.exchangeFailure { recorder.end(.card(failure)) }
        }
        return verified.contains(which)
    }

    /// Ends the verification: the PIN was not accepted, or not even sent.
    ///
    /// Only the first error counts.
    private mutating func refuse(_ error: PINGuardError, _ pin: MyNumberPIN) {
        guard self.error == nil else { return }
        recorder.refuse(.pin(error))
        tries[pin] = error.triesLeft(before: tries[pin])
        refusals[pin] = CardPINState.Reason(error)
    }

    /// Reads what the verified PINs unlock, and returns everything that was read.
    package mutating func finish() -> CardDump {
        for file in MyNumberFile.allCases where file != .face || wantsFace {
            guard let pin = file.pin else { continue }
            guard verified.contains(pin) else {
                recorder.add(FileDump(id: file.id, state: .keyRequired), of: file.application.aid)
                continue
            }
            recorder.read(file)
            switch file {
            case .attributes:
                recorder.read(.cardInputCertificate)
                itemsCheck = checkItems()
            case .face:
                recorder.read(.faceCertificate)
                typedMatch = matchFace()
            default: break
            }
        }
        typedNumber = nil
        for pin in MyNumberPIN.allCases {
            guard known.contains(pin) else { continue }
            let state = CardPINState(
                triesLeft: tries[pin]?.number, isVerified: verified.contains(pin), refusal: refusals[pin])
            recorder.add(FileDump(id: pin.file, state: .keyRequired, pin: state), of: pin.application.aid)
        }
        return recorder.dump
    }

    /// Compares the number that opened the face with the dates on it.
    private func matchFace() -> TypedMatch {
        let file = recorder.dump.application(MyNumberFile.face.application.aid)?.file(MyNumberFile.face.id)
        guard let typedNumber, let file, file.state == .read, let face = BERTLVList(tolerant: file.data)[0xFF20],
            let birth = face[0xDF22], let expiry = face[0xDF29]
        else { return .unknown }
        return CheckNumberB.match(typedNumber, birth: birth.value, expiry: expiry.value)
    }

    /// Reads what signs the four items, compares, and overwrites it.
    private mutating func checkItems() -> MyNumberItemsCheck {
        let application = recorder.dump.application(MyNumberFile.attributes.application.aid)
        guard !recorder.isLost, let items = application?.file(MyNumberFile.attributes.id), items.state == .read
        else { return .incomplete }
        var secret: [UInt8]
        do throws(ISO7816Error) {
            try session.select(.childEF(MyNumberFile.attributesSignature))
            let contents = try session.readDataObject(limit: 1024)
            if case .failed(let error) = contents.end { throw error }
            secret = contents.data
        } catch .status(_, let status) {
            return status == .fileNotFound ? .absent : .incomplete
        } catch .malformed(_, .notADataObject) {
            return .malformed
        } catch {
            recorder.end(.card(error))
            return .incomplete
        }
        defer { secret.wipe() }
        guard let file = application?.file(MyNumberFile.cardInputCertificate.id), file.state == .read else {
            return .incomplete
        }
        guard let certificate = CardVerifiableCertificate(file.data) else { return .malformed }
        return MyNumberItemsCheck(secret, of: items.data, by: certificate.key)
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
        // The picture of the security code, which nothing signs: with it, a dump or a trace would hold 照合番号B.
        read(
            file.id, of: file.application.aid, limit: file.longest, isDataObject: file != .token,
            leavingOut: file == .face ? 0xDF2A : nil)
    }
}

extension MyNumberItemsCheck {
    /// Checks the four items, FF20 with a table of offsets and DF22 to DF25, against FF30 { DF31 digest of the personal number,
    /// DF32 digest of the items, DF33 signature }.
    ///
    /// Source: soltia48/myna-card.
    package init(_ secret: [UInt8], of items: [UInt8], by key: PublicKey) {
        guard let signed = BERTemplate(secret, 0xFF30, containing: [0xDF31, 0xDF32, 0xDF33]),
            signed.value(of: 0xDF31).count == 32, signed.value(of: 0xDF32).count == 32,
            let content = BERTemplate(items, 0xFF20, containing: [0xDF21, 0xDF22, 0xDF23, 0xDF24, 0xDF25]),
            content.isTableOfOffsets(content.value(of: 0xDF21))
        else {
            self = .malformed
            return
        }
        do throws(CryptoError) {
            let digest = try Digest.sha256.hash(content.bytes(of: 0xDF22, 0xDF23, 0xDF24, 0xDF25))
            let isSigned = try key.verifies(
                signed.value(of: 0xDF33), of: signed.bytes(of: 0xDF31, 0xDF32), digest: .sha256, scheme: .pkcs1)
            self = isSigned && digest == signed.value(of: 0xDF32) ? .right : .wrong
        } catch {
            self = .notChecked
        }
    }
}
