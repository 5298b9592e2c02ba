// SPDX-License-Identifier: Apache-2.0

import ByteCodec
import Glibc
import Kazasu
import KazasuCLI

/// A scan for display and as `kazasu.scan/1`.
struct ScanView {
    var card: CardIdentity
    var phone: PhoneModel?
    var systems: [SystemScan]
    /// The versions of AES keys, of systems that have them.
    var aesKeyVersions: [SystemHandle: [NodeCode: KeyVersion]] = [:]
    /// Which commands the card answers; `nil` if that was not asked.
    var commands: [ProbedCommand]?
    var redaction: Redaction

    var json: JSONValue {
        var card = card.json
        CardNames.addChip(self.card, to: &card)
        CardNames.addPhone(phone, of: self.card, to: &card, redaction)
        var document = JSONObject([("schema", "kazasu.scan/1"), ("card", card)])
        document["systems"] =
            .array(
                systems.map { scan in
                    var system = JSONObject([
                        ("systemCode", .string(scan.system.code.description)),
                        ("name", .text(CardNames.name(system: scan.system.code))),
                        ("idm", .string(redaction.apply(scan.system.idm).description)),
                        ("keyVersion", .text(scan.keyVersion?.description)),
                        ("listing", .string(scan.isProved ? "proved" : scan.listing.rawValue)),
                    ])
                    let aes = aesKeyVersions[scan.system]
                    if let aes { system["aesKeyVersion"] = .text(aes[.system]?.description) }
                    if let searched = scan.searchedNodes { system["searchedNodes"] = .int(searched) }
                    system["nodes"] = .array(
                        scan.nodes.map { node in
                            var object = ScanView.json(node, in: scan.system.code)
                            if let aes { object["aesKeyVersion"] = .text(aes[node.code]?.description) }
                            return .object(object)
                        })
                    return .object(system)
                })
        if let commands {
            document["commands"] = .array(
                commands.map { command in
                    [
                        "code": .string(command.code.description), "name": .text(command.code.name),
                        "answered": .bool(command.isAnswered),
                    ]
                })
        }
        return .object(document)
    }

    private static func json(_ node: ScannedNode, in system: SystemCode) -> JSONObject {
        switch node.kind {
        case .area(let code, let end):
            JSONObject([
                ("kind", "area"), ("code", .string(code.description)), ("end", .string(end.description)),
                ("keyVersion", .text(node.keyVersion?.description)), ("depth", .int(node.depth)),
            ])
        case .service(let code):
            JSONObject([
                ("kind", "service"), ("code", .string(code.description)), ("type", .text(code.kind?.rawValue)),
                ("access", .text(code.access?.rawValue)), ("authentication", .bool(code.requiresAuthentication)),
                ("keyVersion", .text(node.keyVersion?.description)),
                ("name", .text(CardNames.name(service: code, in: system))), ("depth", .int(node.depth)),
            ])
        }
    }

    var text: String {
        var rows = card.pmm.map { [["IC", CardNames.describe(ic: $0)]] } ?? []
        rows += CardNames.rows(phone: phone, redaction)
        if let day = card.manufactureDay(readOn: .today) { rows.append(CardNames.row(manufactured: day)) }
        var text = Columns.text(rows)
        for scan in systems {
            var head = [
                [tr("System", "システム"), CardNames.describe(system: scan.system.code)],
                ["IDm", redaction.apply(scan.system.idm).description.uppercased()],
            ]
            let aes = aesKeyVersions[scan.system]
            if scan.keyVersion != nil || aes?[.system] != nil {
                head.append([tr("Key version", "鍵バージョン"), ScanView.versions(scan.keyVersion, aes?[.system])])
            }
            text += "\n" + Columns.text(head)
            if !scan.listing.isComplete {
                text += tr(
                    "  (the card cannot list its services; only known ones were checked)\n",
                    "  （カードが一覧に対応していないため、既知のサービスだけを確認しました）\n")
            }
            text += Columns.text(
                scan.nodes.map { ScanView.row($0, aes?[$0.code], in: scan.system.code) }, color: ScanView.color)
        }
        if let commands, !commands.isEmpty {
            text += "\n" + tr("Commands", "コマンド") + "\n"
            text += Columns.text(
                commands.map { command in
                    [
                        "  " + command.code.description,
                        command.isAnswered ? tr("answered", "応答あり") : tr("no answer", "応答なし"), command.code.title,
                    ]
                })
        }
        return text
    }

    /// Says on standard error, with `--verbose`, how each system's nodes were found and in how many exchanges.
    static func explain(_ systems: [SystemScan], _ context: Context) {
        for scan in systems {
            let (code, count) = (scan.system.code, scan.exchanges)
            context.detail(
                tr(
                    "system \(code): \(way(scan)), \(Words.count(count, "exchange"))",
                    "システム \(code): \(way(scan))、通信 \(count) 回"))
        }
        guard systems.contains(where: \.isProved) else { return }
        context.detail(
            tr(
                "a proved list is complete if the card lists each node once, and has key versions only for nodes in its list; "
                    + "--walk asks for every node",
                "証明した一覧は、カードが各ノードを 1 回だけ一覧に載せ、一覧にないノードの鍵バージョンを返さない限り、完全です。"
                    + "--walk では 1 件ずつ問い合わせます"))
    }

    private static func way(_ scan: SystemScan) -> String {
        switch scan.listing {
        case .searchServiceCode where scan.isProved:
            if let searched = scan.searchedNodes {
                tr(
                    "proved (\(searched) of \(scan.nodes.count) nodes listed by the card, the others confirmed)",
                    "証明（\(scan.nodes.count) 件中 \(searched) 件はカードの一覧、残りは確認のみ）")
            } else {
                tr("proved", "証明")
            }
        case .searchServiceCode, .requestCodeList: tr("listed by the card", "カードの一覧")
        case .requestService, .readProbe: tr("known services checked", "既知のサービスを確認")
        case .fixedLayout: tr("fixed layout", "固定の構成")
        }
    }

    /// Green for services that anybody can read, yellow for those with a key.
    private static func color(_ column: Int, _ cell: String) -> Color? {
        guard column == 3, Color.isOnOutput else { return nil }
        return cell == open ? .green : cell == key ? .yellow : nil
    }

    private static var open: String { tr("open", "公開") }
    private static var key: String { tr("key", "鍵") }

    /// The version of a key, with that of AES where the card tells it apart.
    private static func versions(_ version: KeyVersion?, _ aes: KeyVersion?) -> String {
        let text = version?.description ?? "-"
        return aes.map { "\(text) AES \($0)" } ?? text
    }

    private static func row(_ node: ScannedNode, _ aes: KeyVersion?, in system: SystemCode) -> [String] {
        let indent = String(repeating: "  ", count: min(node.depth, 16) + 1)
        let version = versions(node.keyVersion, aes)
        switch node.kind {
        case .area(let code, let end):
            return [indent + tr("area ", "エリア ") + "\(code)-\(end)", "", "", "", version, ""]
        case .service(let code):
            return [
                indent + code.description, code.kind.map(Words.kind) ?? "?", code.access.map(Words.access) ?? "?",
                code.requiresAuthentication || code.requiresPIN ? key : open, version,
                CardNames.name(service: code, in: system) ?? "",
            ]
        }
    }
}

/// The registries' names for codes, in the language of this run; unknown codes stay raw.
enum CardNames {
    static func name(system: SystemCode) -> String? {
        KnownSystem.of(system)?.name[Language.current]
    }

    static func name(service: ServiceCode, in system: SystemCode) -> String? {
        KnownService.of(service, in: system)?.name?[Language.current]
    }

    /// The code, and the name if there is one.
    static func describe(system: SystemCode) -> String {
        name(system: system).map { "\(system)  \($0)" } ?? system.description
    }

    /// The IC type, and the product if it is known.
    static func describe(ic pmm: PMm) -> String {
        let code = Hex.encode(pmm.icType, digits: 2)
        return product(pmm).map { "\(code)  \($0)" } ?? code
    }

    /// Adds `ic` and `product`, and `manufactured` where the IDm gives it, to the `card` of a document.
    ///
    /// - Parameter identity: the card as it is shown: masked under `--redact`.
    static func addChip(_ identity: CardIdentity, to card: inout JSONValue) {
        guard case .object(var object) = card else { return }
        if let pmm = identity.pmm {
            object["ic"] = .string(Hex.encode(pmm.icType, digits: 2))
            object["product"] = .text(product(pmm))
        }
        if let day = identity.manufactureDay(readOn: .today) {
            object["manufactured"] = JSONValue { day.writeManufactured(to: &$0) }
        }
        card = .object(object)
    }

    /// Adds `model` of a phone to the `card` of a document, and `modelCode` if its name is unknown; nothing for a card.
    static func addPhone(
        _ phone: PhoneModel?, of identity: CardIdentity, to card: inout JSONValue, _ redaction: Redaction
    ) {
        guard case .object(var object) = card, let pmm = identity.pmm, PhoneModel.isPhone(pmm) else { return }
        object["model"] = .text(phone?.name.map(redaction.apply))
        if phone?.name == nil, let code = phone?.code {
            object["modelCode"] = .string(redaction.apply(code))
        }
        card = .object(object)
    }

    /// The row with the model of a phone, if it is known.
    static func rows(phone: PhoneModel?, _ redaction: Redaction) -> [[String]] {
        let title = tr("Phone", "機種")
        if let name = phone?.name { return [[title, redaction.apply(name)]] }
        guard let code = phone?.code.map(redaction.apply) else { return [] }
        return [[title, tr("\(code) (model code)", "\(code)（機種コード）")]]
    }

    /// The row with the day on which the chip was made.
    static func row(manufactured day: CalendarDate) -> [String] {
        [tr("Chip made", "製造日"), tr("\(day) (from the IDm)", "\(day)（IDmから算出）")]
    }

    private static func product(_ pmm: PMm) -> String? {
        guard let product = ICProduct.of(pmm) else { return nil }
        return product.use.map { "\(product.name) (\($0))" } ?? product.name
    }
}

extension CalendarDate {
    /// Today in UTC.
    static var today: CalendarDate {
        CalendarDate(daysSince2000: UInt16(clamping: time(nil) / 86_400 - 10_957))
    }
}
