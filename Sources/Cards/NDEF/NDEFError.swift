// SPDX-License-Identifier: Apache-2.0

public import CardModel

/// Why bytes are not an NDEF message, or a record's payload does not match its type.
public struct NDEFError: Error, Hashable, Sendable {
    /// The problem.
    public let reason: Reason
    /// The offset of the record or field, in bytes from the start of the message or of the payload.
    public let offset: Int

    /// Creates an error at an offset.
    public init(_ reason: Reason, offset: Int = 0) {
        self.reason = reason
        self.offset = offset
    }

    /// The possible problems; the raw values are identifiers for machine use, and each has a row in `Data/ndef-errors.tsv`.
    @nonexhaustive
    public enum Reason: String, Hashable, Sendable, CaseIterable {
        /// There is no record.
        case noRecord
        /// The bytes end within a record.
        case endsWithinRecord
        /// A length, up to 4 GB, exceeds the remaining bytes.
        case lengthBeyondEnd
        /// The first record lacks the message begin flag (MB).
        case noMessageBegin
        /// A later record has the message begin flag.
        case secondMessageBegin
        /// No record has the message end flag (ME).
        case noMessageEnd
        /// Bytes follow the last record.
        case trailingBytes
        /// The Type Name Format is 7, which is reserved.
        case reservedFormat
        /// An empty record, or one whose format has no type, has a type.
        case typeNotAllowed
        /// A record whose format requires a type has none.
        case typeMissing
        /// An empty record has an id or a payload.
        case emptyRecordNotEmpty
        /// A chunk occurs without a chunked record before it.
        case chunkWithoutStart
        /// A chunked record lacks its last chunk.
        case chunkUnfinished
        /// A later chunk has an id.
        case chunkWithID
        /// A type or an id is longer than 255 bytes.
        case fieldTooLong
        /// The payload is longer than the 4 GB that a length can express.
        case payloadTooLong
        /// The payload of a text record has no status byte.
        case textWithoutStatus
        /// The language code of a text record is empty.
        case noLanguage
        /// The language code is longer than the payload, or than 63 letters.
        case languageTooLong
        /// Text is not in its declared encoding.
        case notText
        /// A URI record has no prefix code.
        case noURIPrefix
        /// The URI prefix code is not defined (above 23 hexadecimal).
        case undefinedURIPrefix
        /// The bytes of a URI are not UTF-8, or contain control characters or blanks.
        case notAURI
        /// A smart poster has no URI, or more than one.
        case posterURICount
        /// A smart poster is nested in a smart poster.
        case nestedPoster
        /// A field of a smart poster has the wrong length.
        case posterFieldLength
        /// The action of a smart poster is not one of the three.
        case undefinedAction
    }
}

/// Why there is no NDEF message on a tag; the raw values are identifiers for machine use, and each has a row in
/// `Data/ndef-absences.tsv`.
@nonexhaustive
public enum NDEFAbsence: String, Hashable, Sendable, CaseIterable {
    /// Not enough of the tag was read.
    case notRead
    /// A FeliCa Lite that does not respond to the NDEF system.
    case notAnnounced
    /// It has no Capability Container, no NDEF system, no NDEF application.
    case notFormatted
    /// Its mapping has an unknown major version.
    case unknownVersion
    /// Its attributes have a wrong checksum.
    case checksum
    /// Its Capability Container is malformed, or lists no NDEF file.
    case brokenCapability
    /// It cannot be read without a key.
    case notReadable
    /// A write was started and not completed: the contents are invalid.
    case halfWritten
    /// The data area has no NDEF message block.
    case noMessageBlock
    /// A length exceeds the space for messages.
    case lengthBeyondEnd
}

extension NDEFError: SelfDescribing {
    /// Why the bytes are not a message, and where.
    public var message: LocalizedText {
        LocalizedText(
            "no NDEF message: \(reason.message.english) (byte \(offset))",
            "NDEF メッセージではありません: \(reason.message.japanese)（\(offset) バイト目）")
    }
}

extension NDEFError.Reason: SelfDescribing {
    /// The table of the problems.
    package static let messages = MessageTable<NDEFError.Reason>(PackageResources.ndef_errors_tsv)

    /// The problem.
    public var message: LocalizedText { NDEFError.Reason.messages.message(self) }
}

extension NDEFAbsence: SelfDescribing {
    /// The table of the causes.
    package static let messages = MessageTable<NDEFAbsence>(PackageResources.ndef_absences_tsv)

    /// Why there is no message.
    public var message: LocalizedText { NDEFAbsence.messages.message(self) }
}
