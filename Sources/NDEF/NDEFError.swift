// SPDX-License-Identifier: Apache-2.0

package import CardModel

/// Why bytes are no NDEF message, or a record's payload not what its type says.
public struct NDEFError: Error, Hashable, Sendable {
    /// What is wrong.
    public let reason: Reason
    /// Where: the byte from the start of the message, or of the payload, at which the record or field begins.
    public let offset: Int

    /// An error at a place.
    public init(_ reason: Reason, offset: Int = 0) {
        self.reason = reason
        self.offset = offset
    }

    /// What can be wrong; the raw values are words for scripts.
    @nonexhaustive
    public enum Reason: String, Hashable, Sendable, CaseIterable {
        /// There is no record at all.
        case noRecord
        /// The bytes end within a record.
        case endsWithinRecord
        /// A length, up to 4 GB, is longer than what is left.
        case lengthBeyondEnd
        /// The first record does not begin the message (MB).
        case noMessageBegin
        /// A later record begins a message.
        case secondMessageBegin
        /// No record ends the message (ME).
        case noMessageEnd
        /// Bytes follow the last record.
        case trailingBytes
        /// The Type Name Format is 7, which is reserved.
        case reservedFormat
        /// A record without a type, or an empty one, has a type.
        case typeNotAllowed
        /// A record whose format asks for a type has none.
        case typeMissing
        /// An empty record has an id or a payload.
        case emptyRecordNotEmpty
        /// A chunk follows where no chunked record was begun.
        case chunkWithoutStart
        /// A chunked record is not ended by its last chunk.
        case chunkUnfinished
        /// A later chunk has an id.
        case chunkWithID
        /// A type or an id is longer than 255 bytes.
        case fieldTooLong
        /// The payload is longer than the 4 GB that a length can say.
        case payloadTooLong
        /// The payload of a text record has no status byte.
        case textWithoutStatus
        /// The language code of a text record is empty.
        case noLanguage
        /// The language code is longer than the payload, or than 63 letters.
        case languageTooLong
        /// Text is not in the encoding that it says.
        case notText
        /// A URI record has no prefix code.
        case noURIPrefix
        /// The code of the URI's prefix is not defined (above 23 hexadecimal).
        case undefinedURIPrefix
        /// The bytes of a URI are no UTF-8, or hold control characters or blanks.
        case notAURI
        /// A smart poster has no URI, or more than one.
        case posterURICount
        /// A smart poster lies within a smart poster.
        case nestedPoster
        /// A field of a smart poster has another length than it must have.
        case posterFieldLength
        /// The action of a smart poster is none of the three.
        case undefinedAction

        /// The sentence for people.
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

/// Why there is no NDEF message on a tag; the raw values are words for scripts.
public enum NDEFAbsence: String, Hashable, Sendable {
    /// Not enough of the tag was read.
    case notRead
    /// A FeliCa Lite that does not answer to the NDEF system.
    case notAnnounced
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
