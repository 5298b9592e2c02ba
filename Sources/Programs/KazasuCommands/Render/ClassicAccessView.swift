// SPDX-License-Identifier: Apache-2.0

import Kazasu
import KazasuCLI
import MIFAREClassic

/// The access bits of a sector, for display and for documents.
struct ClassicAccessView {
    let access: ClassicAccess

    // MARK: For display

    /// The data blocks, together if they are alike, then the trailer.
    var rows: [[String]] {
        let data = (0..<3).map { words($0) }
        let isAlike = data.allSatisfy { $0 == data[0] }
        let rows =
            isAlike
            ? [[tr("  Data", "  データ"), data[0]]]
            : data.enumerated().map { [tr("  Data block \($0 + 1)", "  データブロック \($0 + 1)"), $1] }
        return rows + [[tr("  Trailer", "  トレーラー"), trailer]]
    }

    /// What may be done with a group of data blocks, and with which key.
    private func words(_ group: Int) -> String {
        let names: [(ClassicAccess.DataRight, String)] = [
            (.read, tr("read", "読")), (.write, tr("write", "書")), (.increment, tr("add", "加算")),
            (.decrement, tr("subtract", "減算")),
        ]
        let rights = names.compactMap { right, name in
            Self.names(access.keys(for: right, group: group)).map { "\(name) \($0)" }
        }
        return rights.isEmpty ? tr("no access", "アクセス不可") : rights.joined(separator: tr(", ", "、"))
    }

    private var trailer: String {
        let nobody = tr("nobody", "不可")
        // Both keys are always written by the same one.
        let keys = Self.names(access.keys(for: .writeA)) ?? nobody
        let bits = Self.names(access.keys(for: .writeAccess)) ?? nobody
        let change =
            keys == bits
            ? tr("keys and access bits changed by \(keys)", "鍵とアクセスビットの変更 \(keys)")
            : tr("keys changed by \(keys), access bits by \(bits)", "鍵の変更 \(keys)、アクセスビットの変更 \(bits)")
        return access.isKeyBData ? change + tr("; key B readable, opens nothing", "。鍵 B は読み取れ、認証には使えない") : change
    }

    /// `A`, `B` or `A|B`; `nil` for nobody.
    private static func names(_ keys: ClassicAccess.Keys) -> String? {
        let names = ClassicKeyType.allCases.filter { keys.contains($0) }.map(\.rawValue)
        return names.isEmpty ? nil : names.joined(separator: "|")
    }

    // MARK: For documents

    /// Who may do what with the blocks of a sector.
    func json(of sector: Int) -> JSONValue {
        func keys(_ keys: ClassicAccess.Keys) -> JSONValue {
            .array(ClassicKeyType.allCases.filter { keys.contains($0) }.map { .string($0.rawValue) })
        }
        let data = (0..<3).map { group -> JSONValue in
            let blocks = ClassicKind.blocks(of: sector, group: group)
            return [
                "blocks": .array(blocks.map { .int($0) }),
                "read": keys(access.keys(for: .read, group: group)),
                "write": keys(access.keys(for: .write, group: group)),
                "increment": keys(access.keys(for: .increment, group: group)),
                "decrement": keys(access.keys(for: .decrement, group: group)),
            ]
        }
        return [
            "data": .array(data), "writeKeys": keys(access.keys(for: .writeA)),
            "writeAccess": keys(access.keys(for: .writeAccess)), "keyBReadable": .bool(access.isKeyBData),
        ]
    }
}
