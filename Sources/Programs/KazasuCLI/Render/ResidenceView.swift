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
        let pictures = paths.map { IdentityText.picture($0.picture.rawValue, $0.path, report.pictures[$0.picture]) }
        return report.members(
            Language.current, pictures: .array(pictures), signature: signature.json, redact: redaction.apply)
    }

    var text: String {
        let generation = report.type.generation
        var text = tr(
            "\(report.type.name.english), generation \(generation)\n",
            "\(report.type.name.japanese)（第 \(generation) 世代）\n")
        text += Columns.values(rows, indent: "  ")
        guard report.withheld.isEmpty else {
            return text + "\n"
                + Columns.sentence(
                    tr("Not read without the card's number: ", "カード番号がないと読めない項目: ")
                        + report.withheld.map { $0.name[Language.current] }.joined(separator: tr(", ", "、")),
                    indent: "")
        }
        if !report.type.isSpecified { text += signature.text(ResidenceReport.items + ResidenceReport.pictureItems) }
        return text + IdentityText.notes(report.warnings)
    }

    private var rows: [[String]] {
        IdentityText.rows(
            ResidenceReport.items, of: report, redaction,
            own: ["name": [[tr("Name", "氏名"), nameHint]], "activities": report.activities.map(row)])
            + paths.map { [IdentityText.title(Self.item($0.picture), ResidenceReport.pictureItems), $0.path] }
    }

    private func row(_ activity: ResidenceReport.Activity) -> [String] {
        let title =
            activity.isComprehensive
            ? tr("Other activities, comprehensive", "資格外活動（包括許可）")
            : tr("Other activities, individual", "資格外活動（個別許可）")
        let day = activity.until.map { redaction.apply($0.description) }
        let until = day.map { tr(" until \($0)", "（\($0) まで）") } ?? ""
        return [title, (activity.text.map(redaction.apply) ?? code(activity.code)) + until]
    }

    /// The item of a picture.
    private static func item(_ picture: ResidenceReport.Picture) -> String {
        switch picture {
        case .photo, .front: picture.rawValue
        case .name, .address: picture.rawValue + "Picture"
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

    /// The code, with its meaning where that is known.
    private func code(_ code: ResidenceCode?) -> String {
        guard let code else { return "" }
        guard !redaction.isOn else { return redaction.apply(code.code) }
        guard let name = code.name?[Language.current] else { return code.code }
        return tr("\(code.code) (\(name))", "\(code.code)（\(name)）")
    }
}
