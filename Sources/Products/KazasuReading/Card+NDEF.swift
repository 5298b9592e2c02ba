// SPDX-License-Identifier: Apache-2.0

internal import ISO7816
public import NDEF
internal import NFCForumTags
internal import ReaderCore

extension Card {
    /// Reads the NDEF message of an NFC Forum Type 2, 3 or 4 Tag.
    ///
    /// ```swift
    /// let tag = try reader.waitForCard(.tag)
    /// for record in try tag.readNDEF().records { print(record.uri ?? record.text ?? record.typeText) }
    /// ```
    ///
    /// - Returns: the message; it has no records if the tag is formatted for NDEF but empty.
    /// - Throws: ``KazasuError/tag(_:)``, for example ``TagError/noNDEF(_:)`` for a card that cannot hold a message or
    ///   is not a tag.
    public func readNDEF() throws(KazasuError) -> NDEFMessage {
        let bytes = try messageTag().readNDEF().message
        guard !bytes.isEmpty else { return NDEFMessage([]) }
        do throws(NDEFError) {
            return try NDEFMessage(decoding: bytes)
        } catch {
            throw .tag(.notAMessage(error))
        }
    }

    /// Overwrites the tag's NDEF message, then reads it back and compares.
    ///
    /// A tag that leaves the field is never left with half a message: it then has none. Nothing is written if the tag
    /// is read-only, locked or too small.
    ///
    /// - Throws: ``KazasuError/tag(_:)``.
    public func writeNDEF(_ message: NDEFMessage) throws(KazasuError) {
        let bytes: [UInt8]
        do throws(NDEFError) {
            bytes = try message.encoded()
        } catch {
            throw .tag(.notAMessage(error))
        }
        try messageTag().writeNDEF(bytes)
    }

    private func messageTag() throws(KazasuError) -> ForumTag {
        guard tag != nil else { throw .tag(.noNDEF(.notFormatted)) }
        return try forumTag()
    }

    /// The tag that the card may be.
    package var tag: FoundTag? {
        switch (picc, found.request) {
        case (.typeA(let target), _) where Type2Tag.mayBe(target):
            .type2(Type2Tag(reader: reader.device, target: target, cancellation: reader.cancellation))
        case _ where picc.isISODEP: .card(picc, iso7816)
        case (.felica(let target), .felica(.ndef, _, _, _)):
            .type3(Type3Tag(reader: reader.device, target: target, cancellation: reader.cancellation), target)
        case (.felica(let target), .felica(.lite, _, _, _)): .lite(target)
        default: nil
        }
    }
}

extension FoundCard {
    /// Whether the card may be an NFC Forum tag.
    var mayBeTag: Bool {
        switch (picc, request) {
        case (.typeA(let target), _) where Type2Tag.mayBe(target): true
        case (.felica, .felica(.ndef, _, _, _)), (.felica, .felica(.lite, _, _, _)): true
        default: picc.isISODEP
        }
    }
}

extension NDEFRecord {
    /// The text of a text record (`T`); `nil` for any other record.
    public var text: String? {
        if case .text(let text)? = try? content() { text.text } else { nil }
    }

    /// The URI of a URI record (`U`) or smart poster (`Sp`); `nil` for any other record.
    public var uri: String? {
        switch try? content() {
        case .uri(let uri)?: uri.text
        case .smartPoster(let poster)?: poster.uri.text
        default: nil
        }
    }

    /// Returns a text record.
    ///
    /// - Parameters:
    ///   - text: any text.
    ///   - language: 1 to 63 ASCII letters, such as `en` or `ja-JP` (RFC 3066).
    /// - Throws: ``NDEFError`` if the language has another form.
    public static func text(_ text: String, language: String = "en") throws(NDEFError) -> NDEFRecord {
        try NDEFRecord(.text(NDEFText(text, language: language)))
    }

    /// Returns a URI record.
    ///
    /// - Parameter uri: UTF-8 without blanks and control characters.
    /// - Throws: ``NDEFError`` if it contains blanks or control characters.
    public static func uri(_ uri: String) throws(NDEFError) -> NDEFRecord {
        try NDEFRecord(.uri(NDEFURI(uri)))
    }
}
