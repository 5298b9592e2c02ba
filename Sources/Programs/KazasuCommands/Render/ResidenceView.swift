// SPDX-License-Identifier: Apache-2.0

import Kazasu
import KazasuCLI

/// A residence card for display, and as `kazasu.residence/1`.
struct ResidenceView: IdentityView {
    var report: ResidenceReport
    var signature: CardSignature
    var redaction: Redaction
    /// The pictures that were written, and where.
    var paths: [WrittenPicture] = []

    /// The members of the document after `card`.
    var members: JSONObject {
        report.members(
            Language.current, pictures: IdentityText.pictures(paths, of: report), signature: signature.json,
            redact: redaction.apply)
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
            + paths.map { [IdentityText.title(Self.item($0.id), ResidenceReport.pictureItems), $0.path] }
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
    private static func item(_ picture: String) -> String {
        ["photo", "front"].contains(picture) ? picture : picture + "Picture"
    }

    /// Where the name is.
    private var nameHint: String {
        guard report.pictures[.front] != nil || report.pictures[.name] != nil else { return "" }
        if let path = paths.path("front") ?? paths.path("name") {
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

extension ResidenceReport: DecodableDocument {
    func view(of dump: CardDump, _ redaction: Redaction, _ pictures: [WrittenPicture]) -> any IdentityView {
        let signature = try? signature(of: dump, authorities: CertificateAuthorities(files: []))
        return ResidenceView(
            report: self, signature: signature ?? .withoutLibrary, redaction: redaction, paths: pictures)
    }
}
