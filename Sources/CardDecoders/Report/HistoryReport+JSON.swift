// SPDX-License-Identifier: Apache-2.0

public import CardModel

extension HistoryReport {
    /// The document `kazasu.history/1`.
    ///
    /// - Parameter language: the language of the names; keys and ids never change.
    public func json(_ language: Language) -> JSONValue {
        [
            "schema": .string(HistoryReport.schema),
            "card": .string(card),
            "name": .string(name[language]),
            "records": .array(records.map { $0.json(language) }),
        ]
    }
}

extension HistoryRecord {
    /// An element of `records` in `kazasu.history/1`, and one line of the ndjson format.
    ///
    /// `entryTime`, `partial`, `terminalId` and `gateLog` stand there only where the card tells them; with `gateLog` the times of a ride
    /// by rail come from the gate log.
    public func json(_ language: Language) -> JSONValue {
        var object = JSONObject([
            ("serial", .optional(serial)),
            ("date", .text(date?.description)),
            ("time", .text(time?.hourAndMinute)),
        ])
        if let entryTime { object["entryTime"] = .string(entryTime.hourAndMinute) }
        if let partial { object["partial"] = partial.json }
        object["kind"] = .string(kind.rawValue)
        object["terminal"] = terminal?.json(language) ?? .null
        if let terminalID { object["terminalId"] = .string(terminalID) }
        object["process"] = process?.json(language) ?? .null
        object["payment"] = payment?.json(language) ?? .null
        object["gate"] = gate?.json(language) ?? .null
        object["entry"] = entry?.json ?? .null
        object["exit"] = exit?.json ?? .null
        object["amount"] = .optional(amount)
        object["balance"] = .optional(balance)
        object["warnings"] = .array(warnings.map { .string($0.rawValue) })
        object["raw"] = .string((rawHead?.hexadecimal ?? "") + raw.hexadecimal)
        if let gateLog { object["gateLog"] = gateLog.json }
        return .object(object)
    }
}

extension GatePassages {
    /// `gateLog` of a record in `kazasu.history/1`.
    public var json: JSONValue {
        ["entryDate": .text(entryDate?.description), "fare": .int(fare), "commuterFare": .int(commuterFare)]
    }
}

extension CodedValue {
    /// A coded value in `kazasu.history/1`.
    public func json(_ language: Language) -> JSONValue {
        ["code": .string(hex), "name": .text(name?[language])]
    }
}

extension Place {
    /// `entry` or `exit` in `kazasu.history/1`.
    ///
    /// A station is told by its area, line and station numbers; a bus stop by its area and the two four-digit codes
    /// of operator and stop, which are codes of their own and no line or station; a stop of one town's card by its
    /// system, its operator and route where the card tells them, and its number.
    public var json: JSONValue {
        var object = JSONObject()
        switch code {
        case .station(let station):
            object["area"] = .int(station.area)
            object["line"] = .int(station.line)
            object["station"] = .int(station.station)
        case .busStop(let stop):
            object["area"] = .int(stop.area)
            object["operator"] = .string(stop.operatorHex)
            object["stop"] = .string(stop.stopHex)
        case .local(let stop):
            object["system"] = .string(stop.system.description)
            if let code = stop.operatorHex { object["operator"] = .string(code) }
            if let line = stop.lineHex { object["line"] = .string(line) }
            object["stop"] = .string(stop.stopHex)
        }
        object["company"] = .text(name?.company)
        object["lineName"] = .text(name?.line)
        object["name"] = .text(name?.name)
        if let former = name?.formerName { object["formerName"] = .string(former) }
        return .object(object)
    }
}
