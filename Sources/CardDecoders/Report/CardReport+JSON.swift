// SPDX-License-Identifier: Apache-2.0

public import CardModel

extension CardReport {
    /// An element of `reports` in `kazasu.decode/1`.
    ///
    /// - Parameters:
    ///   - language: the language of the names; keys and ids never change.
    ///   - redact: what stands in place of a personal value.
    public func json(_ language: Language, redact: (String) -> String = { $0 }) -> JSONValue {
        JSONValue { write(to: &$0, language, redact: redact) }
    }

    /// Writes an element of `reports` in `kazasu.decode/1`; what a card does not keep has no member.
    ///
    /// - Parameters:
    ///   - language: the language of the names; keys and ids never change.
    ///   - redact: what stands in place of a personal value.
    @specialized(where Sink == JSONWriter)
    public func write<Sink: JSONSink & ~Copyable>(to sink: inout Sink, _ language: Language, redact: (String) -> String)
    {
        sink.object { report in
            report.member("card", card)
            report.member("name", name[language])
            if !balances.isEmpty || history != nil { currency.write(to: &report) }
            report.member("balances") { $0.array(of: balances) { $1.write(to: &$0, language) } }
            report.member("fields") {
                $0.object { sink in
                    for field in fields {
                        sink.key(field.key)
                        sink.string(field.isPersonal ? redact(field.value) : field.value)
                    }
                }
            }
            report.member("records") { $0.array(of: history ?? []) { $1.write(to: &$0, language) } }
            if !gateEvents.isEmpty {
                report.member("gateLog") { $0.array(of: gateEvents) { $1.write(to: &$0, language) } }
            }
            if let entryRecord { report.member("entryRecord") { entryRecord.write(to: &$0) } }
            if !tickets.isEmpty { report.member("tickets") { $0.array(of: tickets) { $1.write(to: &$0) } } }
            if let insideGates {
                report.member("inferences") { $0.object { $0.member("insideGates") { insideGates.write(to: &$0) } } }
            }
            report.member("warnings") { $0.array(of: warnings) { $0.string($1.rawValue) } }
        }
    }
}
