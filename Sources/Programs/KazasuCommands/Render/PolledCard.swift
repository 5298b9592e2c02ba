// SPDX-License-Identifier: Apache-2.0

import ByteCodec
import Kazasu
import KazasuCLI

/// One answer to `poll`: a card, and its recognized kind.
struct PolledCard {
    var card: PICC
    var kinds: [RecognizedCard] = []
    /// What a phone says about itself.
    var phone: PhoneModel?
    /// The requested FeliCa system, when the card itself did not report one.
    var asked: SystemCode?

    /// A FeliCa card that was searched for by its system.
    init(_ found: Card, asked: SystemCode?) {
        card = found.picc
        phone = found.phoneModel()
        self.asked = asked
    }

    /// A card, recognized by its answers, and by its applications when those are requested.
    ///
    /// It is selected again, since the search went on for other kinds of card.
    init(_ found: Card, askingApplications asks: Bool) throws(KazasuError) {
        card = found.picc
        kinds = try found.identify(applications: asks)
        phone = found.phoneModel(isSelected: false)
    }

    private var system: SystemCode? {
        guard case .felica(let target) = card else { return nil }
        return target.requestData.map { SystemCode(rawValue: $0) } ?? asked
    }

    /// The commands that read it.
    var next: ReadingCommands { ReadingCommands(card, kinds: kinds.map(\.kind.id), system: asked) }

    /// The members of this card in `kazasu.poll/1`: `card`, `systemCode` and `systemName` for FeliCa, `kinds` for the
    /// others, and `next`.
    func json(_ redaction: Redaction) -> JSONObject {
        var identity = redaction.apply(card.identity).json
        CardNames.addChip(redaction.apply(card.identity), to: &identity)
        CardNames.addPhone(phone, of: card.identity, to: &identity, redaction)
        var object = JSONObject([("card", identity)])
        if card.technology == .felica {
            object["systemCode"] = .text(system?.description)
            object["systemName"] = .text(system.flatMap { CardNames.name(system: $0) })
        } else {
            object["kinds"] = .array(kinds.map(PolledCard.json))
        }
        object["next"] = .array(next.words.map { .string($0) })
        return object
    }

    private static func json(_ kind: RecognizedCard) -> JSONValue {
        var object = JSONObject([
            ("id", .string(kind.kind.id)), ("name", .string(kind.kind.name[Language.current])),
            ("certainty", .string(kind.kind.certainty.rawValue)), ("by", .string(kind.kind.clue.rawValue)),
        ])
        if !kind.details.isEmpty {
            object["details"] = .array(
                kind.details.map { .object(JSONObject([("key", .string($0.key)), ("value", .string($0.value))])) })
        }
        return .object(object)
    }

    /// Names and values in rows, for display; the last one names the commands that read it.
    func rows(_ redaction: Redaction) -> [[String]] {
        answers(redaction) + [next.row].compactMap { $0 }
    }

    private func answers(_ redaction: Redaction) -> [[String]] {
        let identity = redaction.apply(card.identity)
        switch card {
        case .felica(let target):
            var rows = [
                [tr("Card", "カード"), "FeliCa, \(target.bitRate.rawValue) kbit/s"],
                ["IDm", identity.idm.map { $0.description.uppercased() } ?? ""],
                ["PMm", target.pmm.description.uppercased()],
                ["IC", CardNames.describe(ic: target.pmm)],
            ]
            rows += CardNames.rows(phone: phone, redaction)
            if let day = identity.manufactureDay(readOn: .today) { rows.append(CardNames.row(manufactured: day)) }
            if let system { rows.append([tr("System", "システム"), CardNames.describe(system: system)]) }
            return rows
        case .typeA(let target):
            let rows = [
                [tr("Card", "カード"), "ISO 14443 Type A" + PolledCard.isoDEP(of: target)],
                ["UID", identity.uid.map(PolledCard.hex)],
                ["ATQA", target.atqa.map { Hex.encode($0, digits: 4).uppercased() }],
                ["SAK", target.sak.map { PolledCard.hex([$0]) }], ["ATS", target.ats.map(PolledCard.hex)],
            ]
            return PolledCard.known(rows) + kindRows
        case .typeB(let target):
            let rows = [
                [tr("Card", "カード"), "ISO 14443 Type B" + (target.isISODEP ? ", ISO-DEP" : "")],
                ["PUPI", identity.pupi.map(PolledCard.hex)],
                [tr("Application data", "アプリケーションデータ"), identity.applicationData.map(PolledCard.hex)],
                [tr("Protocol info", "プロトコル情報"), identity.protocolInfo.map(PolledCard.hex)],
            ]
            return PolledCard.known(rows) + kindRows
        @unknown default: return []
        }
    }

    /// Whether a card supports ISO-DEP, or only says so in its SAK.
    private static func isoDEP(of card: TypeATarget) -> String {
        if card.isISODEP { return ", ISO-DEP" }
        let isClaimed = card.sak.map { $0 & 0x20 != 0 } ?? false
        return isClaimed ? tr(" (does not start ISO-DEP)", "（ISO-DEP を開始しない）") : ""
    }

    private var kindRows: [[String]] {
        kinds.flatMap { kind in
            [[tr("Kind", "種類"), kind.kind.name[Language.current] + PolledCard.word(kind.kind.certainty)]]
                + kind.details.map { ["  " + $0.title[Language.current], $0.value] }
        }
    }

    private static func word(_ certainty: KnownCard.Certainty) -> String {
        switch certainty {
        case .certain: ""
        case .likely: tr(", judging by its response", "（応答からの推定）")
        case .possible: tr(", possibly another kind", "（応答からの推定、他の可能性あり）")
        }
    }

    private static func known(_ rows: [[String?]]) -> [[String]] {
        rows.map { $0.compactMap { $0 } }.filter { $0.count == 2 }
    }

    private static func hex(_ bytes: [UInt8]) -> String {
        Hex.encode(bytes, uppercase: true)
    }
}
