// SPDX-License-Identifier: Apache-2.0

public import CardDecoders
public import CardModel

/// An event of `watch`: a card that came or went, a reader that changed, or what an asker answered. As text it is the document `kazasu.tap/1` on
/// one line.
public struct TapEvent: Hashable, Sendable {
    /// A UUIDv7 in lower case with hyphens, greater than that of the event before even if the clock was set back.
    public var id: String
    /// The number within the reader, from 1, without gaps; 0 for an event that no sink gets, which has none.
    public var sequence: Int
    /// The kind of event.
    public var kind: Kind
    /// When it happened.
    public var moment: Moment
    /// The name of the place.
    public var site: String
    /// The name of the reader, or its ID if it has none.
    public var reader: String

    /// Makes an event; a watcher makes its own.
    ///
    /// - Parameters:
    ///   - id: a UUIDv7 in lower case with hyphens.
    ///   - sequence: the number within the reader, from 1.
    ///   - kind: the kind of event.
    ///   - moment: when it happened.
    ///   - site: the name of the place.
    ///   - reader: the name of the reader.
    public init(id: String, sequence: Int, kind: Kind, moment: Moment, site: String, reader: String) {
        (self.id, self.sequence, self.kind, self.moment) = (id, sequence, kind, moment)
        (self.site, self.reader) = (site, reader)
    }

    /// The kinds of event.
    @nonexhaustive
    public enum Kind: Hashable, Sendable {
        /// A card was found.
        case on(Card, Content)
        /// A card left.
        case off(Card, Visit)
        /// The reader changed.
        case reader(ReaderState)
        /// An asker was asked about a card that came.
        case answer(Answer)

        /// `on`, `off`, `reader` or `answer`.
        public var word: String { type.rawValue }

        /// The type of the event.
        public var type: EventType {
            switch self {
            case .on: .on
            case .off: .off
            case .reader: .reader
            case .answer: .answer
            }
        }
    }

    /// The types of events, as in the member `type` of `kazasu.tap/1`.
    @nonexhaustive
    public enum EventType: String, Hashable, Sendable, CaseIterable {
        case on, off, reader, answer
    }

    /// What an asker answered.
    public struct Answer: Hashable, Sendable {
        /// The id of the event of the card that came.
        public var on: String
        /// The answer.
        public var verdict: Verdict
        /// How long the asker took, in milliseconds.
        public var milliseconds: Int
        /// Why it is a fault: a word such as `timeout`, `exit3` or `status500`; `nil` for a decision.
        public var reason: String?

        /// Makes an answer.
        public init(on: String, verdict: Verdict, milliseconds: Int, reason: String? = nil) {
            (self.on, self.verdict, self.milliseconds, self.reason) = (on, verdict, milliseconds, reason)
        }
    }

    /// The answers of an asker.
    @nonexhaustive
    public enum Verdict: String, Hashable, Sendable, CaseIterable {
        case yes, no
        /// It did not decide: it failed, or took too long.
        case fault
    }

    /// One moment on all clocks.
    public struct Moment: Hashable, Sendable {
        /// Milliseconds since 1970.
        public let milliseconds: Int
        /// The same in RFC 3339, with the time zone of the computer that wrote it.
        public let text: String
        /// Milliseconds of CLOCK_BOOTTIME, which is never adjusted.
        public let uptime: Int
        /// Whether the kernel's clock was disciplined, by NTP for example.
        public let isSynchronized: Bool
    }

    /// The identity of a card.
    public struct Card: Hashable, Sendable {
        /// The radio technology.
        public var technology: Technology
        /// The FeliCa system that answered; `nil` for other cards, and if the card did not name it.
        public var system: SystemCode?
        /// The IDm or UID in lower-case hexadecimal, or its keyed hash; `nil` if the card's number is random.
        public var tag: String?
        /// The name that the user gave the card.
        public var name: String?
        /// Whether the card has another number each time, as phones do.
        public var isRandom: Bool

        /// Makes the identity of a card.
        public init(
            technology: Technology, system: SystemCode? = nil, tag: String?, name: String? = nil, isRandom: Bool = false
        ) {
            (self.technology, self.system, self.tag) = (technology, system, tag)
            (self.name, self.isRandom) = (name, isRandom)
        }
    }

    /// The data read from a card. The members of documents are JSON, in the language of the watcher.
    public struct Content: Hashable, Sendable {
        /// `card`: the identity, kind and brand of a card that was decoded.
        package var card: JSONValue?
        /// The elements of `balances`.
        package var balances: [JSONValue]?
        /// The elements of `records`, newest first.
        package var records: [JSONValue]?
        /// The id of the event that has the older records of the card; `nil` if this one has all that were read.
        public var since: String?
        /// The identifier that Home Assistant's app has written to the tag.
        public var homeAssistantTag: String?
        /// Why it could not be read: a reason of `kazasu.error/1`.
        public var error: String?

        package init(
            card: JSONValue? = nil, balances: [JSONValue]? = nil, records: [JSONValue]? = nil,
            homeAssistantTag: String? = nil, error: String? = nil
        ) {
            (self.card, self.balances, self.records, self.error) = (card, balances, records, error)
            self.homeAssistantTag = homeAssistantTag
        }

        /// What is said of a card of which nothing was read.
        public static let nothing = Content()

        /// Makes the content for what was read from a card.
        ///
        /// - Parameters:
        ///   - card: the card.
        ///   - balance: its money, if it was read.
        ///   - history: its history, if it was read.
        ///   - brand: its brand, if it is known.
        ///   - error: why it could not be read: a reason of `kazasu.error/1`.
        ///   - language: the language of names.
        public init(
            of card: CardIdentity, balance: BalanceReport? = nil, history: CardReport? = nil, brand: CardBrand? = nil,
            error: String? = nil, in language: Language = .english
        ) {
            if balance != nil || history != nil {
                let kind = history?.kind ?? balance?.balances.first?.kind
                let decoded = DecodedCard(identity: card, kind: kind, brand: brand)
                self.card = JSONValue { decoded.write(to: &$0) }
            }
            balances = balance?.balances.map { $0.json(language) }
            records = history?.history?.map { $0.json(language) }
            self.error = error
        }
    }

    /// How long a card was there.
    public struct Visit: Hashable, Sendable {
        /// The id of the event with which it came.
        public var on: String
        /// Milliseconds; `nil` if the watcher was killed meanwhile.
        public var dwell: Int?
        /// Why its leaving was missed; `nil` if it was seen.
        public var reason: UnseenEnd?

        /// Makes a visit.
        public init(on: String, dwell: Int?, reason: UnseenEnd? = nil) {
            (self.on, self.dwell, self.reason) = (on, dwell, reason)
        }
    }

    /// Why a card's visit ended without anybody seeing it leave.
    @nonexhaustive
    public enum UnseenEnd: String, Hashable, Sendable, CaseIterable {
        /// The reader was pulled out, or failed.
        case reader
        /// The watcher stopped, or does not watch the reader as before.
        case shutdown
        /// The watcher was killed; the next one ended the visit.
        case restart
    }

    /// The states of a reader.
    @nonexhaustive
    public enum ReaderState: String, Hashable, Sendable, CaseIterable {
        case ready, gone, error
    }

    /// The card that came or went; `nil` for an event of a reader.
    public var card: Card? {
        switch kind {
        case .on(let card, _), .off(let card, _): card
        case .reader, .answer: nil
        }
    }

    /// Replaces the name of the card, if it has one.
    package mutating func rename(_ change: (String) -> String) {
        if let name = card?.name { setName(change(name)) }
    }

    /// Gives the card another name.
    package mutating func setName(_ name: String?) {
        func renamed(_ card: Card) -> Card {
            var card = card
            card.name = name
            return card
        }
        switch kind {
        case .on(let card, let content): kind = .on(renamed(card), content)
        case .off(let card, let visit): kind = .off(renamed(card), visit)
        case .reader, .answer: break
        }
    }
}

/// An event with its text, which is made once: the outbox stores it, and everybody gets it.
@dynamicMemberLookup
public struct StoredEvent: Hashable, Sendable {
    /// The event.
    public let event: TapEvent
    /// The document `kazasu.tap/1` on one line, without the line's end.
    public let line: String

    /// Makes the text of an event.
    public init(_ event: TapEvent) { (self.event, line) = (event, event.line) }

    /// Reads a document `kazasu.tap/1`.
    ///
    /// - Throws: `DocumentError` for anything else.
    public init(parsing line: String) throws(DocumentError) { (event, self.line) = (try TapEvent(parsing: line), line) }

    /// A part of the event.
    public subscript<Value>(dynamicMember part: KeyPath<TapEvent, Value>) -> Value { event[keyPath: part] }
}

// MARK: JSON

extension TapEvent {
    private static let schema = "kazasu.tap/1"

    /// The document `kazasu.tap/1` on one line, without the line's end.
    public var line: String { json.compactText }

    /// The document `kazasu.tap/1`.
    package var json: JSONValue {
        var members: [(String, JSONValue)] = [("schema", .string(Self.schema)), ("id", .string(id))]
        if sequence > 0 { members.append(("seq", .int(sequence))) }
        members += [
            ("type", .string(kind.word)), ("at", .string(moment.text)), ("mono", .int(moment.uptime)),
            ("clock", moment.isSynchronized ? "synchronised" : "unsynchronised"), ("site", .string(site)),
            ("reader", .string(reader)),
        ]
        switch kind {
        case .on(let card, let content):
            members += card.members
            if let card = content.card { members.append(("card", card)) }
            if let balances = content.balances { members.append(("balances", .array(balances))) }
            if let records = content.records { members.append(("records", .array(records))) }
            if let since = content.since { members.append(("since", .string(since))) }
            if let tag = content.homeAssistantTag { members.append(("homeAssistantTag", .string(tag))) }
            if let error = content.error { members.append(("readError", .string(error))) }
        case .off(let card, let visit):
            members += card.members + [("on", .string(visit.on)), ("dwellMs", .optional(visit.dwell))]
            if let reason = visit.reason { members.append(("reason", .string(reason.rawValue))) }
        case .reader(let state): members.append(("state", .string(state.rawValue)))
        case .answer(let answer):
            members += [
                ("on", .string(answer.on)), ("answer", .string(answer.verdict.rawValue)),
                ("ms", .int(answer.milliseconds)),
            ]
            if let reason = answer.reason { members.append(("reason", .string(reason))) }
        }
        return .object(JSONObject(members))
    }

    /// Reads a document `kazasu.tap/1`.
    ///
    /// - Throws: `DocumentError` for anything else.
    public init(parsing line: String) throws(DocumentError) {
        let event = JSONCursor(try JSONValue(parsing: Array(line.utf8)))
        let schema = try event.required("schema").text()
        guard schema == Self.schema else { throw .unknownSchema(found: schema, supported: Self.schema) }
        id = try event.required("id").text()
        sequence = try event.optional("seq")?.integer(in: 1...Int.max) ?? 0
        moment = try Moment(event)
        site = try event.required("site").text()
        reader = try event.required("reader").text()
        let type = try event.required("type")
        switch try type.text() {
        case "on":
            var content = Content(
                card: try event.optional("card")?.value,
                balances: try event.optional("balances")?.elements().map(\.value),
                records: try event.optional("records")?.elements().map(\.value),
                homeAssistantTag: try event.optional("homeAssistantTag")?.text(),
                error: try event.optional("readError")?.text())
            content.since = try event.optional("since")?.text()
            kind = .on(try Card(event), content)
        case "off":
            kind = .off(
                try Card(event),
                Visit(
                    on: try event.required("on").text(), dwell: try event.optional("dwellMs")?.integer(in: 0...Int.max),
                    reason: try event.optional("reason")?.word()))
        case "reader": kind = .reader(try event.required("state").word())
        case "answer":
            kind = .answer(
                Answer(
                    on: try event.required("on").text(), verdict: try event.required("answer").word(),
                    milliseconds: try event.required("ms").integer(in: 0...Int.max),
                    reason: try event.optional("reason")?.text()))
        default: throw type.malformed(.oneOf, "on", "off", "reader", "answer")
        }
    }
}

/// The values of `clock`.
private enum ClockWord: String, CaseIterable {
    case synchronised, unsynchronised
}

/// The values of `identity`.
private enum IdentityWord: String, CaseIterable {
    case fixed, random
}

extension TapEvent.Moment {
    /// Makes a moment.
    ///
    /// - Parameters:
    ///   - time: the time of the system's clock.
    ///   - uptime: milliseconds of CLOCK_BOOTTIME.
    ///   - isSynchronized: whether the clock was disciplined.
    public init(_ time: Timestamp, uptime: Int, isSynchronized: Bool = true) {
        (milliseconds, text) = (time.milliseconds, time.text())
        (self.uptime, self.isSynchronized) = (uptime, isSynchronized)
    }

    init(_ reading: EventClock.Reading) {
        self.init(
            Timestamp(milliseconds: reading.wall), uptime: reading.boot, isSynchronized: reading.isSynchronized)
    }

    fileprivate init(_ event: JSONCursor) throws(DocumentError) {
        let at = try event.required("at")
        text = try at.text()
        guard let time = Timestamp(text) else { throw at.malformed(.form, "RFC 3339") }
        milliseconds = time.milliseconds
        uptime = try event.required("mono").integer()
        isSynchronized = try event.required("clock").word(ClockWord.self) == .synchronised
    }
}

extension TapEvent.Card {
    fileprivate init(_ event: JSONCursor) throws(DocumentError) {
        technology = try event.required("technology").word()
        system = try event.optional("system")?.code()
        tag = try event.optional("tag")?.text()
        name = try event.optional("name")?.text()
        isRandom = try event.required("identity").word(IdentityWord.self) == .random
    }

    fileprivate var members: [(String, JSONValue)] {
        var members: [(String, JSONValue)] = [("technology", .string(technology.rawValue))]
        if let system { members.append(("system", .string(system.description))) }
        if let tag { members.append(("tag", .string(tag))) }
        if let name { members.append(("name", .string(name))) }
        return members + [("identity", isRandom ? "random" : "fixed")]
    }
}

extension JSONCursor {
    /// The case of an enumeration whose raw values are words of documents.
    fileprivate func word<Word: RawRepresentable<String> & CaseIterable>(
        _ type: Word.Type = Word.self
    ) throws(DocumentError) -> Word {
        if let word = Word(rawValue: try text()) { return word }
        throw malformed(.oneOf, values: Word.allCases.map(\.rawValue))
    }
}
