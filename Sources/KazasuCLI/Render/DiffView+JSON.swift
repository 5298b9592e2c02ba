// SPDX-License-Identifier: Apache-2.0

import CardDecoders
import CardModel

extension DiffView {
    /// The document `kazasu.diff/1`.
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
            "files": .array(diff.files.map(json)),
            "balances": .array(
                changedBalances.map { before, after in
                    ["card": .string(after.card), "old": .optional(before.amount), "new": .optional(after.amount)]
                }),
            "fields": .array(
                changedFields.map { before, after in
                    [
                        "card": .string(after.card), "key": .string(after.field.key),
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
            "oldState": .text(change.oldState?.word), "newState": .text(change.newState?.word),
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
        return [
            "data": .string(block.hexadecimal),
            "record": meanings.record(block)?.json(Language.current) ?? .null,
            "meaning": line.isEmpty ? .null : .string(line),
        ]
    }
}
