// SPDX-License-Identifier: Apache-2.0

import Kazasu
import KazasuCLI

/// The keys of a FeliCa Standard for display and as members of `kazasu.standardInfo/1`.
struct StandardView {
    let systems: [StandardSystem]
    /// Whether the owner's keys were tried.
    let hasKeys: Bool
    let redaction: Redaction

    var json: [JSONValue] {
        systems.map { system in
            [
                "systemCode": .string(system.system.code.description),
                "name": .text(CardNames.name(system: system.system.code)),
                "idm": .string(redaction.apply(system.system.idm).description),
                "schemes": .array(system.schemes.map { .string($0.rawValue) }),
                "nodes": .array(system.nodes.map(json)),
            ]
        }
    }

    private func json(_ node: StandardNode) -> JSONValue {
        var object = JSONObject([
            ("code", .string(node.code.description)), ("kind", .string(node.kind.rawValue)),
            ("desVersion", .text(node.desVersion?.description)), ("aesVersion", .text(node.aesVersion?.description)),
        ])
        if hasKeys { object["key"] = .text(node.key?.rawValue) }
        return .object(object)
    }

    var text: String {
        systems.map { system in
            Columns.values([
                [tr("System", "システム"), CardNames.describe(system: system.system.code)],
                ["IDm", redaction.apply(system.system.idm).description.uppercased()],
                [tr("Ciphers", "暗号方式"), ciphers(of: system)],
            ]) + table(of: system)
        }.joined(separator: "\n")
    }

    private func ciphers(of system: StandardSystem) -> String {
        let names = system.schemes.map { scheme in
            switch scheme {
            case .des: system.isDES112 ? tr("DES of 112 bits (not supported)", "112 ビット DES（非対応）") : "DES"
            case .aes: "AES-128"
            }
        }
        return names.isEmpty ? tr("unknown", "不明") : names.joined(separator: ", ")
    }

    private func table(of system: StandardSystem) -> String {
        let head =
            [tr("  Node", "  ノード"), tr("Kind", "種類")]
            + system.schemes.map { $0.rawValue.uppercased() } + (hasKeys ? [tr("Your key", "手持ちの鍵")] : [])
        let rows = system.nodes.map { node in
            ["  \(node.code)", name(of: node.kind)]
                + system.schemes.map { scheme in
                    (scheme == .aes ? node.aesVersion : node.desVersion)?.description ?? "-"
                } + (hasKeys ? [node.key?.rawValue ?? "-"] : [])
        }
        return Columns.text([head] + rows)
    }

    private func name(of kind: StandardNode.Kind) -> String {
        switch kind {
        case .system: tr("system", "システム")
        case .area: tr("area", "エリア")
        case .service: tr("service", "サービス")
        }
    }
}
