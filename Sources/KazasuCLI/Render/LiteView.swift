// SPDX-License-Identifier: Apache-2.0

import CardDecoders
import CardModel

/// What is special to a FeliCa Lite or Lite-S, for people and for documents.
struct LiteView {
    let report: LiteReport

    var rows: [[String]] {
        let bytes = LiteReport.userBlockCount * 16
        var rows = [
            [
                tr("User blocks", "ユーザーブロック"),
                tr(
                    "\(LiteReport.userBlockCount) (\(bytes) bytes), \(report.userBlocks.count) read",
                    "\(LiteReport.userBlockCount) 個（\(bytes) バイト）、読めたもの \(report.userBlocks.count) 個"),
            ]
        ]
        if let code = report.dataFormatCode {
            let issuer = report.issuer.map { "  " + $0[Language.current] } ?? ""
            rows.insert([tr("Data format code", "データフォーマットコード"), FourDigits.text(code) + issuer], at: 0)
        }
        guard let configuration = report.configuration else {
            return rows + [[tr("Read-only blocks", "読み取り専用ブロック"), tr("not read", "未読")]]
        }
        rows += configuration.fields.map {
            [$0.name[Language.current], ($0.label ?? both($0.value))[Language.current]]
        }
        return rows
    }

    private func both(_ text: String) -> LocalizedText { LocalizedText(text, text) }

    var members: JSONObject {
        func list(_ blocks: [Int]?) -> JSONValue { blocks.map { .array($0.map { .int($0) }) } ?? .null }
        var object = JSONObject([
            ("userBlocks", .int(LiteReport.userBlockCount)), ("userBlocksRead", list(report.userBlocks)),
        ])
        object["dataFormatCode"] = .text(report.dataFormatCode.map { FourDigits.text($0) })
        object["issuer"] = .text(report.issuer?[Language.current])
        guard let configuration = report.configuration else { return object }
        object["readOnlyBlocks"] = list(configuration.readOnlyBlocks)
        object["systemBlocksWritable"] = .bool(configuration.isSystemWritable)
        object["ndef"] = .bool(configuration.announcesNDEF)
        object["keyChangeable"] = .bool(configuration.isKeyChangeable)
        object["readNeedsAuthentication"] = list(configuration.authenticatedReads)
        object["writeNeedsAuthentication"] = list(configuration.authenticatedWrites)
        object["writeNeedsMAC"] = list(configuration.writesWithMAC)
        return object
    }
}
