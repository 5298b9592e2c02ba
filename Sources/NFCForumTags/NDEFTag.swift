// SPDX-License-Identifier: Apache-2.0

internal import NDEF

/// A tag that may hold an NDEF message, whatever its type.
public protocol NDEFTag: AnyObject {
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
    public func checkWriting(_ bytes: [UInt8]) throws(TagError) {
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
    public func writeNDEF(_ bytes: [UInt8]) throws(TagError) {
        try checkWriting(bytes)
        try writeUnchecked(bytes)
        guard try readNDEF().message == bytes else { throw .notVerified }
    }
}
