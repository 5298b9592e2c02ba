// SPDX-License-Identifier: Apache-2.0

import ByteCodec
import Kazasu
import KazasuCLI

/// An NDEF message for display and for documents.
struct NDEFView {
    /// The raw bytes on the tag.
    let bytes: [UInt8]
    let redaction: Redaction
    private let message: NDEFMessage?
    private let error: NDEFError?

    init(_ bytes: [UInt8], _ redaction: Redaction) {
        self.bytes = bytes
        self.redaction = redaction
        guard !bytes.isEmpty else {
            (message, error) = (NDEFMessage([]), nil)
            return
        }
        do throws(NDEFError) {
            (message, error) = (try NDEFMessage(decoding: bytes, allowingTrailingBytes: true), nil)
        } catch {
            (message, self.error) = (nil, error)
        }
    }

    /// Why the bytes are not a message.
    var failure: CommandError? {
        error.map {
            CommandError(.tagBrokenMessage, $0.words)
        }
    }

    /// Members of a document: `length`, `records`, and `error` when they cannot be read.
    var members: JSONObject {
        NDEFMessage.members(of: bytes, hidesContents: redaction.isOn)
    }

    /// The rows of each record, at least one, numbered from 1.
    var rows: [[String]] {
        guard let message else { return [[tr("Message", "メッセージ"), error?.words ?? ""]] }
        if message.records.isEmpty { return [[tr("Message", "メッセージ"), tr("empty", "空")]] }
        return message.records.enumerated().flatMap { place, record in rows(record, number: place + 1) }
    }

    private func rows(_ record: NDEFRecord, number: Int) -> [[String]] {
        let label = tr("Record \(number)", "レコード \(number)")
        var rows: [[String]]
        do throws(NDEFError) {
            rows = self.rows(try record.content(allowingUndefinedPrefix: true))
        } catch {
            rows = [[DisplayText.harmless(record.typeText), error.reason.words]]
            if error.reason == .notAURI, let uri = NDEFURI.padded(record.payload) {
                rows.append(["", shown(uri.text) + tr(" (followed by zeros)", "（後ろにゼロが続いています）")])
            } else if !record.payload.isEmpty {
                rows.append(["", data(record.payload)])
            }
        }
        if let id = record.id { rows.append(["ID", data(id)]) }
        return rows.enumerated().map { place, row in [place == 0 ? label : ""] + row }
    }

    private func rows(_ content: NDEFContent) -> [[String]] {
        switch content {
        case .empty: [[tr("empty", "空"), ""]]
        case .text(let text): [[tr("Text", "テキスト") + " (\(DisplayText.harmless(text.language)))", shown(text.text)]]
        case .uri(let uri): [["URI", shown(uri.text)]] + warning(uri)
        case .smartPoster(let poster):
            self.rows(poster)
        case .mime(let type, let data), .external(let type, let data), .wellKnown(let type, let data):
            [[DisplayText.harmless(type), self.data(data)]]
        case .absoluteURI(let uri, let data): [["URI", shown(uri)]] + (data.isEmpty ? [] : [["", self.data(data)]])
        case .unknown(let data): [[tr("unknown", "不明"), self.data(data)]]
        @unknown default: [[content.word, ""]]
        }
    }

    private func rows(_ poster: NDEFSmartPoster) -> [[String]] {
        var rows = [[tr("Smart Poster", "スマートポスター"), shown(poster.uri.text)]] + warning(poster.uri)
        for title in poster.titles {
            rows.append(["  " + tr("Title", "タイトル") + " (\(DisplayText.harmless(title.language)))", shown(title.text)])
        }
        if let action = poster.action { rows.append(["  " + tr("Action", "動作"), action.words]) }
        if let type = poster.mediaType { rows.append(["  " + tr("Media type", "メディアタイプ"), shown(type)]) }
        if let size = poster.size { rows.append(["  " + tr("Size", "サイズ"), "\(size)"]) }
        for icon in poster.icons {
            let picture = "\(DisplayText.harmless(icon.typeText)), \(bytes(icon.payload.count))"
            rows.append(["  " + tr("Icon", "アイコン"), picture])
        }
        return rows
    }

    private func warning(_ uri: NDEFURI) -> [[String]] {
        uri.hasDefinedPrefix ? [] : [["", NDEFError.Reason.undefinedURIPrefix.words]]
    }

    private func shown(_ text: String) -> String {
        redaction.apply(DisplayText.harmless(text))
    }

    /// Readable data is shown as text, anything else as hexadecimal digits up to a line's length.
    private func data(_ bytes: [UInt8]) -> String {
        if redaction.isOn { return self.bytes(bytes.count) }
        if let text = printable(bytes) { return text }
        let digits = Hex.encode(bytes.prefix(32), uppercase: true)
        return bytes.count > 32 ? "\(digits)… (\(self.bytes(bytes.count)))" : digits
    }

    private func bytes(_ count: Int) -> String {
        tr(Words.count(count, "byte"), "\(count) バイト")
    }

    private func printable(_ bytes: [UInt8]) -> String? {
        guard let text = String(validating: bytes, as: UTF8.self) else { return nil }
        return text.unicodeScalars.allSatisfy { $0.value >= 0x20 || $0 == "\n" || $0 == "\r" || $0 == "\t" }
            ? DisplayText.harmless(text) : nil
    }
}

extension NDEFSmartPoster.Action {
    /// The action for the address, for display.
    fileprivate var words: String {
        switch self {
        case .execute: tr("open it", "開く")
        case .save: tr("save it for later", "後で使うために保存する")
        case .edit: tr("open it for editing", "編集のために開く")
        }
    }
}
