// SPDX-License-Identifier: Apache-2.0

internal import ByteCodec
public import CardModel

extension CardReport {
    /// An element of `reports` in `kazasu.decode/1`; what a card does not keep has no member.
    ///
    /// - Parameters:
    ///   - language: the language of the names; keys and ids never change.
    ///   - redact: what stands in place of a personal value.
    public func json(_ language: Language, redact: (String) -> String = { $0 }) -> JSONValue {
        var object = JSONObject([
            ("card", .string(card)),
            ("name", .string(name[language])),
            ("balances", .array(balances.map { $0.json(language) })),
            (
                "fields",
                .object(JSONObject(fields.map { ($0.key, .string($0.isPersonal ? redact($0.value) : $0.value)) }))
            ),
            ("records", .array((history ?? []).map { $0.json(language) })),
        ])
        if !gateEvents.isEmpty { object["gateLog"] = .array(gateEvents.map { $0.json(language) }) }
        if let entryRecord { object["entryRecord"] = entryRecord.json }
        if !tickets.isEmpty { object["tickets"] = .array(tickets.map(\.json)) }
        if let insideGates { object["inferences"] = ["insideGates": insideGates.json] }
        object["warnings"] = .array(warnings.map { .string($0.rawValue) })
        return .object(object)
    }
}

extension GateEvent {
    /// An element of `gateLog` in `kazasu.decode/1`.
    public func json(_ language: Language) -> JSONValue {
        [
            "event": kind.json(language),
            "intermediate": .string(Hex.encode(intermediate, digits: 2)),
            "line": .int(line),
            "station": .int(station),
            "device": .string(Hex.encode(device, digits: 4)),
            "date": .text(date?.description),
            "time": .text(time?.hourAndMinute),
            "amount": .int(amount),
            "commuterFare": .int(commuterFare),
            "commuterStation": .string(Hex.encode(commuterStation, digits: 4)),
            "raw": .string(raw.hexadecimal),
        ]
    }
}

extension EntryRecord {
    /// `entryRecord` in `kazasu.decode/1`.
    public var json: JSONValue {
        [
            "line": .int(line),
            "station": .int(station),
            "intermediate": intermediate?.json ?? .null,
            "raw": .array(raw.map { .string($0.hexadecimal) }),
        ]
    }
}

extension EntryRecord.Intermediate {
    /// `intermediate` of the entry record in `kazasu.decode/1`.
    public var json: JSONValue {
        [
            "date": .text(date?.description),
            "entryTime": .text(entryTime?.hourAndMinute),
            "entryStation": .string(Hex.encode(entryStation, digits: 4)),
            "exitTime": .text(exitTime?.hourAndMinute),
            "exitStation": .string(Hex.encode(exitStation, digits: 4)),
        ]
    }
}

extension PaidTicket {
    /// An element of `tickets` in `kazasu.decode/1`.
    public var json: JSONValue {
        [
            "from": .string(Hex.encode(from, digits: 4)),
            "to": .string(Hex.encode(to, digits: 4)),
            "expiry": .text(expiry?.description),
            "issued": .text(issued?.hourAndMinute),
            "kind": .string(Hex.encode(kind, digits: 2)),
            "price": .int(price),
            "device": .string(Hex.encode(device, digits: 4)),
            "checkedAt": .string(Hex.encode(checkedAt, digits: 4)),
            "raw": .string(raw.hexadecimal),
        ]
    }
}

extension InsideGates {
    /// `insideGates` among the `inferences` in `kazasu.decode/1`.
    public var json: JSONValue {
        [
            "line": .int(line),
            "station": .int(station),
            "date": .string(date.description),
            "since": .string(since.hourAndMinute),
            "withPass": .bool(isWithPass),
            "support": .array(support.map { .string($0.rawValue) }),
        ]
    }
}
