// SPDX-License-Identifier: Apache-2.0

import Kazasu

/// A residence card for display, and as `kazasu.residence/1`.
struct ResidenceView {
    var report: ResidenceReport
    var signature: CardSignature
    var redaction: Redaction
    /// The pictures that were written, and where.
    var paths: [(picture: ResidenceReport.Picture, path: String)] = []

    /// The members of the document after `card`.
    var members: JSONObject {
        let pictures = paths.map { picture, path -> JSONValue in
            [
                "id": .string(picture.rawValue), "path": .string(path),
                "format": .string(PictureFile.format(of: report.pictures[picture] ?? [])),
            ]
        }
        return report.members(
            Language.current, pictures: .array(pictures), signature: signature.json, redact: redaction.apply)
    }

    var text: String {
        let generation = report.type.generation
        var text = tr(
            "\(report.type.name.english), generation \(generation)\n",
            "\(report.type.name.japanese)（第 \(generation) 世代）\n")
        text += Columns.values(rows.filter { $0[1] != "" }, indent: "  ")
        guard report.withheld.isEmpty else {
            return text + "\n"
                + Columns.sentence(
                    tr("Not read without the card's number: ", "カード番号がないと読めない項目: ")
                        + report.withheld.map { $0.name[Language.current] }.joined(separator: tr(", ", "、")),
                    indent: "")
        }
        if !report.type.isSpecified { text += signature.text(Self.name) }
        if !report.warnings.isEmpty {
            text += "\n" + tr("Notes", "注意") + "\n" + report.warnings.map { Columns.sentence($0.words) }.joined()
        }
        return text
    }

    private var rows: [[String]] {
        var rows = [
            [tr("Card number", "カード番号"), personal(report.number)], [tr("Name", "氏名"), nameHint],
            [tr("Date of birth", "生年月日"), personal(report.birthDate)], [tr("Sex", "性別"), code(report.sex)],
            [tr("Nationality or region", "国籍・地域"), code(report.nationality)],
            [tr("Status of residence", "在留資格"), code(report.status)],
            [tr("Period of stay", "在留期間"), code(report.period)],
            [tr("Stay until", "在留期間の満了日"), personal(report.until)],
            [tr("Card valid until", "カードの有効期間"), personal(report.validUntil)],
            [tr("Permission", "許可の種類"), code(report.permission)],
            [tr("Permission granted", "許可年月日"), personal(report.permissionDate)],
            [tr("Work", "就労制限"), code(report.work)],
        ]
        for activity in report.activities {
            let title =
                activity.isComprehensive
                ? tr("Other activities, comprehensive", "資格外活動（包括許可）")
                : tr("Other activities, individual", "資格外活動（個別許可）")
            let until = activity.until.map { tr(" until \(personal($0))", "（\(personal($0)) まで）") } ?? ""
            rows.append([title, (activity.text.map(redaction.apply) ?? code(activity.code)) + until])
        }
        rows += [
            [tr("Address", "住居地"), personal(report.address)],
            [tr("Municipality", "市区町村コード"), personal(report.municipality)],
            [tr("Address written", "住居地の届出年月日"), personal(report.addressDate)],
            [tr("Pending application", "在留期間更新等の申請"), code(report.pending)],
            [tr("Remarks", "長官記録事項"), personal(report.remarks)],
        ]
        rows += paths.map { [Self.title($0.picture), $0.path] }
        return rows
    }

    /// What a picture shows, as the name of the file that it was written to.
    private static func title(_ picture: ResidenceReport.Picture) -> String {
        switch picture {
        case .photo: tr("Photo", "顔写真")
        case .name: tr("Picture of the name", "氏名画像")
        case .front: tr("Picture of the front", "券面（表）画像")
        case .address: tr("Picture of the address", "住居地画像")
        }
    }

    /// Where the name is.
    private var nameHint: String {
        guard report.pictures[.front] != nil || report.pictures[.name] != nil else { return "" }
        if let path = paths.first(where: { $0.picture == .front || $0.picture == .name })?.path {
            return tr("only as a picture: \(path)", "文字では記録されていません。画像: \(path)")
        }
        let option = Caller.current.option("front")
        return report.type.generation == 1
            ? tr(
                "name, nationality and status are only in the picture of the front (\(option))",
                "氏名・国籍・在留資格は券面の画像にあります（\(option)）")
            : tr("only as a picture (\(option))", "画像のみ（\(option)）")
    }

    /// An item of a signature in words.
    private static func name(_ item: String) -> String {
        switch item {
        case "validUntil": tr("validity of the card", "カードの有効期間")
        case "birthDate": tr("date of birth", "生年月日")
        case "sex": tr("sex", "性別")
        case "nationality": tr("nationality", "国籍・地域")
        case "status": tr("status of residence", "在留資格")
        case "period": tr("period of stay", "在留期間")
        case "permission": tr("permission", "許可の種類")
        case "permissionDate": tr("its date", "許可年月日")
        case "work": tr("work", "就労制限")
        case "until": tr("end of stay", "在留期間の満了日")
        case "photo": tr("photo", "顔写真")
        case "namePicture": tr("picture of the name", "氏名画像")
        case "front": tr("picture of the front", "券面（表）画像")
        case "kind": tr("type of card", "カード種別")
        case "number": tr("card number", "カード番号")
        case "address": tr("address", "住居地")
        case "addressPicture": tr("picture of the address", "住居地画像")
        case "activities": tr("other activities", "資格外活動許可")
        case "pending": tr("pending application", "在留期間更新等の申請")
        case "remarks": tr("remarks", "長官記録事項")
        default: item
        }
    }

    private func personal(_ text: String?) -> String { text.map(redaction.apply) ?? "" }

    private func personal(_ date: CalendarDate?) -> String { personal(date?.description) }

    /// The code, with its meaning where that is known.
    private func code(_ code: ResidenceCode?) -> String {
        guard let code else { return "" }
        guard !redaction.isOn else { return redaction.apply(code.code) }
        guard let name = code.name?[Language.current] else { return code.code }
        return tr("\(code.code) (\(name))", "\(code.code)（\(name)）")
    }
}
