// SPDX-License-Identifier: Apache-2.0

import Kazasu

/// A passport for display, and as `kazasu.passport/1`.
struct PassportView {
    var report: PassportReport
    var signature: CardSignature
    var chip: ChipCheck
    var redaction: Redaction
    /// The day as of which it was judged, if that is not the present.
    var at: CalendarDate?
    /// Where the photo was written.
    var path: String?

    /// The members of the document after `card`.
    var members: JSONObject {
        let format = PictureFile.format(of: report.photo ?? [])
        let pictures: [JSONValue] =
            path.map { [["id": "photo", "path": .string($0), "format": .string(format)]] } ?? []
        var members = report.members(
            Language.current, pictures: .array(pictures), signature: masked.json, chip: chip.json,
            redact: redaction.apply)
        if let at { members["at"] = .string(at.description) }
        return members
    }

    var text: String {
        var text = tr("Passport", "パスポート") + (report.isFromFiles ? tr(" (from files)", "（ファイルから）") : "") + "\n"
        text += Columns.values(rows.filter { $0[1] != "" }, indent: "  ")
        guard report.withheld.isEmpty else {
            return text + tr("  not opened", "  開けていません") + "\n"
        }
        text += signatureText + chipText
        if !report.warnings.isEmpty {
            text += "\n" + tr("Notes", "注意") + "\n" + report.warnings.map { Columns.sentence($0.words) }.joined()
        }
        return text
    }

    private var rows: [[String]] {
        guard let zone = report.machineReadableZone else { return [] }
        let birth = report.birthDates.map { redaction.apply($0.description) }
        return [
            [tr("Document", "種別"), zone.documentCode], [tr("Issuing state", "発行国"), personal(zone.issuer)],
            [tr("Number", "旅券番号"), personal(zone.number)], [tr("Surname", "姓"), personal(zone.surname)],
            [tr("Given names", "名"), personal(zone.givenNames)],
            [tr("Nationality", "国籍"), personal(zone.nationality)],
            [tr("Date of birth", "生年月日"), birth.joined(separator: tr(" or ", "または"))],
            [tr("Sex", "性別"), sex(zone.sex)],
            [tr("Expires", "有効期間満了日"), personal(report.expiryDate?.description ?? zone.expiryDate)],
            [tr("Optional data", "任意項目"), personal(zone.optionalData)],
            [tr("Photo", "顔写真"), path ?? photoHint], [tr("Opened by", "開いた方式"), accessText],
        ]
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
            notShown: tr("whether the passport was reported lost", "紛失届が出ているかどうか"), Self.name)
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
