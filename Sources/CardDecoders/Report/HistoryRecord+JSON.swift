// SPDX-License-Identifier: Apache-2.0

internal import ByteCodec
public import CardModel

extension HistoryRecord {
    /// The value of the member `schema` of a record that stands on a line of its own.
    public static let schema = "kazasu.record/1"

    /// An element of `records` in `kazasu.history/1`.
    ///
    /// - Parameter language: the language of the names; keys and ids never change.
    public func json(_ language: Language) -> JSONValue {
        JSONValue { write(to: &$0, language) }
    }

    /// One line of the ndjson format: the members of ``json(_:)`` after the schema.
    ///
    /// - Parameter currency: what its amounts are counted in.
    public func jsonLine(_ language: Language, _ currency: Currency) -> String {
        var writer = JSONWriter()
        writer.object {
            $0.member("schema", HistoryRecord.schema)
            currency.write(to: &$0)
            writeMembers(to: &$0, language)
        }
        return writer.text
    }

    /// Writes an element of `records`.
    @specialized(where Sink == JSONWriter)
    func write<Sink: JSONSink & ~Copyable>(to sink: inout Sink, _ language: Language) {
        // Without a closure, into which the record would be copied.
        sink.beginObject()
        writeMembers(to: &sink, language)
        sink.endObject()
    }

    /// `entryTime`, `partial`, `terminalId`, `device` and `gateLog` stand there only where the card tells them; with `gateLog` the
    /// times of a ride by rail come from the gate log.
    private func writeMembers(to sink: inout some (JSONSink & ~Copyable), _ language: Language) {
        sink.member("serial", serial)
        sink.member("date", date)
        sink.member("time", time?.minutes)
        if let entryTime { sink.member("entryTime", entryTime.minutes) }
        if let partial { sink.member("partial") { partial.write(to: &$0) } }
        sink.member("kind", kind.rawValue)
        sink.member("terminal") { terminal.write(to: &$0, language) }
        if let terminalID { sink.member("terminalId", terminalID) }
        if let device { sink.member("device", HexDigits(device, digits: 4)) }
        sink.member("process") { process.write(to: &$0, language) }
        sink.member("payment") { payment.write(to: &$0, language) }
        sink.member("gate") { gate.write(to: &$0, language) }
        sink.member("entry") { entry.write(to: &$0) }
        sink.member("exit") { exit.write(to: &$0) }
        sink.member("amount", amount)
        sink.member("balance", balance)
        sink.member("warnings") { $0.array(of: warnings) { $0.string($1.rawValue) } }
        sink.member("raw", RawDigits(head: rawHead, block: raw))
        if let gateLog { sink.member("gateLog") { gateLog.write(to: &$0) } }
    }

    /// The bytes of a record in one or two blocks.
    private struct RawDigits: ASCIIText {
        let head: Block?
        let block: Block

        func append(to text: inout ByteBuffer) {
            if let head { BlockDigits(head).append(to: &text) }
            BlockDigits(block).append(to: &text)
        }
    }
}

extension GatePassages {
    /// `gateLog` of a record in `kazasu.history/1`.
    public var json: JSONValue { JSONValue { write(to: &$0) } }

    func write(to sink: inout some (JSONSink & ~Copyable)) {
        sink.object {
            $0.member("entryDate", entryDate)
            $0.member("fare", fare)
            if let settlement { $0.member("settlement") { settlement.write(to: &$0) } }
        }
    }
}

extension PartialMoment {
    /// Writes what is known, and nothing else.
    func write(to sink: inout some (JSONSink & ~Copyable)) {
        sink.object {
            if let month { $0.member("month", month) }
            if let day { $0.member("day", day) }
            if let hour { $0.member("hour", hour) }
        }
    }
}

extension CodedValue {
    /// Writes a coded value of `kazasu.history/1`.
    func write(to sink: inout some (JSONSink & ~Copyable), _ language: Language) {
        sink.beginObject()
        sink.member("code", HexDigits(code, digits: 2))
        sink.member("name", name(language))
        if let doubt { sink.member("doubt", doubt.rawValue) }
        sink.endObject()
    }
}

extension CodedValue? {
    func write(to sink: inout some (JSONSink & ~Copyable), _ language: Language) {
        if let self { self.write(to: &sink, language) } else { sink.null() }
    }
}
