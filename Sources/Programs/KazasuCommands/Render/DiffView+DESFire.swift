// SPDX-License-Identifier: Apache-2.0

import ByteCodec
import Kazasu
import KazasuCLI

/// Applications and files of a MIFARE DESFire; contents are masked under `--redact`.
extension DiffView {
    var desfireText: String { diff.desfire.map(text).joined() }

    private func text(_ change: DESFireChange) -> String {
        let application = Self.digits(change.application)
        let name =
            change.file.map { "\(application):\($0)" }
            ?? (change.application == 0 ? tr("card", "カード") : tr("application ", "アプリケーション ") + application)
        var text = ""
        if change.oldState != change.newState {
            text += "\(name)  \(Self.word(change.oldState)) → \(Self.word(change.newState))\n"
        }
        if change.hasOtherSettings {
            text += "\(name)  " + tr("settings differ", "設定の変更") + "\n"
            if let number = change.file {
                for (sign, dump) in [("-", dumps.old), ("+", dumps.new)] {
                    let file = dump.desfire?.applications.first { $0.id == change.application }?.files
                        .first { $0.number == number }
                    if let file = file.flatMap({ DESFireFile($0) }) { text += "  \(sign) \(DESFireView.text(file))\n" }
                }
            }
        }
        for row in change.rows {
            text += "\(name) \(Hex.encode(UInt32(truncatingIfNeeded: row.offset), digits: 4))"
            text += DiffView.words(row.changedBytes) + "\n" + sides(row.old, row.new)
        }
        if let value = change.value {
            text += "\(name)  " + tr("value ", "値 ")
            text += [value.old, value.new].map { $0.map { redaction.apply("\($0)") } ?? "-" }.joined(separator: " → ")
            text += "\n"
        }
        for record in change.records {
            text += "\(name)  " + tr("record ", "レコード ") + "\(record.number)"
            text += DiffView.words(DESFireChange.changedBytes(record)) + "\n" + sides(record.old, record.new)
        }
        return text
    }

    private func sides(_ old: [UInt8]?, _ new: [UInt8]?) -> String {
        [("-", old), ("+", new)].map { sign, bytes in
            bytes.map { "  \(sign) \(redaction.apply($0.hexadecimal.uppercased()))\n" } ?? ""
        }.joined()
    }

    private static func digits(_ application: UInt32) -> String { Hex.encode(application, digits: 6) }

    private static func word(_ state: DESFireChange.State?) -> String {
        switch state {
        case .read: tr("read", "読み取り済み")
        case .withheld: tr("withheld", "非公開")
        case nil: "-"
        }
    }

    /// An element of `desfire`.
    func json(_ change: DESFireChange) -> JSONValue {
        func side(_ bytes: [UInt8]?) -> JSONValue { .text(bytes.map { redaction.apply($0.hexadecimal) }) }
        func side(_ value: Int32?) -> JSONValue {
            guard let value else { return nil }
            return redaction.isOn ? .string(redaction.apply("0")) : .int(Int(value))
        }
        return [
            "aid": .string(Self.digits(change.application)), "file": .optional(change.file.map { Int($0) }),
            "oldState": .text(change.oldState?.rawValue), "newState": .text(change.newState?.rawValue),
            "settings": .bool(change.hasOtherSettings),
            "rows": .array(
                change.rows.map { row in
                    [
                        "offset": .int(row.offset), "bytes": .array(row.changedBytes.map { .int($0) }),
                        "old": side(row.old), "new": side(row.new),
                    ]
                }),
            "value": change.value.map { ["old": side($0.old), "new": side($0.new)] } ?? .null,
            "records": .array(
                change.records.map { record in
                    [
                        "record": .int(record.number),
                        "bytes": .array(DESFireChange.changedBytes(record).map { .int($0) }),
                        "old": side(record.old), "new": side(record.new),
                    ]
                }),
        ]
    }
}
