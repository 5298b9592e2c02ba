// SPDX-License-Identifier: Apache-2.0

internal import ByteCodec
public import CardModel
public import ISO7816
public import ReaderCore

/// Reads an identity document: what is free when it is made, then what a PIN or a number opens.
package protocol IdentityReader {
    /// Why reading ended early, or why a PIN or number opened nothing.
    var error: FileCardReadingError? { get }
    /// Reads what was opened, and returns everything that was read.
    mutating func finish() -> CardDump
}

/// Reads files of a card into a dump, one after another, until an exchange fails.
///
/// The card has then lost its state, above all the verified PINs, and nothing that was sent can be sent again.
struct FileCardRecorder {
    /// The files that were read.
    private(set) var dump: CardDump
    /// Why reading ended early: the first reason.
    private(set) var error: FileCardReadingError?
    /// Whether an exchange failed; nothing is sent after that.
    var isLost: Bool { !dump.isComplete }

    private let session: ISO7816Session
    /// The selected application; `nil` for none, and for the master file.
    private var current: AID?

    init(_ session: ISO7816Session, _ card: CardIdentity) {
        self.session = session
        dump = CardDump(card: card)
    }

    /// Notes that the current file is no longer the one that was read last.
    mutating func forgetSelection() { current = nil }

    /// Notes that an application was selected otherwise: it is not selected again, which could forget a verified PIN.
    mutating func noteSelection(_ application: AID?) { current = application }

    /// Notes why something stays closed; what is open is still read.
    mutating func refuse(_ error: FileCardReadingError) { self.error = self.error ?? error }

    /// Notes that an exchange failed: nothing more is read.
    mutating func end(_ error: FileCardReadingError) {
        refuse(error)
        dump.isComplete = false
    }

    /// Notes why a PIN or number opened nothing: the card refused it, or an exchange failed.
    mutating func close(_ error: FileCardReadingError) {
        switch error {
        case .secure(.card(.status)), .secure(.wrongNumber), .secure(.crypto): refuse(error)
        case .card, .secure: end(error)
        default: refuse(error)
        }
    }

    /// Adds a file, read or not.
    mutating func add(_ file: FileDump, of application: AID?) {
        if let place = dump.applications.firstIndex(where: { $0.aid == application }) {
            dump.applications[place].files.append(file)
        } else {
            dump.applications.append(ApplicationDump(aid: application, files: [file]))
        }
    }

    /// Reads a file and records the result, whatever it is.
    ///
    /// - Parameters:
    ///   - root: selects the master file.
    ///   - isDataObject: whether its own length determines how far to read.
    ///   - hidden: an object in that data object whose value is not read.
    mutating func read(
        _ id: FileIdentifier, of application: AID?, limit: Int, root: SelectTarget = .masterFile,
        isDataObject: Bool = false, leavingOut hidden: BERTag? = nil
    ) {
        guard !isLost else { return lose(id, application) }
        do throws(ISO7816Error) {
            if application == nil || application != current {
                current = nil
                try session.select(application.map { .application($0) } ?? root)
                current = application
            }
            try session.select(.childEF(id))
            let contents: FileContents
            if let hidden {
                contents = try session.readDataObject(limit: limit, leavingOut: hidden)
            } else {
                contents = isDataObject ? try session.readDataObject(limit: limit) : session.readFile(limit: limit)
            }
            if case .failed(let error) = contents.end {
                end(.card(error))
                return lose(id, application, data: contents.data)
            }
            add(FileDump(id: id, state: state(contents), data: contents.data), of: application)
        } catch .status(_, let status) {
            add(FileDump(id: id, state: ReadState(refusedWith: status)), of: application)
        } catch .malformed(_, .notADataObject) {
            // The exchanges succeeded; only the contents are not what is expected.
            add(FileDump(id: id, state: .refused(status: nil)), of: application)
        } catch {
            end(.card(error))
            lose(id, application)
        }
    }

    /// Reads a file in a way of the card's own, after a key opened it: whatever the card's word is, it is a refusal.
    mutating func read(
        _ id: FileIdentifier, of application: AID?, _ contents: () throws(SecureMessagingError) -> [UInt8]
    ) {
        guard !isLost else { return lose(id, application) }
        do throws(SecureMessagingError) {
            add(FileDump(id: id, state: .read, data: try contents()), of: application)
        } catch .card(.status(_, let status)) {
            add(FileDump(id: id, state: .refused(status: status.rawValue)), of: application)
        } catch .card(.malformed(_, .notADataObject)) {
            add(FileDump(id: id, state: .refused(status: nil)), of: application)
        } catch {
            end(.secure(error))
            lose(id, application)
        }
    }

    private func state(_ contents: FileContents) -> ReadState {
        switch contents.end {
        case .failed: .lost
        case .refused(let status): ReadState(refusedWith: status)
        case .limit, .file: .read
        @unknown default: .read
        }
    }

    private mutating func lose(_ id: FileIdentifier, _ application: AID?, data: [UInt8] = []) {
        add(FileDump(id: id, state: .lost, data: data), of: application)
        dump.missing.append(MissingPart(application: application, file: id, reason: .cardLost))
    }
}

extension ReadState {
    /// The state of a file that the card refused to select or read with this status word.
    init(refusedWith status: StatusWord) {
        self = status == .securityStatusNotSatisfied ? .keyRequired : .refused(status: status.rawValue)
    }
}

/// Why a license, a My Number card, a residence card or a passport was not read, or not completely.
@nonexhaustive
public enum FileCardReadingError: Error, Hashable, Sendable {
    /// The card has none of the expected applications.
    case otherCard
    /// Whether PINs are set could not be read, so nothing else was done.
    ///
    /// An unset PIN is `****`, and trying that where one is set would use up a try.
    case pinSettingUnreadable(StatusWord?)
    /// An exchange failed.
    case card(ISO7816Error)
    /// A PIN was not sent, or was sent without success.
    case pin(PINGuardError)
    /// A protected exchange failed, or the card does not accept the number.
    case secure(SecureMessagingError)
    /// The card has a type that this version does not know; the type's digits.
    case unknownType(String)
    /// The card is recognized, and cannot be read yet: a residence card that is part of a My Number card.
    case unsupported(ResidenceType)
    /// The passport does not accept number, birth date and expiry, or the card access number; the tries left, if it counts them.
    case wrongPassportKey(TriesLeft?)
    /// One try is left for the password of the passport; it was not sent.
    case lastTry
    /// The passport opens by PACE only, and lists no protocol that this version knows.
    case paceRequired
    /// The passport has no PACE, which a card access number needs.
    case noPACE
}

extension FileCardReadingError: SelfDescribing {
    /// What ended the reading, or what happened to the PIN.
    public var message: LocalizedText {
        switch self {
        case .otherCard:
            return LocalizedText(
                "wrong kind of card: it has none of the expected applications",
                "このカードには、対象のアプリケーションがありません")
        case .pinSettingUnreadable(let status):
            let cause = status?.text
            return LocalizedText(
                "cannot read whether PINs are set\(cause.map { ": \($0.english)" } ?? ""); nothing else was done",
                "暗証番号が設定されているかを読めない\(cause.map { ": \($0.japanese)" } ?? "")ため、何もしませんでした")
        case .card(let error): return error.message
        case .pin(let error): return error.message
        case .secure(let error): return error.message
        case .unknownType(let code):
            return LocalizedText(
                "the card says that it is a residence card of the unknown type \(code)",
                "未知の種別 \(code) の在留カードです")
        case .unsupported(let type):
            return LocalizedText(
                "\(type.name.english) (type \(type.rawValue)): residence cards inside a My Number card cannot be read yet",
                "\(type.name.japanese)（種別 \(type.rawValue)）: マイナンバーカードと一体の在留カードはまだ読めません")
        case .wrongPassportKey(let left):
            let text = LocalizedText(
                "the passport does not accept this number, or birth date and expiry",
                "番号、または生年月日・有効期間満了日が旅券と一致しません")
            guard let left else { return text }
            return text + LocalizedText(" (", "（") + left.message + LocalizedText(")", "）")
        case .lastTry:
            return LocalizedText(
                "one try is left before the passport locks; nothing was sent", "残り 1 回で旅券がロックされるため、送りませんでした")
        case .paceRequired:
            return LocalizedText(
                "this passport opens by PACE only, with a protocol that is not supported", "この旅券は未対応の方式の PACE でしか開けません")
        case .noPACE:
            return LocalizedText(
                "this passport has no PACE, which a card access number needs", "この旅券は PACE に対応していないため、CAN では開けません")
        }
    }
}

extension CardIdentity {
    /// Makes an identity from a card's answers when a reader selected it.
    public init(_ picc: PICC) {
        switch picc {
        case .felica(let target): self.init(technology: .felica, idm: target.idm, pmm: target.pmm)
        case .typeA(let target):
            self = .typeA(uid: target.uid, atqa: target.atqa, sak: target.sak, ats: target.ats)
        case .typeB(let target):
            self = .typeB(
                pupi: target.pupi, applicationData: target.applicationData, protocolInfo: target.protocolInfo)
        @unknown default: self.init(technology: picc.technology)
        }
    }
}
