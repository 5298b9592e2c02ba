// SPDX-License-Identifier: Apache-2.0

import ByteCodec
import Kazasu
import KazasuCLI

/// The difference of two dumps for display; ``json`` is `kazasu.diff/1`.
struct DiffView {
    var diff: DumpDiff
    var old: Meanings
    var new: Meanings
    var redaction: Redaction
    /// The two dumps, which name their cards and files.
    var dumps: (old: CardDump, new: CardDump)

    var text: String {
        if diff.isEmpty { return tr("no difference\n", "違いはありません\n") }
        return blockText + memoryText + desfireText + meaningText
    }

    // MARK: FeliCa

    private var blockText: String {
        var text = ""
        for turn in diff.rings {
            text += "\(turn.system) \(turn.service)  " + tr("\(turn.added.count) new", "追加 \(turn.added.count)") + "\n"
            for block in turn.added { text += line("+", block, new) }
            for block in turn.dropped { text += line("-", block, old) }
        }
        for change in diff.blocks {
            text += "\(change.system) \(change.service) \(FourDigits.text(change.number))"
            text += DiffView.words(change.changedBytes) + "\n"
            if let block = change.old { text += line("-", block, old) }
            if let block = change.new { text += line("+", block, new) }
        }
        for change in diff.services {
            let state = DiffView.words(change.oldState, change.newState)
            let versions = [change.oldKeyVersion, change.newKeyVersion].compactMap { $0?.description }
            let key =
                versions.count < 2 || versions[0] == versions[1]
                ? nil : tr("key version ", "鍵バージョン ") + versions.joined(separator: " → ")
            text += "\(change.system) \(change.service)  "
            text += [state, key].compactMap { $0 }.joined(separator: ", ") + "\n"
        }
        return text
    }

    private func line(_ sign: String, _ block: Block, _ meanings: Meanings) -> String {
        let (meaning, start) = (meanings.line(block), "  \(sign) \(block)")
        guard !meaning.isEmpty else { return start + "\n" }
        let isTooWide = Output.lineWidth.map { start.terminalWidth + 2 + meaning.terminalWidth > $0 } ?? false
        return isTooWide
            ? start + "\n" + Columns.sentence(meaning, indent: "      ") : start + "  " + meaning + "\n"
    }

    // MARK: Tags and file-based cards

    private var memoryText: String {
        var text = ""
        for change in diff.pages {
            text += tr("page ", "ページ ") + Type2Dump.name(of: change.number)
            text += DiffView.words(change.changedBytes) + "\n" + DiffView.sides(change.old, change.new)
        }
        for change in diff.counters {
            let (old, new) = (change.old.map { String($0) } ?? "-", change.new.map { String($0) } ?? "-")
            text += tr("counter ", "カウンター ") + "\(change.number)  \(old) → \(new)\n"
        }
        for change in diff.classicBlocks {
            let shown = change.withoutKeys
            text += tr("block ", "ブロック ") + "\(change.number)" + DiffView.words(change.changedBytes) + "\n"
            for (sign, bytes) in [("-", shown.old), ("+", shown.new)] where bytes != nil {
                text += "  \(sign) \(ClassicDump.digits(of: bytes, unknown: "-"))\n"
            }
        }
        for change in diff.files {
            let name = "\(change.application?.description.uppercased() ?? "MF") \(change.file)"
            if let known = self.name(of: change) { text += "\(name)  \(known[Language.current])\n" }
            if let state = DiffView.words(change.oldState, change.newState) { text += "\(name)  \(state)\n" }
            for row in change.rows {
                text += "\(name) \(Hex.encode(UInt32(truncatingIfNeeded: row.offset), digits: 4))"
                text += DiffView.words(row.changedBytes) + "\n" + DiffView.sides(row.old, row.new)
            }
        }
        return text
    }

    /// The name of a file of a card that has a command of its own.
    private func name(of change: FileChange) -> LocalizedText? {
        dumps.new.name(of: change.file, in: change.application)
            ?? dumps.old.name(of: change.file, in: change.application)
    }

    static func sides(_ old: [UInt8]?, _ new: [UInt8]?) -> String {
        [("-", old), ("+", new)].map { sign, bytes in
            bytes.map { "  \(sign) \(Hex.encode($0, uppercase: true))\n" } ?? ""
        }.joined()
    }

    static func words(_ changedBytes: [Int]) -> String {
        changedBytes.isEmpty ? "" : tr("  bytes ", "  バイト ") + Words.ranges(changedBytes) { "\($0)" }
    }

    private static func words(_ old: ReadState?, _ new: ReadState?) -> String? {
        old == new ? nil : "\(old?.word ?? "-") → \(new?.word ?? "-")"
    }

    // MARK: Meaning

    private var meaningText: String {
        changedBalances.map { before, after in
            Columns.sentence(
                "\(after.name[Language.current])  " + tr("balance ", "残高 ") + "\(before.line) → \(after.line)",
                indent: "")
        }.joined()
            + changedFields.map { before, after in
                let name = after.field.name[Language.current]
                let (old, new) = (before.map { redaction.words(of: $0.field) } ?? "-", redaction.words(of: after.field))
                return Columns.sentence("\(after.cardName[Language.current])  \(name) \(old) → \(new)", indent: "")
            }.joined()
    }

    /// The balances that both dumps have and that differ.
    var changedBalances: [(BalanceEntry, BalanceEntry)] {
        new.balances.compactMap { after in
            old.balances.first { $0.kind == after.kind && $0 != after }.map { ($0, after) }
        }
    }

    /// The fields of cards that are in both dumps and that differ or are new.
    var changedFields: [(Meanings.Field?, Meanings.Field)] {
        new.fields.compactMap { after in
            guard
                old.balances.contains(where: { $0.kind == after.kind })
                    || old.fields.contains(where: { $0.kind == after.kind })
            else { return nil }
            let before = old.fields.first { $0.kind == after.kind && $0.field.key == after.field.key }
            return before?.field.value == after.field.value ? nil : (before, after)
        }
    }
}

extension DiffView {
    /// The document `kazasu.diff/1`.
    var json: JSONValue {
        [
            "schema": "kazasu.diff/1", "oldCard": redaction.apply(dumps.old.card).json,
            "newCard": redaction.apply(dumps.new.card).json,
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
            "pages": .array(
                diff.pages.map { change in
                    [
                        "page": .string(Type2Dump.name(of: change.number)),
                        "bytes": .array(change.changedBytes.map { .int($0) }),
                        "old": .text(change.old?.hexadecimal), "new": .text(change.new?.hexadecimal),
                    ]
                }),
            "counters": .array(
                diff.counters.map { change in
                    [
                        "counter": .int(Int(change.number)), "old": .optional(change.old.map { Int($0) }),
                        "new": .optional(change.new.map { Int($0) }),
                    ]
                }),
            "classicBlocks": .array(
                diff.classicBlocks.map { change in
                    let shown = change.withoutKeys
                    return [
                        "block": .int(change.number), "bytes": .array(change.changedBytes.map { .int($0) }),
                        "old": ClassicDump.json(shown.old), "new": ClassicDump.json(shown.new),
                    ]
                }),
            "files": .array(diff.files.map(json)), "desfire": .array(diff.desfire.map(json)),
            "balances": .array(
                changedBalances.map { before, after in
                    [
                        "kind": .string(after.kind.rawValue), "old": .optional(before.amount),
                        "new": .optional(after.amount),
                        "currency": .string(after.currency.rawValue), "exponent": .int(after.currency.minorDigits),
                    ]
                }),
            "fields": .array(
                changedFields.map { before, after in
                    [
                        "kind": .string(after.kind.rawValue), "key": .string(after.field.key),
                        "old": .text(before.map { redaction.value(of: $0.field) }),
                        "new": .string(redaction.value(of: after.field)),
                    ]
                }),
        ]
    }

    private func json(_ change: BlockChange) -> JSONValue {
        [
            "systemCode": .string(change.system.description), "service": .string(change.service.description),
            "block": .string(FourDigits.text(change.number)), "bytes": .array(change.changedBytes.map { .int($0) }),
            "old": side(change.old, old), "new": side(change.new, new),
        ]
    }

    private func json(_ change: FileChange) -> JSONValue {
        [
            "aid": .text(change.application?.description), "file": .string(change.file.description),
            "name": .text(name(of: change)?[Language.current]), "oldState": .text(change.oldState?.word),
            "newState": .text(change.newState?.word),
            "rows": .array(
                change.rows.map { row in
                    [
                        "offset": .int(row.offset), "bytes": .array(row.changedBytes.map { .int($0) }),
                        "old": .text(row.old?.hexadecimal), "new": .text(row.new?.hexadecimal),
                    ]
                }),
        ]
    }

    private func side(_ block: Block?, _ meanings: Meanings) -> JSONValue {
        guard let block else { return nil }
        let line = meanings.line(block)
        let held = meanings.record(block)
        return [
            "data": .string(block.hexadecimal), "record": held?.record.json(Language.current) ?? .null,
            "currency": .text(held?.currency.rawValue), "exponent": .optional(held?.currency.minorDigits),
            "meaning": line.isEmpty ? .null : .string(line),
        ]
    }
}
