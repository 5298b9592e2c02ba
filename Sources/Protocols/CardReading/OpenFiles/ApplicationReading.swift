// SPDX-License-Identifier: Apache-2.0

internal import ByteCodec
internal import CardModel
internal import ISO7816
internal import NDEF
internal import NFCForumTags
internal import ReaderCore

/// Reads the open files of one application.
struct ApplicationReading {
    private(set) var dump: ApplicationDump
    private let session: ISO7816Session
    private let aid: AID?
    private let earlier: ApplicationDump?
    /// The file being read.
    private var current: FileIdentifier?

    init(session: ISO7816Session, aid: AID?, earlier: ApplicationDump?) {
        self.session = session
        self.aid = aid
        self.earlier = earlier
        dump = ApplicationDump(aid: aid, selectAnswer: earlier?.selectAnswer, extra: earlier?.extra ?? JSONObject())
    }

    /// Selects the application and reads the files that an earlier dump does not contain completely.
    ///
    /// A missing application is not an error.
    ///
    /// - Throws: ``ReadingError`` if the card left or the reader failed.
    mutating func run(_ files: [OpenFile]) throws(ReadingError) {
        guard try select() else { return }
        for file in files {
            if file.length == .ndef {
                for named in ndefFiles { try read(named.id, named.size) }
            } else if let id = file.file {
                try read(id, file.length)
            }
        }
        current = nil
    }

    /// Returns the parts that were not read, for the dump's `missing`.
    func missing(_ reason: MissingPart.Reason) -> [MissingPart] {
        [MissingPart(application: aid, file: current, reason: reason)]
    }

    /// Whether the card is a Type 4 Tag.
    ///
    /// Type 4 Tags require P2 = 00 for the application and accept only P1 = 00 for files; cards with PINs need the
    /// other forms.
    private var isType4Tag: Bool { aid == Type4Tag.application }

    /// The NDEF files listed in the Capability Container.
    private var ndefFiles: [(id: FileIdentifier, size: OpenFile.Length)] {
        guard let bytes = dump.file(FileIdentifier(rawValue: 0xE103))?.data,
            let capability = Type4Capability(bytes), (1...3).contains(capability.majorVersion)
        else { return [] }
        return capability.files.filter { $0.kind != .proprietary && $0.isReadable }.map { ($0.id, .bytes($0.size)) }
    }

    private mutating func select() throws(ReadingError) -> Bool {
        guard let aid else {
            if try isDone({ session throws(ISO7816Error) in try session.select(.masterFile) }) { return true }
            return try isDone { session throws(ISO7816Error) in try session.select(.masterFileWithoutName) }
        }
        let answer = isType4Tag ? SelectAnswer.fileControlInformation : .nothing
        return try isDone { session throws(ISO7816Error) in
            try session.select(.application(aid), answer: answer)
        }
    }

    private mutating func read(_ id: FileIdentifier, _ length: OpenFile.Length) throws(ReadingError) {
        if let file = earlier?.file(id), file.state != .lost {
            dump.files.append(file)
            return
        }
        current = id
        do throws(ISO7816Error) {
            try session.select(isType4Tag ? .file(id) : .childEF(id))
            let contents = try contents(length)
            if case .failed(let error) = contents.end {
                dump.files.append(FileDump(id: id, state: .lost, data: contents.data))
                throw error
            }
            if case .refused(let status) = contents.end, contents.data.isEmpty {
                dump.files.append(FileDump(id: id, state: ReadState(refusedWith: status)))
            } else {
                dump.files.append(FileDump(id: id, state: .read, data: contents.data))
            }
        } catch .status(_, .fileNotFound) {
            return
        } catch .status(_, let status) {
            dump.files.append(FileDump(id: id, state: ReadState(refusedWith: status)))
        } catch .malformed {
            dump.files.append(FileDump(id: id, state: .refused(status: nil)))
            _ = try isDone { session throws(ISO7816Error) in try session.reselect() }
            _ = try select()
        } catch {
            if dump.file(id) == nil { dump.files.append(FileDump(id: id, state: .lost)) }
            throw ReadingError(error)
        }
    }

    private func contents(_ length: OpenFile.Length) throws(ISO7816Error) -> FileContents {
        switch length {
        case .bytes(let count): return session.readFile(limit: count)
        case .dataObject: return try session.readDataObject()
        case .counted, .ndef:
            let head = session.readFile(limit: 2)
            guard head.data.count == 2, case .limit = head.end else { return head }
            return session.readFile(limit: max(2, Int(head.data[0]) << 8 | Int(head.data[1])))
        }
    }

    /// Returns whether the card succeeded; an error status word and an invalid answer both count as failure.
    private func isDone<Value>(_ work: (ISO7816Session) throws(ISO7816Error) -> Value) throws(ReadingError) -> Bool {
        do throws(ISO7816Error) {
            _ = try work(session)
            return true
        } catch {
            switch error {
            case .status, .malformed: return false
            default: throw ReadingError(error)
            }
        }
    }
}

extension ReadingError {
    /// Converts the reason why reading an ISO 7816 card ended early.
    init(_ error: ISO7816Error) {
        switch error {
        case .transport(let error): self = CardSession.readingError(error)
        case .otherCard, .selectionLost: self = .cardLost
        default: self = .radio(.corrupted(status: 0))
        }
    }
}
