// SPDX-License-Identifier: Apache-2.0

internal import CardModel

/// The messages by which Home Assistant learns of readers (MQTT discovery), retained on its configuration topics.
///
/// Source: the validators of Home Assistant 2024.3.3, `homeassistant.components.mqtt`; `make test-ha` runs them. One
/// configuration a component, which old and new versions accept.
package struct HomeAssistant: Sendable {
    package struct Settings: Hashable, Sendable {
        /// What its configuration topics begin with.
        package var prefix = "homeassistant"
        /// Older taps are not published as tags: they would unlock a door that nobody is at.
        package var maxAge = Duration.seconds(10)
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
                        "sw_version": .string(settings.version),
                    ],
                ])
        ]
    }

    /// What belongs to one reader: tag scanner, trigger, event and connectivity.
    package func messages(reader: String) -> [MQTTMessage] {
        let id = "\(siteID)-\(MQTTTopics.reader(reader))"
        let device = device(id, reader)
        // A trigger has no age limit of its own, so the template compares the clocks.
        let seconds = settings.maxAge.milliseconds / 1000
        let fresh = "(as_timestamp(now()) - as_timestamp(value_json.at)) | abs <= \(seconds)"
        let cardEvent = "{'event_type': value_json.type, 'tag': value_json.tag | default(none), 'at': value_json.at}"
        return [
            config(
                "tag", id,
                [
                    "topic": .string(topics.tag(reader)), "value_template": "{{ value_json.tag }}", "device": device,
                ]),
            config(
                "device_automation", "\(id)-presented",
                [
                    "automation_type": "trigger", "topic": .string(topics.event(reader)), "payload": "on",
                    "value_template": .string("{{ value_json.type if \(fresh) else 'late' }}"),
                    "type": "card", "subtype": "presented", "qos": 1, "device": device,
                ]),
            config(
                "event", "\(id)-card",
                [
                    "name": "Card", "unique_id": .string("\(id)-card"), "state_topic": .string(topics.event(reader)),
                    "event_types": ["on", "off"],
                    "value_template": .string(
                        "{% if value_json.type in ['on', 'off'] %}{{ \(cardEvent) | tojson }}{% endif %}"),
                    "availability_topic": .string(topics.status), "qos": 1, "device": device,
                ]),
            config(
                "binary_sensor", "\(id)-reader",
                [
                    "name": "Reader", "unique_id": .string("\(id)-reader"),
                    "state_topic": .string(topics.state(reader)),
                    "value_template": "{{ 'ready' if value_json.state == 'ready' else 'gone' }}",
                    "payload_on": "ready", "payload_off": "gone", "device_class": "connectivity",
                    "entity_category": "diagnostic", "availability_topic": .string(topics.status), "qos": 1,
                    "device": device,
                ]),
        ]
    }

    private func device(_ id: String, _ reader: String) -> JSONValue {
        [
            "identifiers": [.string(id)], "name": .string("Kazasu \(reader)"),
            "sw_version": .string(settings.version), "via_device": .string(siteID),
        ]
    }

    private func config(_ component: String, _ id: String, _ members: KeyValuePairs<String, JSONValue>) -> MQTTMessage {
        let origin: JSONValue = ["name": "kazasu", "sw_version": .string(settings.version)]
        let payload = JSONObject(members.map { ($0.key, $0.value) } + [("origin", origin)])
        return MQTTMessage(
            "\(settings.prefix)/\(component)/\(id)/config", JSONValue.object(payload).compactText, isRetained: true)
    }
}
