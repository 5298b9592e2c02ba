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
        to document: inout some (JSONSink & ~Copyable), _ language: Language, forEach: ((LedgerRecord) -> Void) -> Void
    ) {
        document.member("schema", "kazasu.ledger/1")
        document.key("records")
        document.beginArray()
        forEach { document.value(record($0, language)) }
        document.endArray()
    }

    /// `kazasu.ledgerSum/1`.
    package static func sums(
        _ sums: [LedgerSum], by grouping: LedgerGrouping, missing: LedgerMissing, _ language: Language
    ) -> JSONValue {
        let values = sums.map { sum in
            money(
                [
                    "key": .string(sum.key), "name": .string(sum.label[language]), "records": .int(sum.records),
                    "unknown": .int(sum.unknown), "spent": .int(sum.spent), "received": .int(sum.received),
                    "amount": .int(sum.amount), "gaps": .optional(sum.gaps),
                ], sum.currency)
        }
        return document(
            "kazasu.ledgerSum/1",
            [
                "by": .string(grouping.rawValue), "sums": .array(values),
                "missing": [
                    "gaps": .int(missing.gaps), "atLeast": .int(missing.atLeast), "atMost": .optional(missing.atMost),
                ],
            ])
    }

    /// `kazasu.ledgerGaps/1`.
    package static func gaps(_ gaps: [LedgerGapReport], _ language: Language) -> JSONValue {
        document("kazasu.ledgerGaps/1", ["gaps": .array(gaps.map { gap($0, language) })])
    }

    private static func gap(_ report: LedgerGapReport, _ language: Language) -> JSONValue {
        guard case .object(var object) = gap(report.gap) else { return .null }
        object["before"] = record(report.before, language)
        object["after"] = record(report.after, language)
        return money(
            [("card", card(report.after.purse))] + object.members.map { ($0.key, $0.value) },
            report.after.purse.currency)
    }

    /// `kazasu.ledgerCards/1`.
    package static func cards(_ cards: [LedgerCard], _ language: Language) -> JSONValue {
        let values = cards.map { entry in
            money(
                [
                    "card": card(entry.purse), "key": .string(entry.purse.card), "name": .text(entry.purse.cardName),
                    "title": .string(entry.purse.title[language]),
                    "records": .int(entry.records), "first": .text(entry.first?.description),
                    "last": .text(entry.last?.description), "balance": .optional(entry.balance),
                    "gaps": .int(entry.gaps),
                    "linked": .array(entry.linked.map { .string($0) }),
                ], entry.purse.currency)
        }
        return document("kazasu.ledgerCards/1", ["cards": .array(values)])
    }

    /// `kazasu.ledgerImport/1`.
    ///
    /// - Parameters:
    ///   - files: how many dumps there were.
    ///   - unreadable: how many files could not be read.
    package static func addition(
        _ addition: LedgerAddition, files: Int, unreadable: Int = 0, _ language: Language
    ) -> JSONValue {
        document(
            "kazasu.ledgerImport/1",
            [
                "files": .int(files), "unreadable": .int(unreadable), "read": .int(addition.read),
                "added": .int(addition.added), "completed": .int(addition.completed),
                "cards": .array(addition.cards.map { .string($0) }), "notices": .array(addition.notices.map(notice)),
                "gaps": .array(addition.gaps.map { gap($0, language) }),
            ])
    }

    /// `kazasu.ledgerRedecode/1`.
    package static func redecoding(_ result: LedgerRedecoding) -> JSONValue {
        document(
            "kazasu.ledgerRedecode/1",
            [
                "records": .int(result.records), "changed": .int(result.changed),
                "unreadable": .int(result.unreadable),
            ])
    }

    // MARK: Parts

    private static func document(_ schema: String, _ members: KeyValuePairs<String, JSONValue>) -> JSONValue {
        .object(JSONObject([("schema", .string(schema))] + members.map { ($0.key, $0.value) }))
    }

    private static func money(_ members: KeyValuePairs<String, JSONValue>, _ currency: Currency) -> JSONValue {
        money(members.map { ($0.key, $0.value) }, currency)
    }

    private static func money(_ members: [(String, JSONValue)], _ currency: Currency) -> JSONValue {
        .object(
            JSONObject(
                members + [("currency", .string(currency.rawValue)), ("exponent", .int(currency.minorDigits))]))
    }

    /// Whose record it is. A card that is known by a keyed hash, or by its records alone, has no IDm.
    private static func card(_ purse: LedgerPurse) -> JSONValue {
        let idm = (try? Hex.decode(purse.card)).flatMap { IDm($0) }
        let card = DecodedCard(
            identity: CardIdentity(technology: .felica, idm: idm), kind: CardKind(rawValue: purse.kind),
            brand: purse.brand)
        return JSONValue { card.write(to: &$0) }
    }

    private static func record(_ entry: LedgerRecord, _ language: Language) -> JSONValue {
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
