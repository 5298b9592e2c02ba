// SPDX-License-Identifier: Apache-2.0

internal import ByteCodec

/// The payload of a smart poster record (`Sp`).
///
/// A nested message with one URI, titles, an action, icons, a size and a media type. Source: NFC Forum Smart Poster RTD
/// 1.0.
package struct NDEFSmartPoster: Hashable, Sendable {
    package var uri: NDEFURI
    /// The titles, one per language.
    package var titles: [NDEFText]
    /// The action for the URI; `nil` when the poster has none.
    package var action: Action?
    /// The size of the URI's target in bytes; `nil` when the poster does not give it.
    package var size: UInt32?
    /// The media type of the URI's target; `nil` when the poster does not give it.
    package var mediaType: String?
    /// The icons: records of a media type image/… or video/….
    package var icons: [NDEFRecord]
    /// Records that have no meaning in a smart poster.
    package var others: [NDEFRecord]

    /// The action for the URI.
    package enum Action: UInt8, Hashable, Sendable, CaseIterable {
        /// Execute it: call, open, send.
        case execute = 0
        /// Save it for later.
        case save = 1
        /// Open it for editing.
        case edit = 2
    }

    package init(
        _ uri: NDEFURI, titles: [NDEFText] = [], action: Action? = nil, size: UInt32? = nil, mediaType: String? = nil,
        icons: [NDEFRecord] = [], others: [NDEFRecord] = []
    ) {
        self.uri = uri
        self.titles = titles
        self.action = action
        self.size = size
        self.mediaType = mediaType
        self.icons = icons
        self.others = others
    }

    /// Decodes the payload. A nested poster is refused, so that no tag can nest them without bound.
    ///
    /// - Throws: ``NDEFError``.
    package init(payload: [UInt8], allowingUndefinedPrefix: Bool = false) throws(NDEFError) {
        let message = try NDEFMessage(decoding: payload)
        var uris: [NDEFURI] = []
        titles = []
        icons = []
        others = []
        for record in message.records {
            switch (record.format, record.typeText) {
            case (.wellKnown, "U"):
                uris.append(
                    try NDEFURI(payload: record.payload, allowingUndefinedPrefix: allowingUndefinedPrefix))
            case (.wellKnown, "T"): titles.append(try NDEFText(payload: record.payload))
            case (.wellKnown, "Sp"): throw NDEFError(.nestedPoster)
            case (.wellKnown, "act"):
                guard let code = record.payload.first, record.payload.count == 1 else {
                    throw NDEFError(.posterFieldLength)
                }
                guard let known = Action(rawValue: code) else { throw NDEFError(.undefinedAction) }
                action = known
            case (.wellKnown, "s"):
                var reader = ByteReader(record.payload)
                guard let bytes = try? reader.readUInt32(.big), reader.remaining == 0 else {
                    throw NDEFError(.posterFieldLength)
                }
                size = bytes
            case (.wellKnown, "t"):
                guard let text = String(validating: record.payload, as: UTF8.self) else { throw NDEFError(.notText) }
                mediaType = text
            case (.mime, let type) where type.hasPrefix("image/") || type.hasPrefix("video/"): icons.append(record)
            default: others.append(record)
            }
        }
        guard let only = uris.first, uris.count == 1 else { throw NDEFError(.posterURICount) }
        uri = only
    }

    /// Encodes the payload.
    ///
    /// - Throws: ``NDEFError``.
    package func payload() throws(NDEFError) -> [UInt8] {
        var records = [NDEFRecord(format: .wellKnown, type: "U", payload: try uri.payload())]
        for title in titles {
            records.append(NDEFRecord(format: .wellKnown, type: "T", payload: try title.payload()))
        }
        if let action { records.append(NDEFRecord(format: .wellKnown, type: "act", payload: [action.rawValue])) }
        records += icons
        if let size {
            var bytes = ByteWriter()
            bytes.write(size, .big)
            records.append(NDEFRecord(format: .wellKnown, type: "s", payload: bytes.bytes))
        }
        if let mediaType {
            records.append(NDEFRecord(format: .wellKnown, type: "t", payload: Array(mediaType.utf8)))
        }
        return try NDEFMessage(records + others).encoded()
    }
}
