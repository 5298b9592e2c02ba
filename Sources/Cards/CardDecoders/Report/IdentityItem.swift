// SPDX-License-Identifier: Apache-2.0

package import CardModel

/// An item of an identity document, said once: its id in documents, its title, where the value is, and whether that is personal. The
/// document's members, the rows of its text, what `--redact` masks, and the words of what a signature covers are functions of it.
package struct IdentityItem<Report>: Sendable {
    package let id: String
    /// `nil` if the text has no row for it.
    package let title: LocalizedText?
    /// In a list of what a signature covers.
    package let coverage: LocalizedText
    /// How documents write the value; `nil` if that depends on the item.
    let form: IdentityForm?
    private let isPersonal: Bool
    private let source: Source

    private enum Source: Sendable {
        case value(@Sendable (Report) -> Value?)
        /// A member of several values.
        case member(@Sendable (Report, Language, (String) -> String) -> JSONValue?)
        /// A picture, which documents list among their pictures.
        case picture
    }

    /// The value of an item.
    package enum Value: Hashable, Sendable {
        case text(String)
        /// A text that is a code, with its meaning where that is known.
        case word(String, LocalizedText?)
        /// The same as `{code, name}` in documents.
        case code(String, LocalizedText?)
    }

    private init(
        _ id: String, _ title: LocalizedText?, _ coverage: String?, _ form: IdentityForm?, isPersonal: Bool,
        _ source: Source
    ) {
        (self.id, self.title, self.form, self.isPersonal, self.source) = (id, title, form, isPersonal, source)
        let english = title?.english ?? id
        self.coverage = LocalizedText(
            coverage ?? english.prefix(1).lowercased() + english.dropFirst(), title?.japanese ?? id)
    }

    /// A text; personal unless it says otherwise.
    package static func text(
        _ id: String, _ title: LocalizedText? = nil, coverage: String? = nil, isPersonal: Bool = true,
        _ path: any KeyPath<Report, String?> & Sendable
    ) -> Self {
        Self(id, title, coverage, .text, isPersonal: isPersonal, .value { $0[keyPath: path].map(Value.text) })
    }

    /// A personal date.
    package static func date(
        _ id: String, _ title: LocalizedText, coverage: String? = nil,
        _ path: any KeyPath<Report, CalendarDate?> & Sendable
    ) -> Self {
        Self(
            id, title, coverage, .date, isPersonal: true,
            .value { $0[keyPath: path].map { .text($0.description) } })
    }

    /// Anything else that is one value.
    package static func value(
        _ id: String, _ title: LocalizedText? = nil, coverage: String? = nil, isPersonal: Bool = true,
        _ value: @escaping @Sendable (Report) -> Value?
    ) -> Self {
        Self(id, title, coverage, nil, isPersonal: isPersonal, .value(value))
    }

    /// A member of several values, which masks what is personal, or none; its rows are made by the view.
    package static func member(
        _ id: String, _ title: LocalizedText? = nil,
        _ json: @escaping @Sendable (Report, Language, (String) -> String) -> JSONValue?
    ) -> Self {
        Self(id, title, nil, nil, isPersonal: true, .member(json))
    }

    /// A picture; its rows are made by the view.
    package static func picture(_ id: String, _ title: LocalizedText, coverage: String? = nil) -> Self {
        Self(id, title, coverage, nil, isPersonal: true, .picture)
    }

    /// The member of a document; `nil` for a picture, and where there is none.
    func json(of report: Report, _ language: Language, _ redact: (String) -> String) -> JSONValue? {
        switch source {
        case .picture: return nil
        case .member(let json): return json(report, language, redact)
        case .value(let value):
            switch value(report) {
            case nil: return .null
            case .text(let text), .word(let text, _): return .string(isPersonal ? redact(text) : text)
            case .code(let code, let name):
                let shown = isPersonal ? redact(code) : code
                return ["code": .string(shown), "name": .text(shown == code ? name?[language] : nil)]
            }
        }
    }

    /// The value as the text shows it; `nil` if it is absent or has several values.
    package func words(of report: Report, _ language: Language, _ redact: (String) -> String) -> String? {
        guard case .value(let value) = source, let value = value(report) else { return nil }
        let (text, name): (String, LocalizedText?) =
            switch value {
            case .text(let text): (text, nil)
            case .word(let text, let name), .code(let text, let name): (text, name)
            }
        let shown = isPersonal ? redact(text) : text
        guard shown == text, let name = name?[language] else { return shown }
        return LocalizedText("\(text) (\(name))", "\(text)（\(name)）")[language]
    }
}

/// How documents write the value of an item, or null where there is none.
enum IdentityForm: Sendable {
    case text
    /// As YYYY-MM-DD.
    case date
}

extension [String] {
    /// The words of what a signature covers, by the ids of items.
    package func coverage<Report>(_ items: [IdentityItem<Report>]) -> [LocalizedText] {
        map { id in items.first { $0.id == id }?.coverage ?? LocalizedText(id, id) }
    }
}

extension JSONObject {
    /// The members of a document that items have, in order.
    init<Report>(
        _ items: [IdentityItem<Report>], of report: Report, _ language: Language, _ redact: (String) -> String
    ) {
        self.init()
        add(items, of: report, language, redact)
    }

    /// Adds the members that items have.
    mutating func add<Report>(
        _ items: [IdentityItem<Report>], of report: Report, _ language: Language, _ redact: (String) -> String
    ) {
        for item in items {
            if let value = item.json(of: report, language, redact) { self[item.id] = value }
        }
    }
}
