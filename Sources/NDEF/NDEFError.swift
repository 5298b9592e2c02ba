// SPDX-License-Identifier: Apache-2.0

package import CardModel

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

    /// The possible problems; the raw values are identifiers for machine use.
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

        /// The message for display.
        package var message: LocalizedText {
            switch self {
            case .noRecord: LocalizedText("there is no record", "レコードがありません")
            case .endsWithinRecord: LocalizedText("the message ends within a record", "メッセージがレコードの途中で終わっています")
            case .lengthBeyondEnd:
                LocalizedText("a length reaches beyond the end of the message", "長さがメッセージの終わりを超えています")
            case .noMessageBegin:
                LocalizedText("the first record does not begin the message", "最初のレコードに開始フラグ（MB）がありません")
            case .secondMessageBegin:
                LocalizedText("a second message begins within the message", "メッセージの途中に開始フラグ（MB）があります")
            case .noMessageEnd: LocalizedText("no record ends the message", "終了フラグ（ME）のあるレコードがありません")
            case .trailingBytes: LocalizedText("bytes follow the last record", "最後のレコードの後に余分なバイトがあります")
            case .reservedFormat: LocalizedText("the Type Name Format is reserved (7)", "TNF が予約値（7）です")
            case .typeNotAllowed: LocalizedText("a record that may have no type has one", "型を持てないレコードに型があります")
            case .typeMissing: LocalizedText("a record that must have a type has none", "型が必要なレコードに型がありません")
            case .emptyRecordNotEmpty: LocalizedText("an empty record is not empty", "空のレコードに内容があります")
            case .chunkWithoutStart: LocalizedText("a chunk follows no chunked record", "分割の始まりがないのに続きのレコードがあります")
            case .chunkUnfinished: LocalizedText("a chunked record is not ended", "分割されたレコードが終わっていません")
            case .chunkWithID: LocalizedText("a later chunk has an id", "分割の続きに ID があります")
            case .fieldTooLong: LocalizedText("a type or id is longer than 255 bytes", "型または ID が 255 バイトを超えています")
            case .payloadTooLong: LocalizedText("the payload is longer than 4 GB", "ペイロードが 4 GB を超えています")
            case .textWithoutStatus: LocalizedText("a text record has no status byte", "テキストレコードに状態バイトがありません")
            case .noLanguage: LocalizedText("a text record names no language", "テキストレコードに言語がありません")
            case .languageTooLong: LocalizedText("the language code is too long", "言語コードが長すぎます")
            case .notText: LocalizedText("the text is not in the encoding it says", "テキストの文字コードが正しくありません")
            case .noURIPrefix: LocalizedText("a URI record has no prefix code", "URI レコードに接頭辞コードがありません")
            case .undefinedURIPrefix: LocalizedText("the URI's prefix code is not defined", "URI の接頭辞コードが未定義です")
            case .notAURI: LocalizedText("the bytes are no URI", "URI として正しくありません")
            case .posterURICount:
                LocalizedText("a smart poster must have exactly one URI", "スマートポスターの URI は 1 つでなければなりません")
            case .nestedPoster:
                LocalizedText("a smart poster lies within a smart poster", "スマートポスターが入れ子になっています")
            case .posterFieldLength:
                LocalizedText("a field of a smart poster has the wrong length", "スマートポスターの項目の長さが正しくありません")
            case .undefinedAction:
                LocalizedText("the action of a smart poster is not defined", "スマートポスターの動作が未定義です")
            }
        }
    }
}

/// Why there is no NDEF message on a tag; the raw values are identifiers for machine use.
public enum NDEFAbsence: String, Hashable, Sendable {
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
