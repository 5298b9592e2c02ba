// SPDX-License-Identifier: Apache-2.0

internal import CardDecoders
package import CardModel

/// What a webhook posts for an event: the event itself, or a text with parts of it, as chat services want.
package struct WebhookBody: Hashable, Sendable {
    /// A part of an event, as in `{name}`.
    package enum Field: String, CaseIterable, Sendable {
        /// The event in one sentence.
        case text
        /// The whole event.
        case event
        case id, type, at, time, site, reader, tag, name
        /// The name of the card, or its tag.
        case card
        /// The state of the reader, and the answer of an asker.
        case state, answer
        /// The balance as text, and its amount in the smallest unit of its currency.
        case balance, amount, currency
    }

    /// Why a template is not used.
    package enum Fault: Error, Hashable, Sendable {
        case unknownField(String, line: Int)
        /// It begins as JSON does, and would not be JSON with values in its place.
        case notJSON(DocumentError)
        case empty
    }

    private enum Part: Hashable, Sendable {
        case literal(String)
        case value(Field)
        /// Within a string of JSON.
        case quoted(Field)
        /// The same for Slack, whose texts have entities.
        case entities(Field)
    }

    /// `nil` for the event as it is.
    private var parts: [Part]?
    private var isJSON = true
    /// The language of sentences.
    private var language = Language.english
    /// The events that are posted unless the user chooses others; `nil` for all.
    package private(set) var usualTypes: Set<TapEvent.EventType>?

    /// The event.
    package static let event = WebhookBody()

    private init() {}

    /// Reads a template: text in which fields such as `{name}` stand for parts of the event. Where the text is JSON, they are
    /// escaped within strings, and values of JSON elsewhere.
    package init(template: String, language: Language) throws(Fault) {
        let text = template.hasSuffix("\n") ? template.dropLast() : template[...]
        guard text.contains(where: { !$0.isWhitespace }) else { throw .empty }
        let isJSON = text.first { !$0.isWhitespace }.map { "{[".contains($0) && Self.field(in: text) == nil } ?? false
        (self.isJSON, self.language) = (isJSON, language)
        parts = try Self.parts(of: text, isJSON: isJSON)
        guard isJSON else { return }
        for value in [nil, "x"] {
            do throws(DocumentError) {
                _ = try JSONValue(parsing: Array(rendered { $0 == .event ? .null : .text(value) }.utf8))
            } catch {
                throw .notJSON(error)
            }
        }
    }

    /// The field at the start of a text that is not JSON.
    private static func field(in text: Substring) -> Field? {
        let start = text.drop { $0.isWhitespace }
        guard start.first == "{", let end = start.firstIndex(of: "}") else { return nil }
        return Field(rawValue: String(start[start.index(after: start.startIndex)..<end]))
    }

    private static func parts(of text: Substring, isJSON: Bool) throws(Fault) -> [Part] {
        var parts: [Part] = []
        var literal = ""
        var (isQuoted, line) = (false, 1)
        var index = text.startIndex
        while index < text.endIndex {
            let character = text[index]
            let next = text.index(after: index)
            if character == "\n" { line += 1 }
            if character == "{", let end = text[next...].firstIndex(of: "}"), end > next,
                text[next..<end].allSatisfy({ $0.isASCII && $0.isLetter })
            {
                let name = String(text[next..<end])
                guard let field = Field(rawValue: name) else { throw .unknownField(name, line: line) }
                parts += [.literal(literal), isQuoted ? .quoted(field) : .value(field)]
                literal = ""
                index = text.index(after: end)
                continue
            }
            literal.append(character)
            index = next
            guard isJSON else { continue }
            if character == "\\", isQuoted, index < text.endIndex {
                literal.append(text[index])
                index = text.index(after: index)
            } else if character == "\"" {
                isQuoted.toggle()
            }
        }
        return parts + [.literal(literal)]
    }

    // MARK: Services

    /// A service whose form is known.
    package enum Preset: String, CaseIterable, Sendable {
        /// Discord: `content`, without mentions.
        case discord
        /// Slack, Mattermost, Rocket.Chat and Google Chat: `text`.
        case slack
        /// Workflows of Microsoft Teams: an adaptive card.
        case teams
        /// ntfy: the text itself.
        case ntfy
        /// IFTTT: three values.
        case ifttt
        /// An annotation of Grafana.
        case grafana
    }

    /// The body for a service. Chats get the cards that come, unless the user chooses other events.
    package init(_ preset: Preset, language: Language) {
        self.language = language
        usualTypes = [.on]
        switch preset {
        case .discord:
            parts = [.literal(#"{"content":""#), .quoted(.text), .literal(#"","allowed_mentions":{"parse":[]}}"#)]
        case .slack: parts = [.literal(#"{"text":""#), .entities(.text), .literal(#""}"#)]
        case .teams:
            parts = [
                .literal(
                    #"{"type":"message","attachments":[{"contentType":"application/vnd.microsoft.card.adaptive","#
                        + #""content":{"$schema":"http://adaptivecards.io/schemas/adaptive-card.json","#
                        + #""type":"AdaptiveCard","version":"1.4","body":[{"type":"TextBlock","wrap":true,"text":""#),
                .quoted(.text), .literal(#""}]}}]}"#),
            ]
        case .ntfy: (parts, isJSON) = ([.value(.text)], false)
        case .ifttt:
            parts = [
                .literal(#"{"value1":""#), .quoted(.text), .literal(#"","value2":""#), .quoted(.reader),
                .literal(#"","value3":""#), .quoted(.tag), .literal(#""}"#),
            ]
        case .grafana:
            parts = [
                .literal(#"{"time":"#), .value(.time), .literal(#","tags":["kazasu",""#), .quoted(.type),
                .literal(#"",""#), .quoted(.reader), .literal(#""],"text":""#), .quoted(.text), .literal(#""}"#),
            ]
        }
    }

    // MARK: Events

    /// Whether it is the event as it is.
    var isEvent: Bool { parts == nil }

    /// The media type of the body.
    var mediaType: String { isJSON ? "application/json" : "text/plain; charset=utf-8" }

    /// The body for an event.
    package func text(for event: StoredEvent) -> String {
        guard parts != nil else { return event.line }
        return rendered { value(of: $0, in: event) }
    }

    private func rendered(_ value: (Field) -> JSONValue) -> String {
        (parts ?? []).map { part in
            switch part {
            case .literal(let text): text
            case .value(let field): isJSON ? value(field).compactText : Self.plain(value(field))
            case .quoted(let field): Self.escaped(Self.plain(value(field)))
            case .entities(let field):
                Self.escaped(
                    Self.plain(value(field)).replacing("&", with: "&amp;").replacing("<", with: "&lt;")
                        .replacing(">", with: "&gt;"))
            }
        }.joined()
    }

    /// A value as text; nothing for none.
    private static func plain(_ value: JSONValue) -> String {
        switch value {
        case .string(let text): text
        case .null: ""
        default: value.compactText
        }
    }

    /// The inside of a string of JSON.
    private static func escaped(_ text: String) -> String {
        String(JSONValue.string(text).compactText.dropFirst().dropLast())
    }

    private func value(of field: Field, in event: StoredEvent) -> JSONValue {
        switch field {
        case .text: return .string(sentence(about: event.event))
        case .event: return event.event.json
        case .id: return .string(event.id)
        case .type: return .string(event.kind.word)
        case .at: return .string(event.moment.text)
        case .time: return .int(event.moment.milliseconds)
        case .site: return .string(event.site)
        case .reader: return .string(event.reader)
        case .tag: return .text(event.card?.tag)
        case .name: return .text(event.card?.name)
        case .card: return .text(event.card?.name ?? event.card?.tag)
        case .state: if case .reader(let state) = event.kind { return .string(state.rawValue) } else { return .null }
        case .answer:
            if case .answer(let answer) = event.kind { return .string(answer.verdict.rawValue) } else { return .null }
        case .balance: return .text(balance(of: event.event)?.text)
        case .amount: return balance(of: event.event).map { .int($0.amount) } ?? .null
        case .currency: return .text(balance(of: event.event)?.currency)
        }
    }

    /// The first balance of a card that came, if its amount is known.
    private func balance(of event: TapEvent) -> (text: String, amount: Int, currency: String)? {
        guard case .on(_, let content) = event.kind, case .object(let first)? = content.balances?.first,
            case .integer(let value)? = first["amount"], let amount = Int(exactly: value),
            case .string(let code)? = first["currency"], let currency = Currency(rawValue: code)
        else { return nil }
        return (currency.localizedText(amount)[language], amount, code)
    }

    /// The event in one sentence.
    private func sentence(about event: TapEvent) -> String {
        let reader = event.reader
        let card = event.card.map { card in
            card.name ?? card.tag ?? LocalizedText("unknown card", "不明なカード")[language]
        }
        let (english, japanese): (String, String) =
            switch event.kind {
            case .on:
                balance(of: event).map {
                    ("\(card ?? "") at \(reader), \($0.text)", "\(reader): \(card ?? "")（残高 \($0.text)）")
                } ?? ("\(card ?? "") at \(reader)", "\(reader): \(card ?? "")")
            case .off: ("\(card ?? "") left \(reader)", "\(reader): \(card ?? "")が離れました")
            case .reader(.ready): ("Reader \(reader) is ready", "リーダー \(reader) が使えます")
            case .reader(.gone): ("Reader \(reader) is not connected", "リーダー \(reader) は接続されていません")
            case .reader(.error): ("Reader \(reader) cannot be used", "リーダー \(reader) を使えません")
            case .answer(let answer):
                switch answer.verdict {
                case .yes: ("\(reader) answered yes", "\(reader): 許可")
                case .no: ("\(reader) answered no", "\(reader): 拒否")
                case .fault: ("\(reader) got no answer", "\(reader): 判定なし")
                }
            }
        return LocalizedText(english, japanese)[language]
    }
}
