// SPDX-License-Identifier: Apache-2.0

import CardModel
import NFCTransport

extension ListedReader {
    /// An entry of `kazasu.readers/1`.
    var json: JSONObject {
        var object = JSONObject([("id", .text(readerID)), ("name", .text(name))])
        switch state {
        case .ready: object["state"] = "ready"
        case .unknown: object["state"] = "unknown"
        case .unavailable(let reason, let detail):
            object["state"] = "unavailable"
            object["reason"] = .string(reason.rawValue)
            object["detail"] = .string(detail)
            object["hint"] = .text(hint)
        }
        return object
    }

    /// ID, state, name and what there is to say, for a line.
    var cells: [String] { [readerID ?? "-", word, name ?? "", detail] }

    private var word: String {
        switch state {
        case .ready: tr("ready", "使用可")
        case .unknown: tr("not tried", "未確認")
        case .unavailable(let reason, _):
            switch reason {
            case .absent: tr("absent", "なし")
            case .busy: tr("busy", "使用中")
            case .permission: tr("no permission", "権限なし")
            case .unsupported: tr("unsupported", "未対応")
            }
        }
    }

    private var detail: String {
        switch state {
        case .ready: ""
        case .unknown where isConfigured: tr("configured in libnfc", "libnfc に設定済み")
        case .unknown: tr("a serial port; a PN532 may be behind it", "シリアルポート（PN532 の可能性あり）")
        case .unavailable(_, let detail): Phrasebook.translated(detail)
        }
    }
}
