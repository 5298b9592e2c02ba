// SPDX-License-Identifier: Apache-2.0

internal import ByteCodec

extension NDEFRecord {
    /// What the record says, in one line without words of any language: a text or URI as it is, a smart poster's URI with
    /// its titles in brackets, for others the type and the data as text or as hexadecimal digits. Nothing in it can change
    /// a terminal.
    public var summary: String { DisplayText.harmless(said) }

    private var said: String {
        guard let content = try? content(allowingUndefinedPrefix: true) else {
            return NDEFRecord.summary(typeText, payload)
        }
        switch content {
        case .empty: return "-"
        case .text(let text): return text.text
        case .uri(let uri): return uri.text
        case .smartPoster(let poster):
            let titles = poster.titles.map(\.text).joined(separator: ", ")
            return titles.isEmpty ? poster.uri.text : "\(poster.uri.text) (\(titles))"
        case .absoluteURI(let uri, let data): return data.isEmpty ? uri : NDEFRecord.summary(uri, data)
        case .mime(let type, let data), .external(let type, let data), .wellKnown(let type, let data):
            return NDEFRecord.summary(type, data)
        case .unknown(let data): return Hex.encode(data, uppercase: true)
        }
    }

    private static func summary(_ type: String, _ data: [UInt8]) -> String {
        let text = String(validating: data, as: UTF8.self)
        let isReadable = text?.unicodeScalars.allSatisfy { $0.value >= 0x20 && $0.value != 0x7F } ?? false
        return "\(type): \(isReadable ? text ?? "" : Hex.encode(data, uppercase: true))"
    }
}
