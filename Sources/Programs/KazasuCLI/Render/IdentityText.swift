// SPDX-License-Identifier: Apache-2.0

import Kazasu

/// The parts that the text of every identity document has.
enum IdentityText {
    /// The rows of items; one that has no value has none.
    ///
    /// - Parameter own: rows that the view makes itself, by the id of the item that they stand for.
    static func rows<Report>(
        _ items: [IdentityItem<Report>], of report: Report, _ redaction: Redaction, own: [String: [[String]]] = [:]
    ) -> [[String]] {
        items.flatMap { item -> [[String]] in
            if let rows = own[item.id] { return rows.filter { $0[1] != "" } }
            let words = item.words(of: report, Language.current, redaction.apply)
            guard let title = item.title, let words, words != "" else { return [] }
            return [[title[Language.current], words]]
        }
    }

    /// The title of an item, as of the row of a picture.
    static func title<Report>(_ id: String, _ items: [IdentityItem<Report>]) -> String {
        items.first { $0.id == id }?.title?[Language.current] ?? id
    }

    /// Warnings about files, as a section of its own; empty if there are none.
    static func notes(_ warnings: [some SelfDescribing]) -> String {
        warnings.isEmpty
            ? "" : "\n" + tr("Notes", "注意") + "\n" + warnings.map { Columns.sentence($0.words) }.joined()
    }

    /// A picture that was written, as a member of `pictures`.
    static func picture(_ id: String, _ path: String, _ bytes: [UInt8]?) -> JSONValue {
        ["id": .string(id), "path": .string(path), "format": .string(PictureFile.format(of: bytes ?? []))]
    }
}
