// SPDX-License-Identifier: Apache-2.0

public import CardModel

extension HistoryReport {
    /// The document `kazasu.history/1`.
    ///
    /// - Parameter language: the language of the names; keys and ids never change.
    public func json(_ language: Language) -> JSONValue {
        JSONValue { sink in
            sink.object {
                $0.member("schema", HistoryReport.schema)
                $0.member("card", card)
                $0.member("name", name[language])
                currency.write(to: &$0)
                $0.member("records") { $0.array(of: records) { $1.write(to: &$0, language) } }
            }
        }
    }
}
