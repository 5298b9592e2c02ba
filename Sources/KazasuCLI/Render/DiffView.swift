// SPDX-License-Identifier: Apache-2.0

import ByteCodec
import CardDecoders
import CardModel

/// The difference of two dumps for people and as `kazasu.diff/1`.
struct DiffView {
    var diff: DumpDiff
    var old: Meanings
    var new: Meanings

    var text: String {
        if diff.isEmpty { return tr("no difference\n", "違いはありません\n") }
        var text = ""
        for turn in diff.rings {
            text += "\(turn.system) \(turn.service)  " + tr("\(turn.added.count) new", "追加 \(turn.added.count)") + "\n"
            for block in turn.added { text += line("+", block, new) }
            for block in turn.dropped { text += line("-", block, old) }
        }
        for change in diff.blocks {
            let bytes = change.changedBytes.map { String($0) }.joined(separator: " ")
            text += "\(change.system) \(change.service) \(FourDigits.text(change.number))"
            text += (bytes.isEmpty ? "" : tr("  bytes ", "  バイト ") + bytes) + "\n"
            if let block = change.old { text += line("-", block, old) }
            if let block = change.new { text += line("+", block, new) }
        }
        for change in diff.services {
            text += "\(change.system) \(change.service)  \(DiffView.words(change))\n"
        }
        for (before, after) in changedBalances {
            text += "\(after.name[Language.current])  " + tr("balance ", "残高 ")
            text += "\(DiffView.amount(before)) → \(DiffView.amount(after))\n"
        }
        return text
    }

    var json: JSONValue {
        [
            "schema": "kazasu.diff/1",
            "blocks": .array(diff.blocks.map(json)),
            "rings": .array(
                diff.rings.map { turn in
                    [
                        "systemCode": .string(turn.system.description), "service": .string(turn.service.description),
                        "added": .array(turn.added.map { side($0, new) }),
                        "dropped": .array(turn.dropped.map { side($0, old) }),
                    ]
                }),
            "services": .array(
                diff.services.map { change in
                    [
                        "systemCode": .string(change.system.description),
                        "service": .string(change.service.description), "oldState": .text(change.oldState?.word),
                        "newState": .text(change.newState?.word),
                        "oldKeyVersion": .text(change.oldKeyVersion?.description),
                        "newKeyVersion": .text(change.newKeyVersion?.description),
                    ]
                }),
            "balances": .array(
                changedBalances.map { before, after in
                    ["card": .string(after.card), "old": .optional(before.amount), "new": .optional(after.amount)]
                }),
        ]
    }

    private var changedBalances: [(BalanceEntry, BalanceEntry)] {
        new.balances.compactMap { after in
            old.balances.first { $0.card == after.card && $0 != after }.map { ($0, after) }
        }
    }

    private func line(_ sign: String, _ block: Block, _ meanings: Meanings) -> String {
        let meaning = meanings.line(block)
        return "  \(sign) \(block)" + (meaning.isEmpty ? "" : "  \(meaning)") + "\n"
    }

    private func json(_ change: BlockChange) -> JSONValue {
        [
            "systemCode": .string(change.system.description), "service": .string(change.service.description),
            "block": .string(FourDigits.text(change.number)), "bytes": .array(change.changedBytes.map { .int($0) }),
            "old": side(change.old, old), "new": side(change.new, new),
        ]
    }

    private func side(_ block: Block?, _ meanings: Meanings) -> JSONValue {
        guard let block else { return nil }
        return [
            "data": .string(block.hexadecimal),
            "record": meanings.record(block)?.json(Language.current) ?? .null,
        ]
    }

    private static func words(_ change: ServiceChange) -> String {
        var words: [String] = []
        if change.oldState != change.newState {
            words.append("\(change.oldState?.word ?? "-") → \(change.newState?.word ?? "-")")
        }
        if change.oldKeyVersion != change.newKeyVersion {
            let versions = [change.oldKeyVersion, change.newKeyVersion].map { $0?.description ?? "-" }
            words.append(tr("key version ", "鍵バージョン ") + versions.joined(separator: " → "))
        }
        return words.joined(separator: ", ")
    }

    private static func amount(_ entry: BalanceEntry) -> String {
        entry.amount.map { "\($0) \(entry.currency.rawValue)" } ?? "-"
    }
}
