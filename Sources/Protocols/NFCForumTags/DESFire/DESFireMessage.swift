// SPDX-License-Identifier: Apache-2.0

internal import CardModel
package import ISO7816
internal import NDEF
package import ReaderCore

/// The NDEF message of a DESFire whose file asks for a key: everybody reads it, and the owner of a key writes it.
///
/// The key is tried once for each write. Source: NXP AN11004, mapping 2: application 000001, file 2.
package final class DESFireMessage {
    private let tag: DESFireTag
    private let key: DESFireKey
    private let file: DESFireFileID

    /// Makes the message of the card behind a session.
    ///
    /// - Parameter key: a key of the application with the message.
    package init(session: ISO7816Session, key: DESFireKey) {
        tag = DESFireTag(session: session)
        (self.key, file) = (key, .message)
    }

    /// Proves the key.
    ///
    /// - Throws: ``TagError``; ``TagError/takesNoKey`` for another card, ``TagError/keyRefused``.
    package func authenticate() throws(TagError) {
        try run { () throws(DESFireError) in
            try tag.identify()
            try tag.link.select(file.application)
            let type = try tag.free { () throws(DESFireError) in try tag.keySettings() }?.type
            if let type, !key.fits(type) { throw .keyLength(type) }
            try tag.authenticate(key, type, nil)
        }
    }

    private func run<Value>(_ body: () throws(DESFireError) -> Value) throws(TagError) -> Value {
        do throws(DESFireError) {
            return try body()
        } catch {
            switch error {
            case .tag(let error): throw error
            case .wrongKey: throw .keyRefused
            case .noSuchKey(let number): throw .key(.noSuchKey(number))
            case .keyLength(let type?): throw .key(.otherLength(bytes: type.keyLength))
            case .notAllowed(_, .write): throw .notWritable(.readOnly)
            case .noSuchApplication, .noSuchFile, .withheld, .notAllowed: throw .noNDEF(.notReadable)
            default: throw .takesNoKey
            }
        }
    }
}

extension DESFireMessage: NDEFTag {
    package var typeNumber: Int { 4 }

    /// The length of the message's length.
    private static let lengthBytes = 2

    package func readNDEF() throws(TagError) -> NDEFArea {
        let (settings, field) = try run { () throws(DESFireError) in
            let settings = try tag.open(file, for: .read, key, nil)
            return (settings, try tag.bytes(of: settings, 0, Self.lengthBytes))
        }
        let length = Int(field[0]) << 8 | Int(field[1])
        guard length <= size(settings) - Self.lengthBytes else { throw .noNDEF(.lengthBeyondEnd) }
        return area(
            settings, try run { () throws(DESFireError) in try tag.bytes(of: settings, Self.lengthBytes, length) })
    }

    package func writableArea() throws(TagError) -> NDEFArea {
        area(try run { () throws(DESFireError) in try tag.open(file, for: .read, key, nil) }, [])
    }

    private func size(_ settings: DESFireFile) -> Int {
        if case .bytes(let size) = settings.extent { size } else { 0 }
    }

    private func area(_ settings: DESFireFile, _ message: [UInt8]) -> NDEFArea {
        let isWritable = settings.type == .standard && settings.mode(.write, key: key.number) != nil
        return NDEFArea(
            message: message, capacity: max(0, size(settings) - Self.lengthBytes),
            obstacle: isWritable ? nil : .readOnly)
    }

    /// Everything is known from the settings.
    package func checkPlaces(of bytes: [UInt8]) {}

    /// Sets the length to 0, writes the message, then its length.
    package func writeUnchecked(_ bytes: [UInt8]) throws(TagError) {
        try run { () throws(DESFireError) in
            let settings = try tag.open(file, for: .write, key, nil)
            try tag.write(settings, at: 0, [0, 0])
            try tag.write(settings, at: Self.lengthBytes, bytes)
            try tag.write(
                settings, at: 0, [UInt8(truncatingIfNeeded: bytes.count >> 8), UInt8(truncatingIfNeeded: bytes.count)])
        }
    }
}

extension DESFireKey {
    /// The same key, for a card that turned out to be a DESFire.
    package init?(_ key: TagKey) { self.init(key.secret, number: key.number) }

    /// Why it is not the key of a tag with fewer keys, of sixteen bytes each.
    package var misplaced: TagKeyError {
        number > TagKey.lastNumber ? .noSuchKey(number) : .otherLength(bytes: DESFireKeyType.aes.keyLength)
    }
}

extension TypeATarget {
    /// Whether the ATS is that of a DESFire, on a chip of NXP or on JCOP.
    ///
    /// Source: libfreefare.
    package var isDESFire: Bool {
        guard let ats, ats.count >= 5 else { return false }
        return [[0x75, 0x77, 0x81, 0x02], [0x75, 0xF7, 0xB1, 0x02]].contains(Array(ats[1..<5]))
    }
}
