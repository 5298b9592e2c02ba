// SPDX-License-Identifier: Apache-2.0

import CardModel
import TapSupport
import TestSupport
import Testing

@testable import KazasuTaps

@Suite("Bodies of webhooks")
struct WebhookBodyTests {
    /// What a card may be called by somebody who wants to break out of a text.
    static let names = ["Hanako", #"a"b\c"#, "a\nb\u{7}", "@everyone <!channel> & <b>", "山田 花子", "{name}", ""]

    private static func event(_ type: TapEvent.EventType, name: String? = nil) -> StoredEvent {
        var event = TapEvent.made(1, reader: "front \"door\"", type: type.rawValue)
        if case .on(let card, _) = event.kind {
            let balance: JSONValue = ["amount": 1230, "currency": "JPY", "exponent": 0]
            event.kind = .on(card, TapEvent.Content(balances: [balance]))
        }
        event.setName(name)
        return StoredEvent(event)
    }

    private static func members(_ body: WebhookBody, _ event: StoredEvent) throws -> JSONObject {
        try JSONCursor(JSONValue(parsing: Array(body.text(for: event).utf8))).object()
    }

    @Test(
        "The body for a service has the form that it demands, whatever a card is called",
        arguments: WebhookBody.Preset.allCases, names)
    func presets(preset: WebhookBody.Preset, name: String) throws {
        let body = WebhookBody(preset, language: .english)
        for type in TapEvent.EventType.allCases {
            let event = Self.event(type, name: name)
            if preset == .ntfy {
                #expect(body.mediaType == "text/plain; charset=utf-8")
                #expect(type != .on || body.text(for: event) == "\(name) at front \"door\", ¥1,230")
                continue
            }
            #expect(body.mediaType == "application/json")
            let members = try Self.members(body, event)
            let keys = members.members.map(\.key)
            switch preset {
            case .discord:
                #expect(keys == ["content", "allowed_mentions"])
                #expect(members["allowed_mentions"] == ["parse": []])
                guard case .string(let text)? = members["content"] else { return #expect(Bool(false)) }
                #expect((1...2000).contains(text.count))
                #expect(type != .on || text == "\(name) at front \"door\", ¥1,230")
            case .slack:
                #expect(keys == ["text"])
                guard case .string(let text)? = members["text"] else { return #expect(Bool(false)) }
                #expect(!text.isEmpty && !text.contains("<") && !text.contains(">"))
            case .teams:
                #expect(members["type"] == "message" && keys == ["type", "attachments"])
            case .ifttt: #expect(keys == ["value1", "value2", "value3"])
            case .grafana:
                #expect(keys == ["time", "tags", "text"])
                #expect(members["time"] == 0)
            case .ntfy: break
            }
        }
    }

    @Test("A chat gets the cards that come, the event goes to everybody")
    func usualTypes() {
        #expect(WebhookBody.Preset.allCases.allSatisfy { WebhookBody($0, language: .english).usualTypes == [.on] })
        #expect(WebhookBody.event.usualTypes == nil)
        #expect(WebhookBody.event.text(for: Self.event(.on)) == Self.event(.on).line)
    }

    @Test("A template of JSON has escaped texts in its strings, and values elsewhere", arguments: names)
    func json(name: String) throws {
        let body = try WebhookBody(
            template: #"{"who": "<{name}>", "name": {name}, "yen": {amount}, "all": {event}, "no": {state}}"# + "\n",
            language: .english)
        let event = Self.event(.on, name: name)
        let members = try Self.members(body, event)
        #expect(members["who"] == .string("<\(name)>"))
        #expect(members["name"] == .string(name))
        #expect(members["yen"] == 1230)
        #expect(members["all"] == event.event.json)
        #expect(members["no"] == .null)
    }

    @Test("A text has the values as they are")
    func text() throws {
        let body = try WebhookBody(template: "{card} ({tag}) {balance} {type}/{reader}: {text}", language: .japanese)
        let text = body.text(for: Self.event(.on, name: "花子"))
        #expect(
            text == "花子 (0114B34DAA012345) 1,230円 on/front \"door\": front \"door\": 花子（残高 1,230円）")
    }

    static let faults: [(String, WebhookBody.Fault)] = [
        ("", .empty), (" \n", .empty), ("{\"a\":\n\"{nmae}\"}", .unknownField("nmae", line: 2)),
        ("hello {Name}", .unknownField("Name", line: 1)),
    ]

    @Test("A template with a mistake is not used", arguments: faults)
    func mistakes(template: String, expected: WebhookBody.Fault) {
        #expect(throws: expected) { try WebhookBody(template: template, language: .english) }
    }

    @Test(
        "What begins as JSON must be JSON with values in its place",
        arguments: [#"{"a": <{name}>}"#, #"{"a": "{name}""#, #"{"a" {name}}"#, #"[{"a":1},]"#])
    func notJSON(template: String) {
        #expect {
            try WebhookBody(template: template, language: .english)
        } throws: { error in
            if case .notJSON? = error as? WebhookBody.Fault { true } else { false }
        }
    }

    @Test("The address of a chat, whose path is a secret, is nowhere in the name of its queue")
    func secretPath() {
        let url = "https://user:pw@hooks.example:8443/services/T0/SECRET?x=SECRET"
        for preset in WebhookBody.Preset.allCases {
            let name = WebhookSink(
                url, body: WebhookBody(preset, language: .english), secret: nil, agent: "kazasu"
            ).name
            #expect(name.hasPrefix("webhook:hooks.example:8443/"))
            #expect(!name.contains("SECRET") && !name.contains("T0") && !name.contains("pw"))
            let other = WebhookSink(
                url + "2", body: WebhookBody(preset, language: .english), secret: nil, agent: "kazasu"
            ).name
            #expect(other != name)
        }
        #expect(WebhookSink(url).name == "webhook:hooks.example:8443/services/T0/SECRET")
    }
}
