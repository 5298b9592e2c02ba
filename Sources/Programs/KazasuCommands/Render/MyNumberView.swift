// SPDX-License-Identifier: Apache-2.0

import Kazasu
import KazasuCLI

/// A My Number card for display, and as `kazasu.mynumber/1`.
struct MyNumberView: IdentityView {
    var report: MyNumberReport
    var redaction: Redaction
    /// The paths that certificates were written to, in DER and in PEM.
    var paths: [MyNumberFile: (der: String, pem: String)] = [:]
    /// The pictures that were written, and where.
    var pictures: [WrittenPicture] = []
    /// Whether the command has options that write pictures.
    var offersPictures = false
    /// What the check of the face or else of the four items found; `nil` if neither was read.
    var signature: CardSignature?
    /// What the checks of the certificates found.
    var chains: [MyNumberFile: CardSignature] = [:]

    /// The members of the document after `schema`.
    var members: JSONObject {
        var object = report.json(Language.current, certificates: certificate, redact: redaction.apply)
        if report.face != nil { object["pictures"] = IdentityText.pictures(pictures, of: report) }
        if let signature { object["signature"] = signature.json }
        object["faults"] = report.faults(Language.current)
        return object
    }

    private func certificate(_ file: MyNumberFile) -> JSONObject {
        var object = JSONObject()
        if let chain = chains[file] {
            object["chain"] = ["state": .string(chain.state.rawValue), "by": .text(chain.authority)]
        }
        if let summary = summary(file) { object.merge(summary.members(redaction)) }
        if let paths = paths[file] {
            object["der"] = .string(paths.der)
            object["pem"] = .string(paths.pem)
        }
        return object
    }

    private func summary(_ file: MyNumberFile) -> CertificateSummary? {
        report.certificates[file].flatMap { CertificateSummary(der: $0) }
    }

    var text: String {
        var rows = [[tr("Card", "カード"), report.kind?.name[Language.current] ?? report.token ?? "?"]]
        if report.attributes != nil { rows += self.rows(MyNumberReport.attributeItems) }
        if let face = report.face { rows += self.rows(of: face) }
        var text = tr("My Number card", "マイナンバーカード") + "\n" + Columns.values(rows, indent: "  ")
        let items = MyNumberReport.attributeItems + MyNumberReport.faceItems + MyNumberReport.pictureItems
        text += signature?.text(items) ?? ""
        text += "\n" + tr("PINs", "暗証番号") + "\n"
        text += Columns.values(
            MyNumberPIN.allCases.compactMap { pin in
                report.pins[pin].map { [pin.name[Language.current], PINWords.state($0)] }
            }, indent: "  ")
        for file in MyNumberFile.allCases where report.certificates[file] != nil { text += certificateText(file) }
        if report.withheld.contains(.face) {
            text += withheldText(.cardSurfaceNumberB, tr("the front of the card", "券面の表面の情報"))
        } else if report.withheld.contains(.attributes), report.face == nil {
            text += withheldText(.cardInput, tr("name, address, birth date, sex", "氏名、住所、生年月日、性別"))
        }
        return text + IdentityText.notes(report.warnings)
    }

    private func withheldText(_ which: MyNumberPIN, _ items: String) -> String {
        let refusal = report.pins[which]?.refusal
        let why = PINWords.withheld(refusal == nil ? nil : which.name[Language.current], refusal)
        return "\n" + Columns.sentence(why + items, indent: "")
    }

    private func rows(of face: MyNumberFace) -> [[String]] {
        var rows = self.rows(MyNumberReport.faceItems)
        for picture in MyNumberFace.Picture.allCases where face.pictures[picture] != nil {
            rows.append([Self.title(picture), pictures.path(picture.rawValue) ?? hint(picture)])
        }
        return rows
    }

    private static func title(_ picture: MyNumberFace.Picture) -> String {
        switch picture {
        case .photo: tr("Photo", "顔写真")
        case .name: tr("Name", "氏名")
        case .address: tr("Address", "住所")
        }
    }

    /// What can be done with a picture.
    private func hint(_ picture: MyNumberFace.Picture) -> String {
        guard offersPictures else { return tr("a picture", "画像") }
        let option = Caller.current.option(picture == .photo ? "photo" : "\(picture.rawValue)-image")
        return tr("a picture (\(option) writes it)", "画像（\(option) で保存）")
    }

    private func certificateText(_ file: MyNumberFile) -> String {
        var text = "\n\(file.name[Language.current])\n"
        let bytes = report.certificates[file]?.count ?? 0
        var rows = summary(file)?.rows(redaction) ?? [[tr("Length", "長さ"), tr("\(bytes) bytes", "\(bytes) バイト")]]
        if let chain = chains[file], chain.state != .notChecked {
            let by = chain.authority.map { tr(" (\($0))", "（\($0)）") } ?? ""
            rows.append([tr("Check", "検証"), chain.state.words + by])
        }
        if let paths = paths[file] { rows.append([tr("Written to", "保存先"), "\(paths.der), \(paths.pem)"]) }
        text += Columns.values(rows, indent: "  ")
        return text
    }

    /// What is missing of what was read is said, too.
    private func rows(_ items: [IdentityItem<MyNumberReport>]) -> [[String]] {
        items.map { item in
            let words = item.words(of: report, Language.current, redaction.apply)
            return [IdentityText.title(item.id, items), words ?? tr("none", "なし")]
        }
    }
}

extension MyNumberReport: DecodableDocument {
    func view(of dump: CardDump, _ redaction: Redaction, _ pictures: [WrittenPicture]) -> any IdentityView {
        var view = MyNumberView(report: self, redaction: redaction)
        view.pictures = pictures
        if let authorities = try? CertificateAuthorities(files: []) {
            // The signature of the four items is in no dump.
            if face != nil { view.signature = try? faceSignature(of: dump, authorities: authorities) }
            for file in certificates.keys { view.chains[file] = try? chain(of: file, authorities: authorities) }
        }
        return view
    }
}
