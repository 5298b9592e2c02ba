// SPDX-License-Identifier: Apache-2.0

import Kazasu

/// A My Number card for display, and as `kazasu.mynumber/1`.
struct MyNumberView {
    var report: MyNumberReport
    var redaction: Redaction
    /// The paths that certificates were written to, in DER and in PEM.
    var paths: [MyNumberFile: (der: String, pem: String)] = [:]

    /// The members of the document after `schema`.
    var members: JSONObject {
        var object = report.json(Language.current, certificates: certificate, redact: redaction.apply)
        object["faults"] = .array(report.warnings.map(\.json))
        return object
    }

    private func certificate(_ file: MyNumberFile) -> JSONObject {
        var object = JSONObject()
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
        if let attributes = report.attributes {
            rows += [
                [tr("Name", "氏名"), personal(attributes.name)], [tr("Address", "住所"), personal(attributes.address)],
                [tr("Date of birth", "生年月日"), personal(attributes.birthDate?.description)],
                [tr("Sex", "性別"), personal(attributes.sex.map(MyNumberView.sex))],
            ]
        }
        var text = tr("My Number card", "マイナンバーカード") + "\n" + Columns.text(rows.map { ["  " + $0[0], $0[1]] })
        text += "\n" + tr("PINs", "暗証番号") + "\n"
        text += Columns.text(
            MyNumberPIN.allCases.compactMap { pin in
                report.pins[pin].map { ["  " + pin.name[Language.current], PINWords.state($0)] }
            })
        for file in MyNumberFile.allCases where report.certificates[file] != nil { text += certificateText(file) }
        if report.withheld.contains(.attributes) {
            let refusal = report.pins[.cardInput]?.refusal
            let pin = refusal == nil ? nil : MyNumberPIN.cardInput.name[Language.current]
            text += "\n" + PINWords.withheld(pin, refusal)
            text += tr("name, address, birth date, sex", "氏名、住所、生年月日、性別") + "\n"
        }
        if !report.warnings.isEmpty {
            text += "\n" + tr("Notes", "注意") + "\n"
            text += report.warnings.map { "  \($0.words)\n" }.joined()
        }
        return text
    }

    private func certificateText(_ file: MyNumberFile) -> String {
        var text = "\n\(file.name[Language.current])\n"
        let bytes = report.certificates[file]?.count ?? 0
        var rows = summary(file)?.rows(redaction) ?? [[tr("Length", "長さ"), tr("\(bytes) bytes", "\(bytes) バイト")]]
        if let paths = paths[file] { rows.append([tr("Written to", "保存先"), "\(paths.der), \(paths.pem)"]) }
        text += Columns.text(rows.map { ["  " + $0[0], $0[1]] })
        return text
    }

    private func personal(_ text: String?) -> String { text.map(redaction.apply) ?? tr("none", "なし") }

    /// The code with its meaning where ISO/IEC 5218 defines one.
    private static func sex(_ code: String) -> String {
        switch code {
        case "1": tr("1 (male)", "1（男）")
        case "2": tr("2 (female)", "2（女）")
        default: code
        }
    }
}
