// SPDX-License-Identifier: Apache-2.0

public import FeliCa
public import ISO7816
public import NDEF
public import NFCTransport

/// A tag that may hold an NDEF message, whatever its type.
package protocol NDEFTag: AnyObject {
    /// The number of the tag's type: 2, 3 or 4.
    var typeNumber: Int { get }

    /// Reads the message and its room.
    ///
    /// - Throws: ``TagError``; ``TagError/noNDEF(_:)`` when there is no place for a message.
    func readNDEF() throws(TagError) -> NDEFArea

    /// The room for a message, to write one: a message that was left half written is no obstacle to a new one.
    ///
    /// - Throws: ``TagError``; ``TagError/noNDEF(_:)`` when there is no place for a message.
    func writableArea() throws(TagError) -> NDEFArea

    /// Finds out whether anything stands against writing a message in just the places that it would take; writes nothing.
    ///
    /// - Parameter bytes: a message that the tag has room for.
    /// - Throws: ``TagError``; ``TagError/notWritable(_:)`` for a page or block that is locked or protected.
    func checkPlaces(of bytes: [UInt8]) throws(TagError)

    /// Writes a message in the order that never leaves half of one: first it is marked as empty or under way, the data
    /// follows, length and mark come last.
    ///
    /// - Parameter bytes: a message that the tag has room for; the caller has checked that.
    /// - Throws: ``TagError``.
    func writeUnchecked(_ bytes: [UInt8]) throws(TagError)
}

extension NDEFTag {
    /// Finds out, before anybody is asked, whether a message could be written: that it is one, that the tag has room for it
    /// and lets every place be written that it would take. Nothing is written.
    ///
    /// - Parameter bytes: the bytes of an NDEF message; empty to leave the tag without one.
    /// - Throws: ``TagError``.
    package func checkWriting(_ bytes: [UInt8]) throws(TagError) {
        if !bytes.isEmpty {
            do throws(NDEFError) {
                _ = try NDEFMessage(decoding: bytes)
            } catch {
                throw .notAMessage(error)
            }
        }
        let area = try writableArea()
        if let obstacle = area.obstacle { throw .notWritable(obstacle) }
        guard bytes.count <= area.capacity else { throw .tooLong(length: bytes.count, capacity: area.capacity) }
        try checkPlaces(of: bytes)
    }

    /// Writes a message, reads it back and compares.
    ///
    /// Nothing is written unless ``checkWriting(_:)`` finds nothing against it.
    ///
    /// - Parameter bytes: the bytes of an NDEF message; empty to leave the tag without one.
    /// - Throws: ``TagError``.
    package func writeNDEF(_ bytes: [UInt8]) throws(TagError) {
        try checkWriting(bytes)
        try writeUnchecked(bytes)
        guard try readNDEF().message == bytes else { throw .notVerified }
    }
}

/// What a tag holds by way of NDEF, and what room there is.
package struct NDEFArea: Hashable, Sendable {
    /// The bytes of the message; empty when there is a place for one and none in it.
    package var message: [UInt8]
    /// The longest message that there is room for.
    package var capacity: Int
    /// Why it cannot be written; `nil` when it can.
    package var obstacle: TagError.WriteReason?

    /// A message and its room.
    package init(message: [UInt8], capacity: Int, obstacle: TagError.WriteReason?) {
        self.message = message
        self.capacity = capacity
        self.obstacle = obstacle
    }
}

/// How often an exchange is tried.
enum Attempts {
    /// When it comes back damaged.
    static let damaged = 4
    /// When the tag keeps silent although it is there.
    static let silent = 2
    /// How often a tag is looked for that does not answer.
    static let activation = 3
}

/// Why a tag could not be read or written.
@nonexhaustive
public enum TagError: Error, Hashable, Sendable {
    /// The tag left the field, or another one lies there now.
    case tagLost
    /// The exchange failed each time it was tried, or the reader did.
    case transport(TransportError)
    /// A Type 2 Tag refused a command for this page with this NAK, four bits; `nil` where it only kept silent.
    case refused(page: UInt16, nak: UInt8?)
    /// A Type 3 Tag refused, or its answer breaks the rules.
    case felica(FeliCaError)
    /// A Type 4 Tag refused, or its answer breaks the rules.
    case iso7816(ISO7816Error)
    /// The answer has a length that no answer to this command has, each time it was asked.
    case badAnswer
    /// The tag holds no NDEF message and has no place for one.
    case noNDEF(NDEFAbsence)
    /// Writing was refused before anything was sent.
    case notWritable(WriteReason)
    /// The message is longer than the tag's room for it; nothing was sent.
    case tooLong(length: Int, capacity: Int)
    /// The message to be written is none; nothing was sent.
    case notAMessage(NDEFError)
    /// The tag is none that is authenticated with a key, or the reader does not let that through.
    case takesNoKey
    /// The tag refused the key, or could not prove that it has it.
    case keyRefused
    /// What was read back is not what was written.
    case notVerified
    /// Work was cancelled.
    case cancelled

    /// Why nothing may be written.
    @nonexhaustive
    public enum WriteReason: Hashable, Sendable {
        /// The tag says that it is read-only.
        case readOnly
        /// This page is locked for ever.
        case locked(page: UInt16)
        /// This page needs the tag's password.
        case passwordProtected(page: UInt16)
    }
}
