// SPDX-License-Identifier: Apache-2.0

import Kazasu
import KazasuCLI

/// An identity document for display, and the members of its document after `card`.
protocol IdentityView {
    var members: JSONObject { get }
    var text: String { get }
}

/// A document that `decode` shows, too.
protocol DecodableDocument: IdentityDocument {
    /// The document of a dump as its own command shows it, but without a reader and certificates of the user. Nothing was typed, so that
    /// nothing is compared.
    func view(of dump: CardDump, _ redaction: Redaction, _ pictures: [WrittenPicture]) -> any IdentityView
}

extension Context {
    /// Prints an identity document.
    ///
    /// - Parameter card: `nil` for one of files.
    func print<Document: IdentityDocument>(
        _: Document, of card: CardIdentity?, _ view: some IdentityView
    ) throws(CommandError) {
        try print(
            Document.schema, card: card.map { redaction.card($0, kind: Document.kind) } ?? .null, view.members,
            else: view.text)
    }
}

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

    /// The member `pictures`: those that were written.
    static func pictures(_ written: [WrittenPicture], of report: some IdentityDocument) -> JSONValue {
        .array(
            written.map { picture in
                let format = PictureFile.format(of: report.picture(picture.id) ?? [])
                return ["id": .string(picture.id), "path": .string(picture.path), "format": .string(format)]
            })
    }
}
