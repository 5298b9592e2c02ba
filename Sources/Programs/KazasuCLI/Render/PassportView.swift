// SPDX-License-Identifier: Apache-2.0

import Kazasu

/// A passport for display, and as `kazasu.passport/1`.
struct PassportView {
    var report: PassportReport
    var signature: CardSignature
    var redaction: Redaction
    /// Where the photo was written.
    var path: String?

    /// The members of the document after `card`.
    var members: JSONObject {
        var object = report.json(Language.current, redact: redaction.apply)
        let format = PictureFile.format(of: report.photo ?? [])
        object["pictures"] = .array(
            path.map { [["id": "photo", "path": .string($0), "format": .string(format)]] } ?? [])
        object["signature"] = signature.json
        object["withheld"] = .array(report.withheld.map { .string($0.rawValue) })
        object["faults"] = .array(report.warnings.map(\.json))
        return object
    }

    var text: String {
        var text = tr("Passport", "パスポート") + "\n"
        text += Columns.text(rows.filter { $0[1] != "" }.map { ["  " + $0[0], $0[1]] })
        guard report.withheld.isEmpty else {
            return text + tr("  not opened", "  開けていません") + "\n"
        }
        text += signatureText
        if !report.warnings.isEmpty {
            text += "\n" + tr("Notes", "注意") + "\n" + report.warnings.map { "  \($0.words)\n" }.joined()
        }
        return text
    }

    private var rows: [[String]] {
        guard let zone = report.machineReadableZone else { return [] }
        let birth = report.birthDates.map { redaction.apply($0.description) }
        return [
            [tr("Document", "種別"), zone.documentCode], [tr("Issuing state", "発行国"), zone.issuer],
            [tr("Number", "旅券番号"), personal(zone.number)], [tr("Surname", "姓"), personal(zone.surname)],
            [tr("Given names", "名"), personal(zone.givenNames)],
            [tr("Nationality", "国籍"), personal(zone.nationality)],
            [tr("Date of birth", "生年月日"), birth.joined(separator: tr(" or ", "または"))],
            [tr("Sex", "性別"), sex(zone.sex)],
            [tr("Expires", "有効期間満了日"), personal(report.expiryDate?.description ?? zone.expiryDate)],
            [tr("Optional data", "任意項目"), personal(zone.optionalData)],
            [tr("Photo", "顔写真"), path ?? photoHint],
        ]
    }

    private var photoHint: String {
        guard report.photo != nil else { return "" }
        let option = Caller.current.option("photo")
        return tr("read (\(option) writes it)", "読み取り済み（\(option) で保存）")
    }

    private var signatureText: String {
        signature.text(
            notShown: tr(
                "that the chip is not a copy, or that the passport was not reported lost", "IC が複製でないこと、紛失届が出ていないこと"),
            Self.name)
    }

    /// An item of a signature in words.
    private static func name(_ item: String) -> String {
        switch item {
        case "machineReadableZone": tr("machine-readable zone", "機械読取領域")
        case "photo": tr("photo", "顔写真")
        case "dataGroups": tr("list of data groups", "データグループの一覧")
        default: item
        }
    }

    private func personal(_ text: String) -> String { text.isEmpty ? "" : redaction.apply(text) }

    private func sex(_ code: String) -> String {
        guard !redaction.isOn else { return redaction.apply(code) }
        return PassportReport.sexName(code)?[Language.current] ?? code
    }
}
