// SPDX-License-Identifier: Apache-2.0

internal import ByteCodec
public import CardModel
public import ISO7816
public import NFCTransport

/// Reads files of a card into a dump, one after another, until an exchange fails: what a card was told before, its PINs
/// above all, is forgotten then, and nothing that was sent may be sent again.
struct FileCardRecorder {
    /// What was read.
    private(set) var dump: CardDump
    /// Why there is no more; nothing is sent any more then.
    private(set) var failure: ISO7816Error?

    private let session: ISO7816Session
    /// The application that is selected; `nil` for none, and for the master file.
    private var current: AID?

    init(_ session: ISO7816Session, _ card: CardIdentity) {
        self.session = session
        dump = CardDump(card: card)
    }

    /// That another file is current now than the one that was read last.
    mutating func forgetSelection() { current = nil }

    /// An exchange failed that was not for a file: no more is read.
    mutating func end(_ error: ISO7816Error) {
        failure = failure ?? error
        dump.complete = false
    }

    /// Adds a file that was not read.
    mutating func add(_ file: FileDump, of application: AID?) {
        if let place = dump.applications.firstIndex(where: { $0.aid == application }) {
            dump.applications[place].files.append(file)
        } else {
            dump.applications.append(ApplicationDump(aid: application, files: [file]))
        }
    }

    /// Reads a file, whatever comes of it.
    ///
    /// - Parameters:
    ///   - root: what selects the master file.
    ///   - isDataObject: whether its own length says how far to read.
    mutating func read(
        _ id: FileIdentifier, of application: AID?, limit: Int, root: SelectTarget = .masterFile,
        isDataObject: Bool = false
    ) {
        guard failure == nil else {
            add(FileDump(id: id, state: .lost), of: application)
            note(id, application)
            return
        }
        do throws(ISO7816Error) {
            if application == nil || application != current {
                current = nil
                try session.select(application.map { .application($0) } ?? root)
                current = application
            }
            try session.select(.childEF(id))
            let contents = isDataObject ? try session.readDataObject(limit: limit) : session.readFile(limit: limit)
            add(FileDump(id: id, state: state(contents, limit), data: contents.data), of: application)
            if case .failed(let error) = contents.end { fail(error, id, application) }
        } catch .status(_, let status) {
            add(FileDump(id: id, state: FileCardRecorder.state(status)), of: application)
        } catch {
            add(FileDump(id: id, state: .lost), of: application)
            fail(error, id, application)
        }
    }

    private func state(_ contents: FileContents, _ limit: Int) -> ReadState {
        switch contents.end {
        case .failed: .lost
        case .refused(let status): FileCardRecorder.state(status)
        case .limit, .file: .read
        @unknown default: .read
        }
    }

    /// What a status word that says no makes of a file.
    private static func state(_ status: StatusWord) -> ReadState {
        status == .securityStatusNotSatisfied ? .keyRequired : .refused(status: status.rawValue)
    }

    private mutating func fail(_ error: ISO7816Error, _ id: FileIdentifier, _ application: AID?) {
        end(error)
        note(id, application)
    }

    private mutating func note(_ id: FileIdentifier, _ application: AID?) {
        dump.missing.append(MissingPart(application: application, file: id, reason: "cardLost"))
    }
}

/// Why a licence or a My Number card was not read, or not to its end.
@nonexhaustive
public enum FileCardReadingError: Error, Hashable, Sendable {
    /// The card has none of the applications that were looked for.
    case otherCard
    /// Whether PINs are set could not be read, so nothing else was done: an unset PIN is `****`, and trying that where
    /// one is set would use up a try.
    case pinSettingUnreadable(StatusWord?)
    /// An exchange failed.
    case card(ISO7816Error)
    /// A PIN was not sent, or was sent in vain.
    case pin(PINGuardError)
}

extension CardIdentity {
    /// What a reader learnt of a card when it selected it.
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
