// SPDX-License-Identifier: Apache-2.0

import CardModel
import CardReading
import ISO7816
import ReaderCore
import TestSupport
import Testing
import VirtualReader

/// A virtual card of `Fixtures/iso7816` on a reader, and a session with it.
struct FileCard {
    let spy: SpyReader
    let session: ISO7816Session
    let identity: CardIdentity

    /// - Parameters:
    ///   - path: a file of `Fixtures/iso7816`.
    ///   - changes: texts in the file and what stands in their place.
    ///   - faults: what goes wrong after the card was found.
    ///   - isExtended: whether the reader carries extended lengths.
    init(
        _ path: String, changes: [(String, String)] = [], faults: InjectedFaults = [], isExtended: Bool = false
    ) throws {
        var text = String(decoding: try TestFiles.read("Fixtures/iso7816/\(path)"), as: UTF8.self)
        for (old, new) in changes {
            #expect(text.contains(old))
            text.replace(old, with: new)
        }
        try self.init(try VirtualField(cardFile: Array(text.utf8)), faults, isExtended: isExtended)
    }

    /// The text of a card file.
    init(text: String) throws { try self.init(try VirtualField(cardFile: Array(text.utf8)), []) }

    /// A dump as a virtual card.
    init(_ dump: CardDump) throws {
        try self.init(try VirtualField(cardFile: Array(dump.json.compactText.utf8)), [])
    }

    private init(_ field: VirtualField, _ faults: InjectedFaults, isExtended: Bool = false) throws {
        var information = InProcessReader(field).information
        if isExtended { (information.longestCommandAPDU, information.longestResponseAPDU) = (65_544, 65_538) }
        spy = SpyReader(InProcessReader(field, information: information))
        let picc = try #require(try spy.activate(.typeB()))
        identity = CardIdentity(picc)
        session = ISO7816Session(reader: spy, picc: picc, request: .typeB())
        field.plan(faults)
    }

    /// A session with the card over another reader in front of its own.
    func session(_ reader: any Reader) throws -> ISO7816Session {
        ISO7816Session(reader: reader, picc: try #require(try reader.activate(.typeB())), request: .typeB())
    }

    /// A PIN of a text.
    static func pin(_ text: String) -> PIN { PIN(Array(text.utf8)) }
}

extension PINConsent {
    /// The user asked for it and says yes.
    static var always: PINConsent { PINConsent(allowsLastTry: true) { _, _ in true } }
}
