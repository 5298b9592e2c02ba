// SPDX-License-Identifier: Apache-2.0

internal import CardModel
internal import KazasuTaps
internal import ReaderCore

/// The messages that announce readers to Home Assistant (MQTT discovery), retained on its configuration topics.
///
/// Source: the validators of Home Assistant 2024.3.3, `homeassistant.components.mqtt`; `make test-ha` runs them. One
/// configuration a component, which old and new versions accept.
package struct HomeAssistant: Sendable {
    package struct Settings: Hashable, Sendable {
        /// What its configuration topics begin with.
        package var prefix = "homeassistant"
        /// Older taps are not sent to Home Assistant: they would unlock a door too late.
        package var maxAge = Duration.seconds(10)
        /// Whether balances are read.
        package var hasBalances = false
        /// The version of this program.
        package var version: String

        package init(version: String) { self.version = version }
    }

    package let settings: Settings
    private let topics: MQTTTopics
    private let site: String

    package init(_ settings: Settings, topics: MQTTTopics, site: String) {
        self.settings = settings
        self.topics = topics
        self.site = site
    }

    /// Home Assistant says `online` here when it has started.
    package var statusTopic: String { "\(settings.prefix)/status" }

    private var siteID: String { "kazasu-\(topics.site)" }

    /// The sensor for the events that wait in the outbox.
    package var siteMessages: [MQTTMessage] {
        [
            config(
                "sensor", "\(siteID)-outbox",
                [
                    "name": "Outbox", "unique_id": .string("\(siteID)-outbox"), "state_topic": .string(topics.health),
                    "value_template": "{{ value_json.pending }}", "state_class": "measurement",
                    "expire_after": 180, "entity_category": "diagnostic",
                    "availability_topic": .string(topics.status), "qos": 1,
                    "device": [
                        "identifiers": [.string(siteID)], "name": .string("Kazasu \(site)"),
                        "manufacturer": "Kazasu", "model": "kazasu watch", "sw_version": .string(settings.version),
                    ],
                ])
        ]
    }

    /// A reader as Home Assistant shows it.
    package struct Reader: Hashable, Sendable {
        /// Its name in events.
        package var name: String
        /// Whether the user chose the name; otherwise it is the reader's ID, which is hard to read.
        package var isNamed = true
        /// The product, as its driver names it.
        package var product: String?
        /// The currencies of its balances so far.
        package var currencies: [Currency] = []

        package init(_ name: String) { self.name = name }
    }

    /// A currency, and how many decimals its amounts have.
    package struct Currency: Hashable, Sendable {
        package var code: String
        package var exponent: Int

        package init(_ code: String, _ exponent: Int) { (self.code, self.exponent) = (code, exponent) }
        package static let yen = Currency("JPY", 0)
    }

    /// What belongs to one reader: tag scanner, triggers, event, connectivity and balances.
    ///
    /// Home Assistant shows a trigger as "SUBTYPE" TYPE. Event and balances have no availability, as it takes the
    /// return of an entity for a change.
    package func messages(_ reader: Reader) -> [MQTTMessage] {
        let id = "\(siteID)-\(MQTTTopics.reader(reader.name))"
        let device = device(id, reader)
        let tap = topics.tap(reader.name)
        func trigger(_ name: String, on type: String) -> MQTTMessage {
            config(
                "device_automation", "\(id)-\(name)",
                [
                    "automation_type": "trigger", "topic": .string(tap), "payload": .string(type),
                    // A reason means that nobody saw the card leave.
                    "value_template": .string(
                        "{{ value_json.type if 'reason' not in value_json and \(isFresh) else 'late' }}"),
                    "type": .string(name), "subtype": "card", "qos": 1, "device": device,
                ])
        }
        return [
            config(
                "tag", id,
                [
                    "topic": .string(tap), "device": device,
                    "value_template": .string(
                        "{{ value_json.tag if value_json.type == 'on' and value_json.tag and \(isFresh) else '' }}"),
                ]),
            trigger("presented", on: "on"), trigger("removed", on: "off"),
            config(
                "event", "\(id)-card",
                [
                    "name": "Card", "unique_id": .string("\(id)-card"), "state_topic": .string(tap),
                    "event_types": ["on", "off", "idle"],
                    "value_template": .string(
                        "{{ dict(value_json, event_type=value_json.type) | tojson if \(isFresh) else '' }}"),
                    "qos": 1, "device": device,
                ]),
            config(
                "binary_sensor", "\(id)-reader",
                [
                    "name": "Reader", "unique_id": .string("\(id)-reader"),
                    "state_topic": .string(topics.state(reader.name)),
                    "value_template": "{{ 'ready' if value_json.state == 'ready' else 'gone' }}",
                    "payload_on": "ready", "payload_off": "gone", "device_class": "connectivity",
                    "entity_category": "diagnostic", "availability_topic": .string(topics.status), "qos": 1,
                    "device": device,
                ]),
        ] + reader.currencies.map { balance(id, tap, $0, device) }
    }

    /// The sensor for the balances of one currency: Home Assistant wants one unit a sensor. A card whose balance is not known
    /// makes it unknown; any other message, which gives an empty state, leaves it as it is.
    private func balance(_ id: String, _ topic: String, _ currency: Currency, _ device: JSONValue) -> MQTTMessage {
        let suffix = currency == .yen ? "" : "-\(currency.code.lowercased())"
        let amount = "'%.\(currency.exponent)f' | format(value_json.balance.amount / 10 ** \(currency.exponent))"
        let isMeant = "value_json.get('balance', {}).get('currency') == '\(currency.code)'"
        return config(
            "sensor", "\(id)-balance\(suffix)",
            [
                "name": .string(currency == .yen ? "Balance" : "Balance \(currency.code)"),
                "unique_id": .string("\(id)-balance\(suffix)"), "state_topic": .string(topic),
                "value_template": .string(
                    "{{ (\(amount) if \(isMeant) else 'None' if value_json.type == 'on' else '') if \(isFresh) else '' }}"
                ),
                "device_class": "monetary", "unit_of_measurement": .string(currency.code),
                "suggested_display_precision": .int(currency.exponent), "qos": 1, "device": device,
            ])
    }

    /// The condition, in templates, that a message is young when it arrives. Both clocks must be right.
    private var isFresh: String {
        let seconds = Double(settings.maxAge.count(of: .milliseconds(1))) / 1000
        return "(as_timestamp(now()) - as_timestamp(value_json.at)) | abs <= \(seconds)"
    }

    /// A young tap: one message for Home Assistant, since a broker holds back the next ones until the first is
    /// acknowledged (Nagle), and the tag alone for others.
    ///
    /// - Returns: the messages, and the currency of the balance in them; none for an event of a reader.
    func tap(_ event: TapEvent) -> (messages: [MQTTMessage], currency: Currency?) {
        guard let card = event.card else { return ([], nil) }
        let expiry = UInt32(clamping: max(1, settings.maxAge.count(of: .seconds(1), roundedUp: true)))
        func message(_ topic: String, _ members: [(String, JSONValue)]) -> MQTTMessage {
            MQTTMessage(topic, JSONValue.object(JSONObject(members)).compactText, expiry: expiry)
        }
        let type = JSONValue.string(event.kind.word)
        var common: [(String, JSONValue)] = [("tag", .text(card.tag)), ("at", .string(event.moment.text))]
        // A tag that Home Assistant's app has written is the one that the phone knows.
        if case .on(_, let content) = event.kind, let written = content.homeAssistantTag {
            common[0].1 = .string(written)
            common.append(("uid", .text(card.tag)))
        }
        var tap = [("type", type)] + common
        if let name = card.name { tap.append(("name", .string(name))) }
        var currency: Currency?
        switch event.kind {
        case .off(_, let visit):
            if let reason = visit.reason { tap.append(("reason", .string(reason.rawValue))) }
        case .on(_, let content):
            guard case .object(let first)? = content.balances?.first, case .integer(let amount)? = first["amount"],
                case .string(let code)? = first["currency"], case .integer(let exponent)? = first["exponent"],
                (0...9).contains(exponent)
            else { break }
            let balance: JSONValue = [
                "amount": .integer(amount), "currency": .string(code), "exponent": .integer(exponent),
            ]
            tap.append(("balance", balance))
            currency = Currency(code, Int(exponent))
        case .reader, .answer: break
        }
        if case .on(_, let content) = event.kind, case .object(let newest)? = content.records?.first {
            tap.append(("record", Self.record(newest)))
        }
        // After a restart of itself or of the broker, Home Assistant repeats the last event of an entity: automations
        // for the card that lay there would run again.
        var messages = [
            message(topics.tap(event.reader), tap),
            message(topics.tap(event.reader), [("type", "idle"), ("last", type)] + common),
        ]
        if case .on = event.kind, common[0].1 != .null { messages.append(message(topics.tag(event.reader), common)) }
        return (messages, currency)
    }

    /// The newest record in short: what a dashboard shows of it.
    private static func record(_ record: JSONObject) -> JSONValue {
        func name(_ place: String, _ key: String) -> JSONValue {
            guard case .object(let place)? = record[place] else { return .null }
            return place[key] ?? .null
        }
        let members = ["date", "time", "kind", "amount"].map { ($0, record[$0] ?? .null) }
        let places = [
            ("entry", name("entry", "name")), ("entryEn", name("entry", "nameEn")), ("exit", name("exit", "name")),
            ("exitEn", name("exit", "nameEn")),
        ]
        return .object(JSONObject(members + places))
    }

    private func device(_ id: String, _ reader: Reader) -> JSONValue {
        let product = reader.product.flatMap(ReaderProduct.init)
        let name = reader.isNamed ? reader.name : product?.short ?? reader.name
        var device = JSONObject([
            ("identifiers", [.string(id)]), ("name", .string("Kazasu \(name)")),
            ("sw_version", .string(settings.version)), ("via_device", .string(siteID)),
        ])
        if let product {
            device["manufacturer"] = product.manufacturer.map { .string($0) }
            device["model"] = .string(product.model)
        }
        return .object(device)
    }

    private func config(_ component: String, _ id: String, _ members: KeyValuePairs<String, JSONValue>) -> MQTTMessage {
        let origin: JSONValue = ["name": "kazasu", "sw_version": .string(settings.version)]
        let payload = JSONObject(members.map { ($0.key, $0.value) } + [("origin", origin)])
        return MQTTMessage(
            "\(settings.prefix)/\(component)/\(id)/config", JSONValue.object(payload).compactText, isRetained: true)
    }
}

/// What a reader is, from the name that its driver gives it.
private struct ReaderProduct {
    var manufacturer: String?
    var model: String
    /// Without what drivers add in parentheses, as in `Sony RC-S380/S (firmware 1.11)`.
    var short: String

    private static let manufacturers = ["ACS", "ASK", "Identiv", "NXP", "Philips", "SCM", "Sony"]

    init?(_ name: String) {
        let words = name.split(separator: " ", maxSplits: 1).map(String.init)
        guard let first = words.first else { return nil }
        if first.lowercased().hasPrefix("pn53"), first.contains(":"), let chip = first.split(separator: "_").first {
            // libnfc calls a reader at a serial port what opens it, as in `pn532_uart:/dev/ttyUSB0`.
            (manufacturer, model) = ("NXP", chip.uppercased())
            short = model
            return
        }
        manufacturer = Self.manufacturers.first { $0.lowercased() == first.lowercased() }
        model = name
        if manufacturer != nil, words.count == 2 {
            // libnfc writes `SONY / RC-S330`.
            model = words[1].hasPrefix("/ ") ? String(words[1].dropFirst(2)) : words[1]
        }
        let whole = [words.count == 2 ? manufacturer : nil, model].compactMap { $0 }.joined(separator: " ")
        short = whole.split(separator: " (", maxSplits: 1).first.map(String.init) ?? whole
        if first == "virtual" { manufacturer = "Kazasu" }
    }
}
