// SPDX-License-Identifier: Apache-2.0

internal import ByteCodec
public import CardModel

extension GateEvent {
    /// Writes an element of `gateLog` in `kazasu.decode/1`.
    func write(to sink: inout some (JSONSink & ~Copyable), _ language: Language) {
        sink.object { event in
            event.member("event") { kind.write(to: &$0, language) }
            event.member("intermediate", HexDigits(intermediate, digits: 2))
            event.member("line", line)
            event.member("station", station)
            if !stations.isEmpty { event.member("stations") { stations.write(to: &$0) } }
            event.member("device", HexDigits(device, digits: 4))
            event.member("date", date)
            event.member("time", time?.minutes)
            event.member("amount", amount)
            if let settlement { event.member("settlement") { settlement.write(to: &$0) } }
            event.member("raw", BlockDigits(raw))
        }
    }
}

extension GateSettlement {
    /// Writes `settlement` of a passage or of a ride.
    func write(to sink: inout some (JSONSink & ~Copyable)) {
        sink.object { settlement in
            settlement.member("amount", amount)
            settlement.member("station", HexDigits(station, digits: 4))
            settlement.member("doubt", doubt.rawValue)
        }
    }
}

extension [Place] {
    /// Writes `stations`, the stations that a line and a station number can mean.
    fileprivate func write(to sink: inout some (JSONSink & ~Copyable)) {
        sink.array(of: self) { $1.write(to: &$0) }
    }
}

extension EntryRecord {
    /// Writes `entryRecord` in `kazasu.decode/1`.
    func write(to sink: inout some (JSONSink & ~Copyable)) {
        sink.object { record in
            record.member("line", line)
            record.member("station", station)
            if !stations.isEmpty { record.member("stations") { stations.write(to: &$0) } }
            record.member("intermediate") { sink in
                if let intermediate { intermediate.write(to: &sink) } else { sink.null() }
            }
            record.member("raw") { $0.array(of: raw) { $0.plain(BlockDigits($1)) } }
        }
    }
}

extension EntryRecord.Intermediate {
    /// Writes `intermediate` of the entry record in `kazasu.decode/1`.
    func write(to sink: inout some (JSONSink & ~Copyable)) {
        sink.object { gate in
            gate.member("date", date)
            gate.member("entryTime", entryTime?.minutes)
            gate.member("entryStation", HexDigits(entryStation, digits: 4))
            gate.member("exitTime", exitTime?.minutes)
            gate.member("exitStation", HexDigits(exitStation, digits: 4))
        }
    }
}

extension PaidTicket {
    /// Writes an element of `tickets` in `kazasu.decode/1`.
    func write(to sink: inout some (JSONSink & ~Copyable)) {
        sink.object { ticket in
            ticket.member("from", HexDigits(from, digits: 4))
            ticket.member("to", HexDigits(to, digits: 4))
            ticket.member("expiry", expiry)
            ticket.member("issued", issued?.minutes)
            ticket.member("kind", HexDigits(kind, digits: 2))
            ticket.member("price", price)
            ticket.member("device", HexDigits(device, digits: 4))
            ticket.member("checkedAt", HexDigits(checkedAt, digits: 4))
            ticket.member("raw", BlockDigits(raw))
        }
    }
}

extension InsideGates {
    /// `insideGates` among the `inferences` in `kazasu.decode/1`.
    public var json: JSONValue { JSONValue { write(to: &$0) } }

    /// Writes `insideGates` among the `inferences` in `kazasu.decode/1`.
    func write(to sink: inout some (JSONSink & ~Copyable)) {
        sink.object { inside in
            inside.member("line", line)
            inside.member("station", station)
            if !stations.isEmpty { inside.member("stations") { stations.write(to: &$0) } }
            inside.member("date", date)
            inside.member("since", since.minutes)
            inside.member("withPass", isWithPass)
            inside.member("support") { $0.array(of: support) { $0.string($1.rawValue) } }
        }
    }
}
