// SPDX-License-Identifier: Apache-2.0

package import CardModel
internal import NIOHTTP1

/// The methods of `serve` and `rpc` as documents for programs.
package struct ServiceDescription {
    private let methods: [ServiceMethod]
    private let version: String
    private let language: Language

    private static let place = "#/components/schemas/"
    private static let summary = LocalizedText(
        "Contactless cards: FeliCa, ISO 14443, NFC tags", "非接触カード: FeliCa、ISO 14443、NFC タグ")

    /// - Parameters:
    ///   - version: the program's.
    ///   - language: the language of the words.
    package init(_ methods: [ServiceMethod], version: String, language: Language) {
        (self.methods, self.version, self.language) = (methods, version, language)
    }

    // MARK: OpenRPC

    /// The document of OpenRPC 1.3.2 that `rpc --describe` prints.
    package var openRPC: JSONValue {
        [
            "openrpc": "1.3.2",
            "info": [
                "title": "Kazasu", "version": .string(version), "description": .string(Self.summary[language]),
                "license": ["name": "Apache-2.0"],
            ],
            "methods": .array(methods.map(method) + Self.connection.map(method)),
            "components": [
                "schemas": .object(ServiceSchemas.components(at: Self.place)),
                "errors": .object(JSONObject(errors.map { ($0.name, error($0)) })),
            ],
            // OpenRPC has no word for what the server sends by itself.
            "x-notifications": [
                [
                    "name": "tap", "summary": .string(Self.tap[language]),
                    "params": ServiceSchemas.reference("kazasu.tap/1", at: Self.place),
                ],
                [
                    "name": "progress", "summary": .string(Self.progress[language]),
                    "params": [
                        "type": "object",
                        "properties": [
                            "id": ["type": ["string", "integer"]], "done": ["type": "integer"],
                            "total": ["type": ["integer", "null"]],
                        ],
                        "required": ["id", "done", "total"],
                    ],
                ],
            ],
        ]
    }

    private static let tap = LocalizedText("A card came or left, or a reader changed.", "カードが置かれた・離れた、またはリーダーの状態が変わった。")
    private static let progress = LocalizedText(
        "How far the request with this id is; done grows, total is null while it is unknown.",
        "その id の要求の進み具合。done は増えていき、全体の量が不明な間 total は null。")

    /// The methods that a connection has beside those of the commands.
    private static let connection = [
        ServiceMethod(
            "initialize", nil,
            LocalizedText("Return the version, the methods and the readers.", "バージョン、メソッド、リーダーを答える。")),
        ServiceMethod(
            "taps.subscribe",
            parameters: tapParameters,
            LocalizedText(
                "Send a notification for each card placed on or removed from a reader.", "カードが置かれる・離れるたびに通知する。")),
        ServiceMethod("taps.unsubscribe", nil, LocalizedText("Stop sending them.", "通知をやめる。")),
    ]

    private static let source = "^(env|file|fd):.+$"

    /// The parameters of `taps.subscribe`.
    package static let tapParameters = [
        ServiceMethod.Parameter(
            "read", .text, values: ["id", "balance", "history"],
            LocalizedText("What to read from each card. Default: id.", "カードから読むもの。省略時は id。")),
        ServiceMethod.Parameter(
            "reader", .text,
            LocalizedText("Only this reader, by its name or ID. Default: all.", "このリーダーだけ（名前または ID）。省略時はすべて。")),
        ServiceMethod.Parameter(
            "only", .names, pattern: source,
            LocalizedText(
                "Names for cards: an object of names by IDm, UID or tag, or where a table of them is.",
                "カードの名前: IDm・UID・tag をキーとするオブジェクト、または表の場所。")),
        ServiceMethod.Parameter(
            "onlyKnown", .flag, LocalizedText("No events of other cards.", "ほかのカードのイベントを送らない。")),
        ServiceMethod.Parameter(
            "requireMac", .text, pattern: source,
            LocalizedText(
                "Only FeliCa Lite-S cards with this key (32 digits, or a master key of 48) get a tag.",
                "この鍵（16 進 32 桁、マスター鍵は 48 桁）を持つ FeliCa Lite-S だけに tag を付ける。")),
        ServiceMethod.Parameter(
            "phones", .flag,
            LocalizedText(
                "Poll for transit cards first and never for any card, which would open a phone's wallet.",
                "交通系を先に探し、スマートフォンのウォレットが開くワイルドカードでは探さない。")),
        ServiceMethod.Parameter(
            "wildcard", .flag,
            LocalizedText("With phones: poll for all FeliCa cards as well.", "phones でも、あらゆる FeliCa カードを探す。")),
        ServiceMethod.Parameter(
            "debounce", .number,
            LocalizedText(
                "Ignore a card that returns within so many seconds.", "この秒数以内に戻ったカードのイベントを出さない。")),
        ServiceMethod.Parameter(
            "idKey", .text, pattern: source,
            LocalizedText(
                "Replace card numbers by HMAC-SHA256 with this key.", "カード番号を、この鍵の HMAC-SHA256 に置き換える。")),
    ]

    private func method(_ method: ServiceMethod) -> JSONValue {
        var result: JSONValue = ["type": "null"]
        if let schema = method.schema {
            result = ServiceSchemas.reference(schema, at: Self.place)
            if let other = method.otherSchema {
                result = ["oneOf": [result, ServiceSchemas.reference(other, at: Self.place)]]
            }
        } else if method.name == "initialize" {
            result = Self.initialized
        } else if method.route != nil {
            result = Self.converted
        }
        return [
            "name": .string(method.name), "summary": .string(method.words[language]), "paramStructure": "by-name",
            "params": .array(
                method.parameters.map { parameter in
                    [
                        "name": .string(parameter.name), "summary": .string(parameter.words[language]),
                        "required": .bool(parameter.isRequired), "schema": schema(of: parameter, isLocal: true),
                    ]
                }), "result": ["name": "result", "schema": result],
            "errors": .array(errors.map { ["$ref": .string("#/components/errors/" + $0.name)] }),
        ]
    }

    private static let initialized: JSONValue = [
        "type": "object",
        "properties": [
            "name": ["type": "string"], "version": ["type": "string"], "protocol": ["const": 1],
            "methods": ["type": "array", "items": ["type": "string"]],
            "readers": ["$ref": "#/components/schemas/readers/properties/readers"],
        ], "required": ["name", "version", "protocol", "methods", "readers"],
    ]
    private static let converted: JSONValue = [
        "type": "object",
        "properties": [
            "format": ["type": "string"], "text": ["type": "string"],
            "base64": ["type": "string", "description": "In place of text, if the format is not text."],
        ], "required": ["format"],
    ]

    // MARK: OpenAPI

    /// The document of OpenAPI 3.1 that `/openapi.json` answers.
    ///
    /// - Parameter others: the paths of other things than methods.
    package func openAPI(_ others: JSONObject = JSONObject()) -> JSONValue {
        let schemas = OpenAPISchemas()
        var paths = JSONObject()
        for method in methods {
            guard let route = method.route else { continue }
            var path = if case .object(let known)? = paths[route.path] { known } else { JSONObject() }
            path[route.verb == .get ? "get" : "post"] = operation(method, route, schemas)
            paths[route.path] = .object(path)
        }
        paths.merge(others)
        var responses = JSONObject()
        for status in FailureStatus.answers {
            responses[status.name] = [
                "description": .string(status.words[language]),
                "content": ["application/json": ["schema": schemas.reference(toFile: "error")]],
            ]
        }
        let described: JSONValue = [.object(paths), .object(responses)]
        return [
            "openapi": "3.1.0",
            "info": [
                "title": "Kazasu", "version": .string(version), "summary": .string(Self.summary[language]),
                "license": ["name": "Apache-2.0", "identifier": "Apache-2.0"],
            ],
            "servers": [["url": "/"]],
            // A server without a token asks for none.
            "security": [[:], ["token": []]],
            "paths": .object(paths),
            "components": [
                "schemas": .object(schemas.components(of: described)), "responses": .object(responses),
                "securitySchemes": ["token": ["type": "http", "scheme": "bearer"]],
            ],
        ]
    }

    private func operation(
        _ method: ServiceMethod, _ route: ServiceMethod.Route, _ schemas: OpenAPISchemas
    ) -> JSONValue {
        var operation = JSONObject([
            ("operationId", .string(method.name)), ("summary", .string(method.words[language])),
        ])
        if let permission = method.permission {
            let words = LocalizedText(
                "The server needs --allow \(permission.rawValue).", "サーバーに --allow \(permission.rawValue) が必要です。")
            operation["description"] = .string(words[language])
        }
        let isQuery = route.verb == .get || method.takesDump
        if isQuery {
            operation["parameters"] = .array(
                method.parameters.filter { !ServiceMethod.dumpParameters.contains($0.name) }.map(query))
        }
        if method.takesDump {
            operation["requestBody"] = [
                "required": true,
                "content": ["application/octet-stream": ["schema": ["type": "string", "format": "binary"]]],
            ]
        } else if route.verb == .post {
            operation["requestBody"] = [
                "required": true,
                "content": [
                    "application/json": [
                        "schema": [
                            "type": "object",
                            "properties": .object(
                                JSONObject(
                                    method.parameters.map { ($0.name, described($0)) })),
                            "required": .array(
                                method.parameters.filter(\.isRequired).map { .string($0.name) }),
                            "additionalProperties": false,
                        ]
                    ]
                ],
            ]
        }
        var responses = JSONObject()
        let words = LocalizedText("The answer", "結果")
        let content: JSONValue =
            if let schema = method.schema {
                ["application/json": ["schema": schemas.reference(toFile: ServiceSchemas.file(of: schema))]]
            } else if !method.takesDump {
                ["text/html": ["schema": ["type": "string"]]]
            } else {
                [
                    "text/plain": ["schema": ["type": "string"]],
                    "application/octet-stream": ["schema": ["type": "string", "format": "binary"]],
                ]
            }
        responses["200"] = ["description": .string(words[language]), "content": content]
        for status in FailureStatus.answers {
            responses[String(status.status.code)] = ["$ref": .string("#/components/responses/" + status.name)]
        }
        operation["responses"] = .object(responses)
        return .object(operation)
    }

    private func query(_ parameter: ServiceMethod.Parameter) -> JSONValue {
        var query = JSONObject([
            ("name", .string(parameter.name)), ("in", "query"), ("description", .string(parameter.words[language])),
            ("required", .bool(parameter.isRequired)), ("schema", schema(of: parameter, isLocal: false)),
        ])
        if case .list = parameter.kind { (query["style"], query["explode"]) = ("form", false) }
        return .object(query)
    }

    private func described(_ parameter: ServiceMethod.Parameter) -> JSONValue {
        guard case .object(var schema) = schema(of: parameter, isLocal: false) else { return true }
        schema["description"] = .string(parameter.words[language])
        return .object(schema)
    }

    // MARK: Parts

    private func schema(of parameter: ServiceMethod.Parameter, isLocal: Bool) -> JSONValue {
        var text = JSONObject([("type", "string")])
        if !parameter.values.isEmpty {
            text["enum"] = .array(parameter.values.map { .string($0) })
        } else if let pattern = parameter.pattern {
            text["pattern"] = .string(pattern)
        }
        switch parameter.kind {
        case .text: return .object(text)
        case .integer:
            var number = JSONObject([("type", "integer")])
            number["minimum"] = parameter.bounds.map { .int($0.lowerBound) }
            if let most = parameter.bounds?.upperBound, most < .max { number["maximum"] = .int(most) }
            return .object(number)
        case .number:
            let number = JSONObject([("type", "number"), ("minimum", 0)])
            guard parameter.name == ServiceMethod.timeout else { return .object(number) }
            if isLocal { return ["anyOf": [.object(number), ["const": "forever"]]] }
            var limited = number
            limited["maximum"] = 60
            return .object(limited)
        case .flag: return ["type": "boolean"]
        case .list: return ["type": "array", "items": .object(text), "minItems": 1]
        case .names: return ["anyOf": [["type": "object", "additionalProperties": ["type": "string"]], .object(text)]]
        }
    }

    // MARK: Errors

    private typealias RPCFailure = (code: Int, name: String, words: LocalizedText)

    private var errors: [RPCFailure] { FailureStatus.all.compactMap(\.rpc) }

    private func error(_ failure: RPCFailure) -> JSONValue {
        var error = JSONObject([("code", .int(failure.code)), ("message", .string(failure.words[language]))])
        if failure.code != RPCError.cancelled.code {
            error["data"] = ServiceSchemas.reference("kazasu.error/1", at: Self.place)
        }
        return .object(error)
    }
}

extension ServiceMethod {
    /// The parameter that says how long to wait for a card.
    package static let timeout = "timeout"
    /// The parameters that hold a dump, which over HTTP is the body.
    package static let dumpParameters: Set<String> = ["text", "base64"]

    /// Whether it works with a dump that comes with the request.
    package var takesDump: Bool { Set(parameters.map(\.name)).isSuperset(of: Self.dumpParameters) }
}
