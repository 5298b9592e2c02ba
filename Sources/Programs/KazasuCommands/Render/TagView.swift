// SPDX-License-Identifier: Apache-2.0

import ByteCodec
import Kazasu
import KazasuCLI

/// The tag data of a dump for display.
struct TagView {
    let report: TagReport
    let originality: Originality?
    /// What an NTAG 424 DNA told with a key.
    let keyed: NTAG424Information?
    let redaction: Redaction

    // MARK: For display

    var rows: [[String]] {
        var rows = [[tr("Tag", "タグ"), title]]
        if let product = report.product { rows.append([tr("Product", "製品"), product]) }
        if let type2 = report.type2 { rows += Type2View(report: type2, redaction: redaction).rows }
        if let originality { rows.append([tr("Signature", "署名"), originality.message[Language.current]]) }
        if let type3 = report.type3 {
            rows.append([
                tr("Attributes", "属性情報"),
                tr("version \(version(type3))", "バージョン \(version(type3))")
                    + ", Nbr \(type3.blocksPerRead), Nbw \(type3.blocksPerWrite), Nmaxb \(type3.blockCount)",
            ])
        }
        if let lite = report.lite { rows += LiteView(report: lite).rows }
        if let type4 = report.type4 {
            rows.append([
                tr("Container", "機能コンテナ"),
                tr("version ", "バージョン ") + "\(type4.majorVersion).\(type4.minorVersion)"
                    + ", MLe \(type4.longestRead), MLc \(type4.longestWrite)",
            ])
        }
        if let keyed { rows += NTAG424View(information: keyed, redaction: redaction).rows }
        switch report.ndef {
        case .none(let reason): rows.append(["NDEF", reason.words])
        case .message(let bytes, let capacity, let isWritable):
            let access = isWritable ? tr("writable", "書き込み可") : tr("not writable", "書き込み不可")
            rows.append([
                "NDEF",
                tr("\(bytes.count) of \(capacity) bytes, \(access)", "\(bytes.count) / \(capacity) バイト、\(access)"),
            ])
            rows += NDEFView(bytes, redaction).rows.map { row in
                row.count > 2 ? [row[0], row[1] + (row[2].isEmpty ? "" : "  " + row[2])] : row
            }
        }
        return rows
    }

    /// A FeliCa Lite is a tag only while its memory configuration says so.
    private var title: String {
        guard report.ndef == .none(.notAnnounced) else { return "NFC Forum Type \(report.type) Tag" }
        return tr(
            "not an NFC Forum tag: it does not respond to the NDEF system 12FC",
            "NFC フォーラムのタグではありません（NDEF のシステム 12FC に応答しません）")
    }

    private func version(_ attributes: Type3Attributes) -> String {
        "\(attributes.majorVersion).\(attributes.minorVersion)"
    }

}

extension Originality.State {
    /// Green for what was proved, red for what was refuted.
    var color: Color? {
        switch self {
        case .valid: .green
        case .wrong: .red
        case .absent, .unknownProduct, .notChecked: nil
        }
    }
}

/// What an NTAG 424 DNA tells with a key, for display.
struct NTAG424View {
    let information: NTAG424Information
    let redaction: Redaction

    var rows: [[String]] {
        [
            [tr("Authenticated", "認証"), tr("with key \(information.key)", "鍵 \(information.key)")],
            [tr("UID by key", "鍵で得た UID"), redaction.apply(Hex.encode(information.uid, uppercase: true))],
        ]
            + information.files.map { file in
                let rights = [
                    (tr("read", "読"), file.read), (tr("write", "書"), file.write),
                    (tr("both", "読書"), file.readWrite), (tr("settings", "設定"), file.change),
                ]
                let words = rights.map { "\($0.0) \(Self.word($0.1))" }.joined(separator: tr(", ", "、"))
                return [
                    tr("File \(file.number)", "ファイル \(file.number)"),
                    tr("\(file.size) bytes", "\(file.size) バイト") + ", \(file.modeName)"
                        + (file.isDynamic ? ", SDM" : "") + "; " + words,
                ]
            }
    }

    /// Who has a right.
    private static func word(_ right: UInt8) -> String {
        switch right {
        case 0x0E: tr("free", "自由")
        case 0x0F: tr("never", "不可")
        default: tr("key \(right)", "鍵 \(right)")
        }
    }
}

/// The data specific to a FeliCa Lite or Lite-S for display.
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
}
