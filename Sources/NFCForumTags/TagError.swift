// SPDX-License-Identifier: Apache-2.0

public import FeliCa
public import ISO7816
public import NDEF
public import NFCTransport

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
    case noNDEF(Obstacle)
    /// Writing was refused before anything was sent.
    case notWritable(WriteObstacle)
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

    /// Why there is no NDEF message on a tag.
    @nonexhaustive
    public enum Obstacle: String, Hashable, Sendable {
        /// It has no Capability Container, no NDEF system, no NDEF application.
        case notFormatted
        /// Its mapping has a major version that is not known.
        case unknownVersion
        /// Its attributes have a wrong checksum.
        case checksum
        /// Its Capability Container is broken, or names no NDEF file.
        case brokenCapability
        /// It may not be read without a key.
        case notReadable
        /// A write was begun and not ended: what is there is worth nothing.
        case halfWritten
        /// The data area has no NDEF message block.
        case noMessageBlock
        /// A length reaches beyond the room for messages.
        case lengthBeyondEnd
    }

    /// Why nothing may be written.
    @nonexhaustive
    public enum WriteObstacle: Hashable, Sendable {
        /// The tag says that it is read-only.
        case readOnly
        /// This page is locked for ever.
        case locked(page: UInt16)
        /// This page needs the tag's password.
        case passwordProtected(page: UInt16)
    }
}
