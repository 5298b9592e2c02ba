// SPDX-License-Identifier: Apache-2.0

import Kazasu
import KazasuCLI

/// A driver's license for display, and as `kazasu.license/1`.
struct LicenseView: IdentityView {
    var report: LicenseReport
    var redaction: Redaction
    /// The path that the photo was written to.
    var photoPath: String?

    /// The members of the document after `schema`.
    var members: JSONObject {
        report.members(Language.current, photoPath: photoPath, redact: redaction.apply)
    }

    var text: String {
        var text = report.kind.name[Language.current] + "\n" + Columns.values(items.map { [$0.0, $0.1] }, indent: "  ")
        text += section(tr("Categories", "免許の種類"), categories)
        text += section(tr("Later entries", "追記"), laterEntries)
        text += section(tr("Signature (not checked)", "電子署名（検証していません）"), signature)
        text += section(tr("PINs", "暗証番号"), pins)
        if !report.withheld.isEmpty {
            text += "\n" + Columns.sentence(withheldReason + withheld, indent: "")
        }
        return text + IdentityText.notes(report.warnings)
    }

    private func section(_ title: String, _ rows: [[String]]) -> String {
        guard !rows.isEmpty else { return "" }
        return "\n\(title)\n"
            + Columns.text(
                rows.map { row in
                    row.enumerated().map { $0.offset == 0 ? "  " + $0.element : $0.element }
                })
    }

    private static let shown: [LicenseItem] = [
        .name, .nameKana, .alias, .unifiedNameKana, .birthDate, .address, .registeredDomicile, .number, .historyNumber,
        .colorClass, .issueDate, .expiryDate, .conditions, .commission, .referenceNumber, .historyDate, .driverClass,
    ]

    // MARK: Items

    private var items: [(String, String)] {
        var rows: [(String, String)] = LicenseView.shown.flatMap { item -> [(String, String)] in
            if item == .issueDate || item == .expiryDate, report.field(item) == nil { return freeDate(item) }
            return report.fields(item).compactMap(row)
        }
        rows += report.fields(.remarks).compactMap { field in
            if case .text = field.value { row(field) } else { nil }
        }
        rows += report.fields(.externalCharacters).compactMap { picture($0, tr("External character", "外字")) }
        rows += report.fields(.missingCharacterImages).compactMap { picture($0, tr("Missing character", "欠字")) }
        if report.field(.photo) != nil { rows.append((tr("Photo", "写真"), photo)) }
        if let version = report.edition?.version { rows.append((tr("Specification", "仕様書バージョン"), version)) }
        return rows
    }

    private func row(_ field: LicenseField) -> (String, String)? {
        guard field.value != .absent || field.item != .conditions else { return nil }
        let name = field.name[Language.current]
        guard field.value != .absent || replaced(field) != nil else { return (name, tr("none", "なし")) }
        let value = replaced(field)?.description ?? field.value.words[Language.current]
        let shown = field.item.isPersonal ? redaction.apply(value) : value + gloss(field)
        return (name, shown + (replaced(field) == nil ? "" : tr("  (changed, see below)", "（変更後。下の追記を参照）")))
    }

    /// The meaning of a Japanese text, when the output is in another language.
    private func gloss(_ field: LicenseField) -> String {
        guard Language.current != .japanese, let meaning = field.meaning else { return "" }
        return "  (\(meaning[Language.current]))"
    }

    /// The value that a later entry put in place of an item.
    private func replaced(_ field: LicenseField) -> JISText? {
        switch field.item {
        case .name: report.newest(.newName)?.text
        case .nameKana: report.newest(.newNameKana)?.text
        case .address: report.newest(.newAddress)?.text
        case .commission: report.newest(.newCommission)?.text
        case .registeredDomicile: report.newest(.newRegisteredDomicile)?.text
        default: nil
        }
    }

    private func freeDate(_ item: LicenseItem) -> [(String, String)] {
        let name = item == .issueDate ? tr("Issued", "交付年月日") : tr("Valid until", "有効期間の末日")
        let day = item == .issueDate ? report.edition?.issued : report.edition?.expires
        return day.map { [(name, $0.description)] } ?? []
    }

    private func picture(_ field: LicenseField, _ name: String) -> (String, String)? {
        guard !field.raw.isEmpty else { return nil }
        return ("\(name) \(field.number)", tr("picture, \(field.raw.count) bytes", "画像 \(field.raw.count) バイト"))
    }

    private var photo: String {
        guard let photo = report.photo else { return tr("none", "なし") }
        let size = tr("JPEG 2000, \(photo.count) bytes", "JPEG 2000、\(photo.count) バイト")
        return size
            + (photoPath.map { tr(", written to \($0)", "（\($0) に保存）") }
                ?? tr("; --photo FILE saves it", "（--photo ファイル で保存）"))
    }

    // MARK: Lists

    private var categories: [[String]] {
        report.categories.map { category in
            let name = category.name[Language.current]
            return switch category.isHeld {
            case true: [name, category.since?.text[Language.current] ?? tr("yes", "あり")]
            case false: [name, "-"]
            default: [name, category.since?.text[Language.current] ?? "?"]
            }
        }
    }

    private var laterEntries: [[String]] {
        report.laterEntries.map { later in
            let (field, entry) = (later.field, later.entry)
            let text =
                field.item.isPersonal
                ? redaction.apply(entry.text.description) : entry.text.description + gloss(field)
            return [
                entry.date.text[Language.current], field.name[Language.current], text, entry.commission.description,
            ]
        }
    }

    private var signature: [[String]] {
        [
            LicenseItem.signatureIssuer, .signatureSubject, .signatureSerial, .signatureKeyIdentifier,
        ].compactMap { item in
            report.field(item).map {
                [$0.name[Language.current], redaction.apply($0.value.words[Language.current])]
            }
        }
    }

    private var pins: [[String]] {
        var rows: [[String]] = []
        if let arePINsSet = report.arePINsSet {
            rows.append([
                tr("Set by the holder", "暗証番号の設定"), arePINsSet ? tr("yes", "あり") : tr("no", "なし"),
            ])
        }
        for (name, state) in zip(pinNames, [report.pin1, report.pin2]) {
            // What unlocks a card without PINs is the same for all cards, and not the holder's.
            if let state, report.arePINsSet != false || !state.isVerified {
                rows.append([name, PINWords.state(state)])
            }
        }
        return rows
    }

    private var pinNames: [String] {
        report.kind == .license ? [tr("PIN 1", "暗証番号1"), tr("PIN 2", "暗証番号2")] : [tr("PIN", "暗証番号"), ""]
    }

    private var withheldReason: String {
        guard let missing = report.missingPIN, missing.number > 1 || missing.refusal != nil else {
            return PINWords.withheld(nil, nil)
        }
        return PINWords.withheld(pinNames[missing.number > 1 ? 1 : 0], missing.refusal)
    }

    private var withheld: String {
        var names: [String] = []
        for file in report.withheldFiles {
            for name in LicenseView.names(of: file) where !names.contains(name) { names.append(name) }
        }
        return names.joined(separator: tr(", ", "、"))
    }

    /// The contents of a file, for display.
    private static func names(of file: LicenseFile) -> [String] {
        switch file {
        case .matters, .myNumberMatters: [tr("what is printed on the license", "記載事項")]
        case .domicile, .laterDomicile: [tr("registered domicile", "本籍")]
        case .laterEntries: [tr("later entries", "追記")]
        case .photo: [tr("photo", "写真")]
        case .signature, .myNumberSignature: [tr("signature", "電子署名")]
        case .externalCharacters, .laterExternalCharacters: [tr("external characters", "外字")]
        case .commonData, .pinSetting, .myNumberPINSetting: []
        }
    }
}

extension LicenseReport: DecodableDocument {
    func view(of _: CardDump, _ redaction: Redaction, _ pictures: [WrittenPicture]) -> any IdentityView {
        LicenseView(report: self, redaction: redaction, photoPath: pictures.path("photo"))
    }
}
