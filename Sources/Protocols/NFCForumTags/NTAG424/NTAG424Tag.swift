// SPDX-License-Identifier: Apache-2.0

internal import CardCiphers
internal import CardCrypto
internal import CardModel
package import ISO7816
internal import NDEF
internal import ReaderCore

/// An NTAG 424 DNA that is opened with one of its owner's keys: reads and writes the files that the key has a right to.
///
/// Failed authentications count: after 50 in a row the tag delays its answers, after 1000 in all it locks the key for good
/// (AN12196 §7.4). So a key is tried once, and one that failed on the same tag is not tried again.
package final class NTAG424Tag {
    private let link: NTAG424Link
    private let key: TagKey
    private let uid: [UInt8]

    /// Makes the tag behind a session.
    ///
    /// - Parameter uid: what the reader found, by which a failed key is remembered.
    package init(session: ISO7816Session, key: TagKey, uid: [UInt8]) {
        link = NTAG424Link(session: session)
        (self.key, self.uid) = (key, uid)
    }

    /// The number of the key.
    package var keyNumber: UInt8 { key.number }

    /// The first part of GetVersion, which needs no key: the hardware.
    package static let getVersion = CommandAPDU(Instruction(rawValue: 0x60), cla: 0x90, ne: 0x100, lengthForm: .short)

    /// The product with this hardware: vendor, type, subtype, major and minor version, storage, protocol.
    ///
    /// - Returns: `nil` if it is not an NTAG of NXP with hardware version 30.
    package static func product(version: [UInt8]) -> String? {
        version.count == 7 && version[0] == 0x04 && version[1] == 0x04 && version[3] == 0x30 ? "NTAG 424 DNA" : nil
    }

    // MARK: Authentication

    /// Selects the NDEF application and authenticates once.
    ///
    /// - Throws: ``TagError``; ``TagError/takesNoKey`` for another card, ``TagError/keyRefused``, ``TagError/key(_:)``.
    package func authenticate(_ rules: TagSecretRules) throws(TagError) {
        guard CryptoError.isLibraryThere else { throw .crypto(.libraryMissing) }
        try link.select()
        try rules.attempt(key, uid: uid) { () throws(TagError) in
            try link.authenticate(key.secret, number: key.number)
        }
    }

    // MARK: Commands

    /// The tag's UID, which it tells with a key also where it shows a random one; seven bytes.
    package func realUID() throws(TagError) -> [UInt8] {
        let uid = try link.ask(.uid, [])
        guard uid.count == 7 else { throw .badAnswer }
        return uid
    }

    /// The settings of a file, 1 to 3.
    package func settings(of file: UInt8) throws(TagError) -> NTAG424File {
        guard let settings = NTAG424File(file, try link.ask(.settings, [file])) else {
            throw .badAnswer
        }
        return settings
    }

    /// Reads bytes of a file.
    package func read(_ file: NTAG424File, from offset: Int = 0, count: Int) throws(TagError) -> [UInt8] {
        try link.read(file, from: offset, count: count)
    }
}

/// What an NTAG 424 DNA tells with a key.
public struct NTAG424Information: Hashable, Sendable {
    /// The number of the key.
    public let key: UInt8
    /// The UID, seven bytes, also of a tag that shows a random one.
    public let uid: [UInt8]
    /// The files 1 (Capability Container), 2 (NDEF) and 3 (the owner's).
    public let files: [NTAG424File]
}

extension NTAG424Tag {
    /// Asks for the real UID and the settings of the files.
    package func information() throws(TagError) -> NTAG424Information {
        let uid = try realUID()
        var files: [NTAG424File] = []
        for number in 1...3 as ClosedRange<UInt8> { files.append(try settings(of: number)) }
        return NTAG424Information(key: keyNumber, uid: uid, files: files)
    }
}

/// The settings of a file of an NTAG 424 DNA.
public struct NTAG424File: Hashable, Sendable {
    /// The file's number, 1 to 3.
    public let number: UInt8
    /// FileOption: bits 0 and 1 how a key's owner is answered, bit 6 whether URLs are made new each time (SDM).
    public let option: UInt8
    /// Who may read: a key's number, E foreverybody, F for nobody; the other rights have the same values.
    public let read: UInt8
    /// Who may write.
    public let write: UInt8
    /// Who may do both.
    public let readWrite: UInt8
    /// Who may change the settings.
    public let change: UInt8
    /// The size in bytes.
    public let size: Int

    /// Parses the answer to GetFileSettings: type, option, rights (least significant byte first), size.
    package init?(_ number: UInt8, _ settings: [UInt8]) {
        guard settings.count >= 7 else { return nil }
        self.number = number
        option = settings[1]
        (readWrite, change) = (settings[2] >> 4, settings[2] & 0x0F)
        (read, write) = (settings[3] >> 4, settings[3] & 0x0F)
        size = Int(settings[4]) | Int(settings[5]) << 8 | Int(settings[6]) << 16
    }

    /// Whether everybody has a right.
    private static let everybody: UInt8 = 0x0E

    /// The name of the mode in which the owner of a key is answered.
    package var modeName: String {
        switch EV2Session.Mode(option: option) {
        case .plain: "plain"
        case .mac: "mac"
        case .full: "full"
        }
    }

    /// Whether URLs are made new each time (SDM).
    public var isDynamic: Bool { option & 0x40 != 0 }

    /// How a command travels: as the file says where the key gives the right, plain where everybody has it.
    func mode(of rights: [UInt8], key: UInt8) -> EV2Session.Mode {
        rights.contains(key) || !rights.contains(Self.everybody) ? EV2Session.Mode(option: option) : .plain
    }

    /// Whether a key, or everybody, has one of these rights.
    func allows(_ rights: [UInt8], key: UInt8) -> Bool { rights.contains(key) || rights.contains(Self.everybody) }
}

extension NTAG424Tag: NDEFTag {
    package var typeNumber: Int { 4 }

    /// The number of the file with the message.
    private static let messageFile: UInt8 = 2
    /// The length of the message's length.
    private static let lengthBytes = 2

    package func readNDEF() throws(TagError) -> NDEFArea {
        let file = try settings(of: Self.messageFile)
        guard file.allows([file.read, file.readWrite], key: keyNumber) else { throw .noNDEF(.notReadable) }
        let field = try read(file, count: Self.lengthBytes)
        let length = Int(field[0]) << 8 | Int(field[1])
        guard length <= file.size - Self.lengthBytes else { throw .noNDEF(.lengthBeyondEnd) }
        return area(file, try read(file, from: Self.lengthBytes, count: length))
    }

    package func writableArea() throws(TagError) -> NDEFArea { area(try settings(of: Self.messageFile), []) }

    private func area(_ file: NTAG424File, _ message: [UInt8]) -> NDEFArea {
        let isWritable = file.allows([file.write, file.readWrite], key: keyNumber)
        return NDEFArea(
            message: message, capacity: max(0, file.size - Self.lengthBytes), obstacle: isWritable ? nil : .readOnly)
    }

    /// Everything is known from the settings.
    package func checkPlaces(of bytes: [UInt8]) {}

    /// Sets the length to 0, writes the message, then its length.
    package func writeUnchecked(_ bytes: [UInt8]) throws(TagError) {
        let file = try settings(of: Self.messageFile)
        try link.write(file, at: 0, [0, 0])
        try link.write(file, at: Self.lengthBytes, bytes)
        try link.write(
            file, at: 0, [UInt8(truncatingIfNeeded: bytes.count >> 8), UInt8(truncatingIfNeeded: bytes.count)])
    }
}
