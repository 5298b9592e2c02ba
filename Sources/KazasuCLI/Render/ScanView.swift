// SPDX-License-Identifier: Apache-2.0

import CardModel
import CardReading

/// A scan for people and as `kazasu.scan/1`.
struct ScanView {
    var card: CardIdentity
    var systems: [SystemScan]
    var redaction: Redaction

    var json: JSONValue {
        var card = card.json
        if let pmm = self.card.pmm { CardNames.addIC(pmm, to: &card) }
        return [
            "schema": "kazasu.scan/1", "card": card,
            "systems": .array(
                systems.map { scan in
                    [
                        "systemCode": .string(scan.system.code.description),
                        "name": .text(CardNames.name(system: scan.system.code)),
                        "idm": .string(redaction.apply(scan.system.idm).description),
                        "keyVersion": .text(scan.keyVersion?.description),
                        "listing": .string(scan.listing.rawValue),
                        "nodes": .array(scan.nodes.map { ScanView.json($0, in: scan.system.code) }),
                    ]
                }),
        ]
    }

    private static func json(_ node: ScannedNode, in system: SystemCode) -> JSONValue {
        switch node.kind {
        case .area(let code, let end):
            [
                "kind": "area", "code": .string(code.description), "end": .string(end.description),
                "keyVersion": .text(node.keyVersion?.description), "depth": .int(node.depth),
            ]
        case .service(let code):
            [
                "kind": "service", "code": .string(code.description), "type": .text(code.kind?.rawValue),
                "access": .text(code.access?.rawValue), "authentication": .bool(code.requiresAuthentication),
                "keyVersion": .text(node.keyVersion?.description),
                "name": .text(CardNames.name(service: code, in: system)), "depth": .int(node.depth),
            ]
        }
    }

    var text: String {
        var text = card.pmm.map { Columns.text([["IC", CardNames.describe(ic: $0)]]) } ?? ""
        for scan in systems {
            var head = [
                [tr("System", "システム"), CardNames.describe(system: scan.system.code)],
                ["IDm", redaction.apply(scan.system.idm).description.uppercased()],
            ]
            if let version = scan.keyVersion { head.append([tr("Key version", "鍵バージョン"), version.description]) }
            text += "\n" + Columns.text(head)
            if !scan.listing.isComplete {
                text += tr(
                    "  (the card does not list its services: these are the known ones that it has)\n",
                    "  （カードが一覧に対応していないため、既知のサービスだけを確認しました）\n")
            }
            text += Columns.text(scan.nodes.map { ScanView.row($0, in: scan.system.code) })
        }
        return text
    }

    private static func row(_ node: ScannedNode, in system: SystemCode) -> [String] {
        let indent = String(repeating: "  ", count: min(node.depth, 16) + 1)
        let version = node.keyVersion?.description ?? "-"
        switch node.kind {
        case .area(let code, let end):
            return [indent + tr("area ", "エリア ") + "\(code)-\(end)", "", "", "", version, ""]
        case .service(let code):
            return [
                indent + code.description, code.kind.map(Words.kind) ?? "?", code.access.map(Words.access) ?? "?",
                code.requiresAuthentication || code.requiresPIN ? tr("key", "鍵") : tr("open", "公開"), version,
                CardNames.name(service: code, in: system) ?? "",
            ]
        }
    }
}
