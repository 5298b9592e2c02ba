// SPDX-License-Identifier: Apache-2.0

import CardDecoders
import CardModel

extension Redaction {
    /// The value of a field for documents.
    func value(of field: CardField) -> String {
        field.isPersonal ? apply(field.value) : field.value
    }

    /// The value of a field for people.
    func words(of field: CardField) -> String {
        field.isPersonal ? apply(field.value) : field.label?[Language.current] ?? field.value
    }
}
