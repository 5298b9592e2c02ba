// SPDX-License-Identifier: Apache-2.0

package import CardModel
internal import NIOHTTP1
internal import KazasuTaps

/// The paths of a server beside the methods, for its OpenAPI document.
package enum ServeDocument {
    /// Path items by their paths.
    package static func paths(_ language: Language, hasPage: Bool) -> JSONObject {
        var paths = JSONObject()
        let schemas = OpenAPISchemas()
        for path in all(schemas) where hasPage || path.path != "/" { paths[path.path] = path.item(language, schemas) }
        return paths
    }

    /// One path with its only method.
    private struct Path: Sendable {
        var path: String
        var verb = "get"
        var name: String
        var words: LocalizedText
        var parameters: [JSONValue] = []
        /// The content of the response, by its type.
        var content = JSONObject()
        var status = "200"
        /// Statuses beside those that everything has, with their schema.
        var others: [(status: String, schema: String)] = []
        var isOpen = false

        func item(_ language: Language, _ schemas: OpenAPISchemas) -> JSONValue {
            var success = JSONObject([("description", .string(words[language]))])
            if !content.members.isEmpty { success["content"] = .object(content) }
            var responses = JSONObject([(status, .object(success))])
            var failures: [HTTPResponseStatus] = [
                .badRequest, .forbidden, .requestTimeout, .payloadTooLarge, .misdirectedRequest,
                .requestHeaderFieldsTooLarge, .serviceUnavailable,
            ]
            if !isOpen || verb == "post" { failures.append(.unauthorized) }
            for failure in failures {
                guard let answer = FailureStatus.answers.first(where: { $0.status == failure }) else { continue }
                responses["\(failure.code)"] = ["$ref": .string("#/components/responses/\(answer.name)")]
            }
            for other in others {
                responses[other.status] = [
                    "description": .string(words[language]),
                    "content": ["application/json": ["schema": schemas.reference(toFile: other.schema)]],
                ]
            }
            var operation = JSONObject([
                ("operationId", .string(name)), ("summary", .string(words[language])),
            ])
            if isOpen { operation["security"] = [] }
            if !parameters.isEmpty { operation["parameters"] = .array(parameters) }
            operation["responses"] = .object(responses)
            return .object(JSONObject([(verb, .object(operation))]))
        }
    }

    private static func text(_ type: String) -> JSONObject { JSONObject([(type, ["schema": ["type": "string"]])]) }

    private static func all(_ schemas: OpenAPISchemas) -> [Path] {
        let (events, health) = (schemas.reference(toFile: "events"), schemas.reference(toFile: "health"))
        return [
            Path(
                path: "/v1/taps", name: "taps.stream",
                words: LocalizedText(
                    "Server-sent events: each card placed on or removed from a reader. Last-Event-ID resumes.",
                    "Server-sent events: カードが置かれる・離れるたびに送る。Last-Event-ID で続きから。"),
                parameters: [
                    ["name": "Last-Event-ID", "in": "header", "required": false, "schema": ["type": "string"]]
                ],
                content: text("text/event-stream")),
            Path(
                path: "/v1/events", name: "events.list",
                words: LocalizedText("Events that are stored, oldest first", "保存されたイベント（古い順）"),
                parameters: [
                    ["name": "after", "in": "query", "required": false, "schema": ["type": "string"]],
                    [
                        "name": "limit", "in": "query", "required": false,
                        "schema": ["type": "integer", "minimum": 1, "maximum": 1000, "default": 100],
                    ],
                ],
                content: JSONObject([
                    ("application/json", ["schema": events]),
                    ("application/x-ndjson", ["schema": ["type": "string"]]),
                ]), others: [("404", "error"), ("507", "error")]),
            Path(
                path: "/v1/rpc", name: "rpc.connect",
                words: LocalizedText("JSON-RPC 2.0 over WebSocket", "WebSocket で JSON-RPC 2.0"), status: "101",
                others: [("426", "error")]),
            Path(
                path: "/v1/session", verb: "post", name: "session.begin",
                words: LocalizedText(
                    "A cookie for the token, for browsers", "ブラウザー用に、トークンの代わりになるクッキーを返す"), status: "204", isOpen: true),
            Path(
                path: "/openapi.json", name: "openapi.get", words: LocalizedText("This document", "この文書"),
                content: JSONObject([("application/json", ["schema": ["type": "object"]])])),
            Path(
                path: "/healthz", name: "health.get",
                words: LocalizedText("Whether a reader is ready", "使えるリーダーがあるか"),
                content: JSONObject([("application/json", ["schema": health])]), others: [("503", "health")],
                isOpen: true),
            Path(
                path: "/metrics", name: "metrics.get",
                words: LocalizedText("Metrics for Prometheus", "Prometheus 用の統計"), content: text("text/plain")),
            Path(
                path: "/", name: "page.get", words: LocalizedText("The page for kiosks", "キオスク用のページ"),
                content: text("text/html"), isOpen: true),
            Path(
                path: "/kazasu.js", name: "script.get",
                words: LocalizedText("The JavaScript module", "JavaScript のモジュール"),
                content: text("text/javascript"), isOpen: true),
        ]
    }
}
