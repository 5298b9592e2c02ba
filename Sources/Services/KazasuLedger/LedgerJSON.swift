// SPDX-License-Identifier: Apache-2.0

internal import ByteCodec
internal import CardDecoders
package import CardModel

/// The JSON documents of a ledger. Keys and ids never change with the language.
package enum LedgerJSON {
    /// The members of `kazasu.ledger/1`: records, newest first, each written as it comes.
    ///
    /// - Parameter forEach: calls its closure with each record.
    package static func write(
        to document: inout some (JSONSink & ~Copyable), _ language: Language, missing: LedgerMissing,
        forEach: ((LedgerRecord) -> Void) -> Void
    ) {
        document.member("schema", "kazasu.ledger/1")
        document.key("records")
        document.beginArray()
        forEach { document.value(record($0, language)) }
        document.endArray()
        document.key("missing")
        document.value(self.missing(missing))
    }

    /// `kazasu.ledgerSum/1`.
    package static func sums(
        _ sums: [LedgerSum], by grouping: LedgerGrouping, totals: [LedgerSum], missing: LedgerMissing,
        _ language: Language
    ) -> JSONValue {
        let answer = LedgerAnswers.sums(by: grouping)
        // A total has neither key nor name, unlike a group.
        let totals = totals.map { total -> JSONValue in
            guard case .object(var object) = answer.json(total, language) else { return .null }
            (object["key"], object["name"]) = (nil, nil)
            return .object(object)
        }
        return answer.json(
            sums, language,
            ["totals": .array(totals), "by": .string(grouping.rawValue), "missing": self.missing(missing)])
    }

    /// What is missing in the chosen days.
    private static func missing(_ missing: LedgerMissing) -> JSONValue {
        ["gaps": .int(missing.gaps), "atLeast": .int(missing.atLeast), "atMost": .optional(missing.atMost)]
    }

    /// `kazasu.ledgerRemoval/1`.
    package static func removal(_ removal: LedgerRemoval) -> JSONValue {
        document(
            "kazasu.ledgerRemoval/1",
            [("records", .int(removal.records)), ("cards", .array(removal.cards.map { .string($0) }))])
    }

    /// `kazasu.ledgerImports/1`.
    package static func imports(_ imports: [LedgerImport]) -> JSONValue {
        let rows: [JSONValue] = imports.map { entry in
            [
                "import": .int(entry.id),
                "at": .string(entry.time.text(.local, .seconds)),
                "source": .string(entry.source.kind.rawValue), "name": .text(entry.source.name),
                "records": .int(entry.records),
            ]
        }
        return document("kazasu.ledgerImports/1", [("imports", .array(rows))])
    }

    /// `kazasu.ledgerUndo/1`.
    package static func undone(_ change: LedgerChange) -> JSONValue {
        document(
            "kazasu.ledgerUndo/1",
            [
                ("change", .string(change.kind.rawValue)),
                ("at", .string(change.time.text(.local, .seconds))),
            ])
    }

    /// `kazasu.ledgerImport/1`.
    ///
    /// - Parameters:
    ///   - files: how many dumps there were.
    ///   - unreadable: how many files could not be read.
    ///   - isTrial: whether nothing was kept.
    package static func addition(
        _ addition: LedgerAddition, files: Int, unreadable: Int = 0, isTrial: Bool = false, _ language: Language
    ) -> JSONValue {
        document(
            "kazasu.ledgerImport/1",
            [
                ("files", .int(files)), ("unreadable", .int(unreadable)), ("read", .int(addition.read)),
                ("added", .int(addition.added)), ("completed", .int(addition.completed)),
                ("import", .optional(isTrial ? nil : addition.source)), ("dryRun", .bool(isTrial)),
                ("cards", .array(addition.cards.map { .string($0) })),
                ("newCards", .array(addition.newCards.map { .string($0) })),
                ("notices", .array(addition.notices.map(notice))),
                ("gaps", .array(addition.gaps.map { LedgerAnswers.gaps.json($0, language) })),
            ])
    }

    /// `kazasu.ledgerRedecode/1`.
    package static func redecoding(_ result: LedgerRedecoding) -> JSONValue {
        document(
            "kazasu.ledgerRedecode/1",
            [
                ("records", .int(result.records)), ("changed", .int(result.changed)),
                ("unreadable", .int(result.unreadable)),
            ])
    }

    // MARK: Parts

    static func document(_ schema: String, _ members: [(String, JSONValue)]) -> JSONValue {
        .object(JSONObject([("schema", .string(schema))] + members))
    }

    static func money(_ members: [(String, JSONValue)], _ currency: Currency) -> JSONValue {
        .object(
            JSONObject(
                members + [("currency", .string(currency.rawValue)), ("exponent", .int(currency.minorDigits))]))
    }

    /// The card of a record. One that is known by a keyed hash, or only by its records, has no IDm.
    static func card(_ purse: LedgerPurse) -> JSONValue {
        let idm = (try? Hex.decode(purse.card)).flatMap { IDm($0) }
        let card = DecodedCard(
            identity: CardIdentity(technology: .felica, idm: idm), kind: CardKind(rawValue: purse.kind),
            brand: purse.brand)
        return JSONValue { card.write(to: &$0) }
    }

    static func record(_ entry: LedgerRecord, _ language: Language) -> JSONValue {
        guard case .object(let members) = entry.record.json(language) else { return .null }
        return money(
            [
                ("id", .string(entry.uid)), ("card", card(entry.purse)), ("cardName", .text(entry.purse.cardName)),
            ] + members.members.map { ($0.key, $0.value) } + [
                ("derivedAmount", .bool(entry.hasDerivedAmount)), ("gapBefore", entry.gapBefore.map(gap) ?? .null),
            ], entry.purse.currency)
    }

    private static func gap(_ gap: LedgerGap) -> JSONValue {
        [
            "missing": .optional(gap.missing), "missingAtLeast": .int(gap.atLeast),
            "missingAtMost": .optional(gap.atMost), "amount": .optional(gap.amount),
            "coversNext": .bool(gap.coversNext), "reason": .string(gap.reason.rawValue),
        ]
    }

    private static func notice(_ notice: LedgerNotice) -> JSONValue {
        switch notice {
        case .serialsWentBack(let card): ["notice": "serialsWentBack", "card": .string(card)]
        case .sameSerial(let card, let count): ["notice": "sameSerial", "card": .string(card), "count": .int(count)]
        case .otherBytes(let card, let count): ["notice": "otherBytes", "card": .string(card), "count": .int(count)]
        case .futureDates(let card, let count): ["notice": "futureDates", "card": .string(card), "count": .int(count)]
        case .sameHistory(let card, let other):
            ["notice": "sameHistory", "card": .string(card), "as": .string(other)]
        }
    }
}
