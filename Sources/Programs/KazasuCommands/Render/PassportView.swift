// SPDX-License-Identifier: Apache-2.0

import Kazasu
import KazasuCLI

/// A passport for display, and as `kazasu.passport/1`.
struct PassportView: IdentityView {
    var report: PassportReport
    var signature: CardSignature
    var chip: ChipCheck
    var redaction: Redaction
    /// The day as of which it was judged, if that is not the present.
    var at: CalendarDate?
    /// The photo, if it was written.
    var pictures: [WrittenPicture] = []

    /// The members of the document after `card`.
    var members: JSONObject {
        var members = report.members(
            Language.current, pictures: IdentityText.pictures(pictures, of: report), signature: masked.json,
            chip: chip.json, redact: redaction.apply)
        if let at { members["at"] = .string(at.description) }
        return members
    }

    var text: String {
        var text = tr("Passport", "パスポート") + (report.isFromFiles ? tr(" (from files)", "（ファイルから）") : "") + "\n"
        text += Columns.values(rows, indent: "  ")
        guard report.withheld.isEmpty else {
            return text + tr("  not opened", "  開けていません") + "\n"
        }
        return text + signatureText + chipText + IdentityText.notes(report.warnings)
    }

    private var rows: [[String]] {
        guard let zone = report.machineReadableZone else { return [] }
        let birth = report.birthDates.map { redaction.apply($0.description) }
        let own = [
            "birthDate": birth.joined(separator: tr(" or ", "または")), "sex": sex(zone.sex),
            "expiryDate": redaction.apply(report.expiryDate?.description ?? zone.expiryDate),
        ]
        let items = PassportReport.items
        let rows = IdentityText.rows(
            items, of: report, redaction,
            own: Dictionary(uniqueKeysWithValues: own.map { ($0, [[IdentityText.title($0, items), $1]]) }))
        return rows
            + [[tr("Photo", "顔写真"), pictures.path("photo") ?? photoHint], [tr("Opened by", "開いた方式"), accessText]].filter
        { $0[1] != "" }
    }

    private var photoHint: String {
        guard report.photo != nil else { return "" }
        let option = Caller.current.option("photo")
        return tr("read (\(option) writes it)", "読み取り済み（\(option) で保存）")
    }

    private var accessText: String {
        guard let access = report.access else { return "" }
        switch access.way {
        case .none: return tr("nothing: the chip asks for nothing", "なし（IC が何も求めない）")
        case .pace:
            let password = access.password == .can ? tr("access number", "アクセス番号") : tr("number and dates", "番号と日付")
            let parts = [access.variant, access.parameters].compactMap(\.self) + [password]
            return "PACE (\(parts.joined(separator: ", ")))"
        default: return "BAC"
        }
    }

    /// Whether the chip is a copy, as a section of its own.
    private var chipText: String {
        var rows = [[tr("Result", "結果"), chip.words]]
        if let method = chip.method {
            let name =
                switch method {
                case .chipAuthentication: tr("chip authentication", "チップ認証")
                case .activeAuthentication: tr("active authentication", "能動認証")
                case .paceMapping: tr("PACE with chip-authentication mapping", "PACE（チップ認証マッピング）")
                }
            rows.append([tr("By", "方式"), [name, chip.variant].compactMap(\.self).joined(separator: ", ")])
            if report.isFromFiles, chip.state == .genuine {
                let whom =
                    method == .activeAuthentication
                    ? tr("anyone: the chip signed a challenge", "誰に対しても（IC の署名がある）")
                    : tr(
                        "only whoever kept evidence.json: its keys could make it", "evidence.json を保管した本人だけ（中の鍵で作れるため）")
                rows.append([tr("Convinces", "証明の相手"), whom])
            }
        }
        return "\n" + tr("Chip", "IC チップ") + "\n"
            + Columns.values(rows, indent: "  ") { $1 == chip.words ? chip.state.color : nil }
    }

    /// The signature without its authority's name, which names the country, where that is masked.
    private var masked: CardSignature {
        var masked = signature
        masked.authority = signature.authority.map(redaction.apply)
        return masked
    }

    private var signatureText: String {
        masked.text(
            PassportReport.signedItems, notShown: tr("whether the passport was reported lost", "紛失届が出ているかどうか"))
    }

    private func sex(_ code: String) -> String {
        guard !redaction.isOn else { return redaction.apply(code) }
        return PassportReport.sexName(code)?[Language.current] ?? code
    }
}

extension ChipCheck.State {
    /// Green for what was proved, red for what was refuted, yellow for what is not known.
    fileprivate var color: Color? {
        switch self {
        case .genuine: .green
        case .copied, .hidden: .red
        case .notOffered: nil
        default: .yellow
        }
    }
}

extension PassportReport: DecodableDocument {
    func view(of dump: CardDump, _ redaction: Redaction, _ pictures: [WrittenPicture]) -> any IdentityView {
        var report = self
        report.isFromFiles = true
        let authorities = try? CertificateAuthorities(files: [])
        let signature = authorities.flatMap { try? report.signature(of: dump, authorities: $0) } ?? .withoutLibrary
        let chip = authorities.flatMap { try? report.chip(of: dump, signature: signature, authorities: $0) }
        return PassportView(
            report: report, signature: signature, chip: chip ?? ChipCheck(.notChecked, why: .offline),
            redaction: redaction, pictures: pictures)
    }
}
