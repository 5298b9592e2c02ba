// SPDX-License-Identifier: Apache-2.0

internal import CardCiphers
package import CardDecoders
public import CardModel
package import CardReading
package import ISO7816
public import NDEF
public import NFCForumTags
package import ReaderCore

extension Card {
    /// Returns the card as an NFC Forum tag, for its message as bytes, its capacity and whether it can be written.
    ///
    /// - Throws: ``KazasuError/wrongCard(_:)`` for a card that cannot be a tag.
    public func forumTag() throws(KazasuError) -> ForumTag { try forumTag(nil) }

    /// Returns the card as an NFC Forum tag, and opens what its key or password protects.
    ///
    /// ```swift
    /// guard let password = Type2Password(bytes) else { return }
    /// let tag = try card.forumTag(.password(password, rules))
    /// ```
    ///
    /// A tag may lock itself forever after some wrong secrets, and does not say how many were tried: ``TagSecretRules`` decides
    /// whether this one is used at all.
    ///
    /// - Parameter credential: the key or password; `nil` opens nothing.
    /// - Throws: ``KazasuError/wrongCard(_:)``; ``KazasuError/tag(_:)`` if it supports none or refuses this one.
    public func forumTag(_ credential: TagCredential?) throws(KazasuError) -> ForumTag {
        guard let tag else { throw .wrongCard(WrongCard(picc, .kind(wanted: .tag))) }
        var found = ForumTag(card: self, tag: tag, hasKey: credential != nil)
        guard let credential else { return found }
        try found.run { () throws(TagError) in
            switch (credential, tag) {
            case (.key(let key, let rules), .type2(let tag)): try tag.authenticate(key, rules)
            case (.key(let key, let rules), .card(.typeA(let target), let session)):
                let message = DESFireKey(key).map { DESFireMessage(session: session, key: $0) }
                if target.isDESFire, let message {
                    try message.authenticate()
                    found.keyedMessage = message
                    break
                }
                let tag = NTAG424Tag(session: session, key: key, uid: target.uid)
                do throws(TagError) {
                    try tag.authenticate(rules)
                    found.keyed = tag
                } catch .takesNoKey {
                    // Not every reader gives the ATS.
                    guard let message else { throw .takesNoKey }
                    try message.authenticate()
                    found.keyedMessage = message
                } catch {
                    throw error
                }
            case (.desfire(let key), .card(.typeA, let session)):
                let message = DESFireMessage(session: session, key: key)
                do throws(TagError) {
                    try message.authenticate()
                } catch .takesNoKey where found.isNTAG424 {
                    throw .key(key.misplaced)
                } catch {
                    throw error
                }
                found.keyedMessage = message
            case (.desfire(let key), .type2(let tag)):
                throw try tag.product()?.takesKey == true ? TagError.key(key.misplaced) : TagError.takesNoKey
            case (.password(let password, let rules), .type2(let tag)): try tag.authenticate(password, rules)
            case (.key, _), (.desfire, _): throw .takesNoKey
            case (.password, _): throw .password(.notSupported)
            }
        }
        return found
    }
}

/// An NFC Forum Type 2, 3 or 4 Tag on a reader.
public struct ForumTag {
    let card: Card
    let tag: FoundTag
    fileprivate let hasKey: Bool
    /// The NTAG 424 DNA that was opened with a key.
    fileprivate var keyed: NTAG424Tag?
    /// The message of a DESFire that was opened with a key.
    fileprivate var keyedMessage: DESFireMessage?

    /// The type of tag, 2, 3 or 4; `nil` if the card cannot hold a message.
    public var type: Int? { tag.ndef?.typeNumber }

    /// The card.
    public var identity: CardIdentity { card.identity }

    // MARK: NDEF

    /// Reads the bytes of the message, and whether they can be overwritten.
    ///
    /// - Throws: ``KazasuError/tag(_:)``; ``TagError/noNDEF(_:)`` if the tag cannot hold a message.
    public func readNDEF() throws(KazasuError) -> NDEFArea {
        try run { () throws(TagError) in try ndef().readNDEF() }
    }

    /// Checks whether a message can be written; writes nothing.
    ///
    /// - Parameter bytes: the bytes of an NDEF message; empty to leave the tag without one.
    /// - Returns: the length of the message on the tag; a half-written one cannot be lost and counts as 0.
    /// - Throws: ``KazasuError/tag(_:)``.
    public func checkWriting(_ bytes: [UInt8]) throws(KazasuError) -> Int {
        try run { () throws(TagError) in
            let tag = try ndef()
            try tag.checkWriting(bytes)
            do throws(TagError) {
                return try tag.readNDEF().message.count
            } catch .noNDEF {
                return 0
            } catch {
                throw error
            }
        }
    }

    /// Overwrites the message, then reads it back and compares.
    ///
    /// - Parameter bytes: the bytes of an NDEF message; empty to leave the tag without one.
    /// - Throws: ``KazasuError/tag(_:)``.
    public func writeNDEF(_ bytes: [UInt8]) throws(KazasuError) {
        try run { () throws(TagError) in try ndef().writeNDEF(bytes) }
    }

    private func ndef() throws(TagError) -> any NDEFTag {
        if let keyed { return keyed }
        if let keyedMessage { return keyedMessage }
        guard let ndef = tag.ndef else { throw .noNDEF(.notFormatted) }
        return ndef
    }

    // MARK: Everything that identifies the tag

    /// What is known about a tag, and why reading it ended early if it did.
    public struct Information: Hashable, Sendable {
        package let report: TagReport
        /// Everything that was read.
        public let dump: CardDump
        /// The check of its signature; `nil` if the chip has none.
        public let originality: Originality?
        /// What an NTAG 424 DNA tells with a key; `nil` without one.
        public let keyed: NTAG424Information?
        package let interruption: ReadingError?

        /// The type of tag, 2, 3 or 4; `nil` for a FeliCa Lite that does not announce NDEF.
        public var type: Int? { report.ndef == .none(.notAnnounced) ? nil : report.type }

        /// The name of the product; `nil` if the tag does not reveal it.
        public var product: String? { report.product }

        /// The NDEF message; `nil` without one that can be read, for the reason ``absence``.
        public var message: NDEFArea? {
            guard case .message(let bytes, let capacity, let isWritable) = report.ndef else { return nil }
            return NDEFArea(message: bytes, capacity: capacity, obstacle: isWritable ? nil : .readOnly)
        }

        /// Why there is no NDEF message; `nil` if there is one.
        public var absence: NDEFAbsence? {
            if case .none(let reason) = report.ndef { reason } else { nil }
        }

        /// Why reading ended early; `nil` if it did not.
        public var error: KazasuError? { interruption.map { KazasuError($0) } }

        /// Returns the dump, or throws the error that ended reading early.
        public func get() throws(KazasuError) -> CardDump {
            if let error { throw error }
            return dump
        }
    }

    /// Reads what identifies the tag: product, locks, counters and message. Nothing is written.
    ///
    /// An NTAG 424 DNA that was opened with a key is closed afterwards: read its message first.
    ///
    /// - Throws: ``KazasuError`` if nothing is known of a tag.
    public func information() throws(KazasuError) -> Information {
        let outcome: DumpOutcome
        // Selecting the application for the dump ends what the key opened.
        let told = try run { () throws(TagError) in try keyed?.information() }
        let opened = try messageByKey()
        switch tag {
        case .type2(let tag): outcome = Type2Dumper(tag: tag).dump()
        case .type3(_, let target): outcome = try dump([target.pmm.isLite ? .lite : .ndef, .ndef])
        case .lite: outcome = try dump([.lite])
        case .card(_, let session):
            let plan = OpenFile.all.filter { $0.application == Type4Tag.application }
            outcome = OpenFileDumper(session: session, identity: identity, plan: plan).dump()
        }
        if var report = TagReport(outcome.dump, hasKey: hasKey) {
            if let opened, case .none = report.ndef { report.ndef = opened }
            let originality = try originality(report, outcome, uid: told?.uid)
            if case .card = tag, outcome.interruption == nil { report.product = try product() }
            return Information(
                report: report, dump: outcome.dump, originality: originality, keyed: told,
                interruption: outcome.interruption)
        }
        if let interruption = outcome.interruption { throw KazasuError(interruption) }
        if case .card = tag { throw .wrongCard(card.reader.wrongCard(card.found, wanted: .tag)) }
        throw .tag(.noNDEF(.notFormatted))
    }

    /// The message that an NTAG 424 DNA gives with its key, or why it gives none; `nil` without a key.
    private func messageByKey() throws(KazasuError) -> TagReport.NDEFState? {
        guard let keyed else { return nil }
        return try run { () throws(TagError) in
            do throws(TagError) {
                let area = try keyed.readNDEF()
                return .message(area.message, capacity: area.capacity, isWritable: area.obstacle == nil)
            } catch .noNDEF(let absence) {
                return .none(absence)
            } catch {
                throw error
            }
        }
    }

    /// Checks the signature that was read with a tag, or that a card gives; `nil` for a chip that has none.
    private func originality(
        _ report: TagReport, _ outcome: DumpOutcome, uid: [UInt8]?
    ) throws(KazasuError) -> Originality? {
        switch tag {
        case .type2(let tag):
            guard let signature = report.type2?.signature else { return nil }
            return Originality(
                signature: signature, uid: tag.target.uid, isKnown: report.type2?.product?.hasSignature == true)
        case .card where outcome.interruption == nil:
            let result = try originality(uid: uid)
            return result.state == .absent ? nil : result
        default: return nil
        }
    }

    /// Asks the chip for the signature over its UID, and checks it.
    ///
    /// - Parameter uid: the real UID of a chip that shows a random one; `nil` if it is not known.
    /// - Throws: ``KazasuError`` if the tag left.
    public func originality(uid: [UInt8]? = nil) throws(KazasuError) -> Originality {
        switch tag {
        case .type2(let tag):
            return try run { () throws(TagError) in
                let product = try tag.product()
                let signature = try tag.signature()
                guard signature != nil || tag.notPassed.isEmpty else { return Originality(notChecked: .reader) }
                return Originality(signature: signature, uid: tag.target.uid, isKnown: product?.hasSignature == true)
            }
        case .card(let picc, let session):
            guard case .typeA(let target) = picc else { return Originality(.absent) }
            let answer: ResponseAPDU
            do {
                answer = try session.transmitOnce(CommandAPDU(decoding: Originality.isoCommand))
            } catch let error as ISO7816Error {
                throw error == .transport(.cancelled) ? .cancelled : .tag(.iso7816(error))
            } catch {
                return Originality(.absent)
            }
            guard [0x9190, 0x9100, 0x9000].contains(answer.status), answer.data.count == Originality.isoLength else {
                return Originality(.absent)
            }
            // Zeros are none, whatever they would be over.
            guard answer.data.contains(where: { $0 != 0 }) else { return Originality(.absent) }
            let uid = uid ?? target.uid
            guard uid.count == 7 else { return Originality(notChecked: .randomUID) }
            return Originality(signature: answer.data, uid: uid, isKnown: true)
        case .type3, .lite: return Originality(.absent)
        }
    }

    /// The name of the product; `nil` if the tag does not reveal it.
    public func product() throws(KazasuError) -> String? {
        switch tag {
        case .type2(let tag): return try run { () throws(TagError) in try tag.product()?.name }
        case .card(.typeA, let session):
            do throws(ISO7816Error) {
                let answer = try session.transmitOnce(NTAG424Tag.getVersion)
                return answer.status.rawValue == 0x91AF ? NTAG424Tag.product(version: answer.data) : nil
            } catch .transport(.cancelled) {
                throw .cancelled
            } catch {
                return nil
            }
        default: return nil
        }
    }

    /// Whether the card says that it is an NTAG 424 DNA.
    fileprivate var isNTAG424: Bool { (try? product()) != nil }

    private func dump(_ systems: [SystemCode]) throws(KazasuError) -> DumpOutcome {
        guard let session = card.feliCaSession else { throw .wrongCard(WrongCard(card.picc, .kind(wanted: .feliCa))) }
        return CardDumper(session: session, selection: DumpSelection(systems: systems)).dump()
    }

    // MARK: Pages

    /// Reads pages of a Type 2 Tag.
    ///
    /// - Parameter numbers: the pages, four bytes each, counted from 0; `nil` for all that need no password.
    /// - Returns: a dump of the pages, and why reading ended early, if it did.
    /// - Throws: ``KazasuError/tag(_:)`` with ``TagError/notType2``; ``DumpResult/error`` if no page was read.
    public func readPages(_ numbers: [UInt16]? = nil) throws(KazasuError) -> DumpResult {
        try pages(numbers).unlessEmpty()
    }

    /// Reads pages as ``readPages(_:)`` does.
    ///
    /// - Returns: the dump as well if the tag left before the first page.
    package func pages(_ numbers: [UInt16]?) throws(KazasuError) -> DumpResult {
        let tag = try run { () throws(TagError) in try type2() }
        guard let numbers else {
            let outcome = Type2Dumper(tag: tag).dump()
            return DumpResult(dump: outcome.dump, error: outcome.interruption.map { KazasuError($0) })
        }
        var dump = CardDump(card: identity, type2: Type2Dump(pages: [:]))
        do throws(TagError) {
            for page in numbers { dump.type2?.pages[page] = try tag.page(page) }
        } catch {
            return DumpResult(dump: dump, error: KazasuError(error))
        }
        return DumpResult(dump: dump, error: nil)
    }

    /// Checks whether pages of a Type 2 Tag can be written; writes nothing.
    ///
    /// - Parameter isPermanent: whether pages may be written that cannot be restored.
    /// - Throws: ``TagError/notType2``, ``TagError/notWritable(_:)``.
    package func checkWriting(pages: ClosedRange<UInt16>, isPermanent: Bool) throws(KazasuError) {
        try run { () throws(TagError) in
            let tag = try type2()
            let secret = try tag.product()?.secretPages
            let safe = try tag.userPages()
            let obstacle = try tag.obstacle(to: pages)
            if let secret, secret.overlaps(pages) {
                throw .notWritable(.secret(page: max(pages.lowerBound, secret.lowerBound)))
            }
            if !isPermanent, let unsafe = pages.first(where: { !safe.contains($0) }) {
                throw .notWritable(.permanent(page: unsafe))
            }
            if let obstacle { throw .notWritable(obstacle) }
        }
    }

    /// Writes pages of a Type 2 Tag, and reads them back unless that is permanent.
    ///
    /// - Parameters:
    ///   - first: the first page.
    ///   - contents: four bytes for each page.
    ///   - isPermanent: as in ``checkWriting(pages:isPermanent:)``, which comes first.
    /// - Throws: ``KazasuError/tag(_:)``.
    package func write(from first: UInt16, _ contents: [[UInt8]], isPermanent: Bool) throws(KazasuError) {
        try run { () throws(TagError) in
            let tag = try type2()
            for (place, bytes) in contents.enumerated() { try tag.write(page: first &+ UInt16(clamping: place), bytes) }
            tag.forget()
            guard !isPermanent else { return }
            let mirrored = try tag.configuration()?.mirroredBytes ?? 0..<0
            for (place, bytes) in contents.enumerated() {
                let page = first &+ UInt16(clamping: place)
                let start = Int(page) * Type2Memory.pageSize
                let isSame = zip(try tag.page(page), bytes).enumerated().allSatisfy { offset, pair in
                    pair.0 == pair.1 || mirrored.contains(start + offset)
                }
                guard isSame else { throw .notVerified }
            }
        }
    }

    /// Overwrites pages of a Type 2 Tag, then reads them back and compares.
    ///
    /// Pages whose bits can only be set, such as locks, and pages that hold a password are refused before anything is
    /// written.
    ///
    /// ```swift
    /// try card.forumTag().writePages([0x01, 0x02, 0x03, 0x04], from: 4)
    /// ```
    ///
    /// - Parameters:
    ///   - bytes: four for each page; a last page that they do not fill keeps its other bytes.
    ///   - first: the first page, counted from 0; user memory begins at 4.
    /// - Throws: ``KazasuError/tag(_:)``: ``TagError/notType2``, ``TagError/notWritable(_:)``,
    ///   ``TagError/notVerified`` if other bytes were read back.
    public func writePages(_ bytes: [UInt8], from first: UInt16) throws(KazasuError) {
        guard !bytes.isEmpty else { return }
        guard let last = UInt16(exactly: Int(first) + (bytes.count - 1) / 4) else {
            throw .tag(.tooLong(length: bytes.count, capacity: (0x10000 - Int(first)) * 4))
        }
        try checkWriting(pages: first...last, isPermanent: false)
        var bytes = bytes
        if !bytes.count.isMultiple(of: 4) {
            bytes += try run { () throws(TagError) in try type2().page(last) }.suffix(4 - bytes.count % 4)
        }
        let pages = stride(from: 0, to: bytes.count, by: 4).map { Array(bytes[$0...].prefix(4)) }
        try write(from: first, pages, isPermanent: false)
    }

    private func type2() throws(TagError) -> Type2Tag {
        guard case .type2(let tag) = tag else { throw .notType2 }
        return tag
    }

    fileprivate func run<Value>(_ body: () throws(TagError) -> Value) throws(KazasuError) -> Value {
        do throws(TagError) {
            return try body()
        } catch {
            if let other = otherCard(error) { throw .wrongCard(other) }
            throw KazasuError(error)
        }
    }

    /// The card, if it accepts APDUs and another command reads it.
    private func otherCard(_ error: TagError) -> WrongCard? {
        guard case .card = tag else { return nil }
        switch error {
        case .notType2, .noNDEF: break
        default: return nil
        }
        let other = card.reader.wrongCard(card.found, wanted: .tag)
        guard !other.kinds.isEmpty else { return nil }
        guard other.kinds.contains("type4") else { return other }
        // A DESFire has a command of its own, with an NDEF application or without.
        return error == .notType2 && other.kinds.contains("desfire") ? other : nil
    }
}

extension PMm {
    /// Whether the IC type is that of FeliCa Lite, Lite-S or Link in Lite-S mode.
    fileprivate var isLite: Bool { (0xF0...0xF2).contains(icType) }
}

extension KazasuError {
    init(_ error: TagError) {
        self = error == .cancelled ? .cancelled : .tag(error)
    }
}

/// A card that may be an NFC Forum tag.
package enum FoundTag {
    case type2(Type2Tag)
    /// A FeliCa card with the NDEF system.
    case type3(Type3Tag, FeliCaTarget)
    /// A FeliCa Lite or Lite-S card that does not announce NDEF.
    case lite(FeliCaTarget)
    /// A card that accepts APDUs.
    case card(PICC, ISO7816Session)

    /// The object that reads and writes the tag's message; `nil` if the tag cannot hold one.
    package var ndef: (any NDEFTag)? {
        switch self {
        case .type2(let tag): tag
        case .type3(let tag, _): tag
        case .lite: nil
        case .card(_, let session): Type4Tag(session: session)
        }
    }
}
