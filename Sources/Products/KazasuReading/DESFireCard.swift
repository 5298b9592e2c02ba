// SPDX-License-Identifier: Apache-2.0

public import CardModel
public import NFCForumTags
internal import ReaderCore

extension CardQuery {
    /// A MIFARE DESFire.
    public static let desfire = CardQuery(.desfire, .isoDEP([.typeA]))
}

extension Card {
    /// Returns the card as a MIFARE DESFire, whose files its owner's keys open.
    ///
    /// ```swift
    /// let card = try reader.waitForCard(.desfire).desfire()
    /// for application in try card.information().applications { print(application.id, application.files.count) }
    /// ```
    ///
    /// A key is tried once by each call, and none is guessed. Only simulated cards were tried so far.
    ///
    /// - Throws: ``KazasuError/wrongCard(_:)`` for another card.
    public func desfire() throws(KazasuError) -> DESFireCard {
        guard case .typeA = picc, picc.isISODEP else {
            throw .wrongCard(reader.wrongCard(found, wanted: .desfire))
        }
        let card = DESFireCard(card: self, tag: DESFireTag(session: iso7816))
        try card.identify()
        return card
    }
}

/// A MIFARE DESFire on a reader: MF3ICD40, EV1, EV2 or EV3.
public struct DESFireCard {
    private let card: Card
    private let tag: DESFireTag

    fileprivate init(card: Card, tag: DESFireTag) { (self.card, self.tag) = (card, tag) }

    /// The card.
    public var identity: CardIdentity { card.identity }

    fileprivate func identify() throws(KazasuError) {
        _ = try run { () throws(DESFireError) in try tag.identify() }
    }

    /// Lists applications, keys and files as far as the card shows them to everybody. No key is sent.
    ///
    /// - Throws: ``KazasuError/reading(_:)``, ``KazasuError/tag(_:)`` if the card leaves or answers wrongly.
    public func information() throws(KazasuError) -> DESFireInformation {
        try run { () throws(DESFireError) in try tag.information() }
    }

    /// Reads a file.
    ///
    /// - Parameters:
    ///   - file: its application and number.
    ///   - key: the key of somebody who may read it; `nil` reads what everybody may read. It is tried once.
    ///   - method: the way to authenticate; `nil` for the best that card and key have.
    /// - Throws: ``KazasuError/desfire(_:)``: ``DESFireError/notAllowed(_:_:)``, ``DESFireError/wrongKey``,
    ///   ``DESFireError/noSuchFile(_:)``.
    public func read(
        _ file: DESFireFileID, key: DESFireKey? = nil, method: DESFireAuthenticationMethod? = nil
    ) throws(KazasuError) -> DESFireContents {
        try readFile(file, key: key, method: method).contents
    }

    /// Reads a file with its settings, as ``read(_:key:method:)`` does.
    package func readFile(
        _ file: DESFireFileID, key: DESFireKey?, method: DESFireAuthenticationMethod?
    ) throws(KazasuError) -> (file: DESFireFile, contents: DESFireContents) {
        try run { () throws(DESFireError) in try tag.read(file, key: key, method: method) }
    }

    /// Reads every file that everybody or one of the keys may read. Each key is tried once; what none opens is listed as withheld.
    ///
    /// - Parameter keys: the keys of applications, by number.
    /// - Returns: what was read, also if the card leaves early.
    /// - Throws: ``KazasuError`` if not even the applications could be listed.
    public func dump(_ keys: DESFireKeys = DESFireKeys()) throws(KazasuError) -> DESFireDump {
        try run { () throws(DESFireError) in try tag.dump(keys) }
    }

    /// Why a dump ended early; `nil` if it did not.
    public func error(of dump: DESFireDump) -> KazasuError? {
        guard let interruption = dump.interruption else { return nil }
        do throws(KazasuError) {
            return try run { () throws(DESFireError) in throw interruption }
        } catch {
            return error
        }
    }

    /// The document of a dump, with the member `desfire`.
    package func document(_ contents: DESFireDump, _ members: JSONObject) -> CardDump {
        var dump = CardDump(card: identity, complete: contents.interruption == nil)
        dump.desfire = try? DESFireMemory(json: JSONCursor(.object(members)))
        return dump
    }

    /// Writes bytes to a standard or backup file, or one new record; commits once, then reads back.
    ///
    /// If an answer is lost, the file is read and says what happened: ``DESFireError/answerLost(_:)``. Nothing is sent twice.
    /// A standard file has no commit, so that a card that leaves can keep a part of the bytes.
    ///
    /// - Parameters:
    ///   - bytes: what to write.
    ///   - file: its application and number.
    ///   - offset: the place in the file, or in the new record, whose other bytes become zeros.
    ///   - key: the key of somebody who may write it; `nil` if everybody may.
    ///   - method: the way to authenticate; `nil` for the best that card and key have.
    /// - Returns: whether it was read back: a key may have the right to write and not to read.
    /// - Throws: ``KazasuError/desfire(_:)``; nothing was written with ``DESFireError/notAllowed(_:_:)`` and
    ///   ``DESFireError/outOfRange(_:)``.
    @discardableResult
    public func write(
        _ bytes: [UInt8], to file: DESFireFileID, at offset: Int = 0, key: DESFireKey? = nil,
        method: DESFireAuthenticationMethod? = nil
    ) throws(KazasuError) -> Bool {
        try run { () throws(DESFireError) in try tag.write(file, bytes, at: offset, key: key, method: method) }
    }

    /// Adds to the value of a file, or subtracts from it; commits once, then reads back.
    ///
    /// - Parameters:
    ///   - file: its application and number.
    ///   - amount: the number to add; negative to subtract.
    ///   - key: the key of somebody with the right; `nil` if everybody has it.
    ///   - method: the way to authenticate; `nil` for the best that card and key have.
    /// - Returns: the new value; `nil` if the key may not read it.
    /// - Throws: as ``write(_:to:at:key:method:)``.
    @discardableResult
    public func change(
        _ file: DESFireFileID, by amount: Int32, key: DESFireKey? = nil, method: DESFireAuthenticationMethod? = nil
    ) throws(KazasuError) -> Int32? {
        try run { () throws(DESFireError) in try tag.change(file, by: amount, key: key, method: method) }
    }

    private func run<Value>(_ body: () throws(DESFireError) -> Value) throws(KazasuError) -> Value {
        do throws(DESFireError) {
            return try body()
        } catch {
            switch error {
            case .notDESFire: throw .wrongCard(card.reader.wrongCard(card.found, wanted: .desfire))
            case .tag(let error): throw KazasuError(error)
            default: throw .desfire(error)
            }
        }
    }
}
