// SPDX-License-Identifier: Apache-2.0

internal import ByteCodec
internal import CardModel
internal import FoundationEssentials
internal import NIOCore
internal import NIOHTTP1

/// The parameters in the query of a request, by their kinds.
struct ServeQuery {
    var params = JSONObject()

    /// - Parameter known: the parameters that there are.
    /// - Throws: for an unknown parameter, one that is given twice, or a value of another kind.
    init(_ query: String?, _ known: [(name: String, kind: ServiceMethod.Parameter.Kind)]) throws(ServeError) {
        for item in (query ?? "").split(separator: "&") {
            let parts = item.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard let name = parts.first.flatMap(Self.decoded), parts.count < 2 || Self.decoded(parts[1]) != nil else {
                throw .badRequest(LocalizedText("the query is not valid", "クエリーの形式が正しくありません"))
            }
            guard let parameter = known.first(where: { $0.name == name }) else {
                throw .unknownParameter(Self.shown(name), among: known.map(\.name))
            }
            guard params[name] == nil else {
                throw .badParameter(name, LocalizedText("it is given twice", "重複しています"))
            }
            params[name] = try Self.value(parts.count < 2 ? nil : Self.decoded(parts[1]), name, parameter.kind)
        }
    }

    private static func value(
        _ text: String?, _ name: String, _ kind: ServiceMethod.Parameter.Kind
    ) throws(ServeError) -> JSONValue {
        switch kind {
        case .text, .names: return .string(text ?? "")
        case .integer:
            guard let text, let number = Int64(text) else {
                throw .badParameter(name, LocalizedText("it must be an integer", "整数を指定してください"))
            }
            return .integer(number)
        case .number:
            guard let text, let number = Double(text), number.isFinite else {
                throw .badParameter(name, LocalizedText("it must be a number", "数を指定してください"))
            }
            return Int64(text).map { .integer($0) } ?? .number(number)
        case .flag:
            switch text {
            case nil, "true": return true
            case "false": return false
            default: throw .badParameter(name, LocalizedText("it must be true or false", "true か false を指定してください"))
            }
        case .list:
            let words = (text ?? "").split(separator: ",", omittingEmptySubsequences: false)
            return .array(words.map { .string(String($0)) })
        }
    }

    /// Decodes `%41` and `+`; `nil` if it is not UTF-8 or a `%` has no two digits after it.
    private static func decoded(_ text: Substring) -> String? {
        var (bytes, rest): ([UInt8], Substring.UTF8View) = ([], text.utf8)
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "%") else {
                bytes.append(byte == UInt8(ascii: "+") ? UInt8(ascii: " ") : byte)
                continue
            }
            guard let high = rest.popFirst().flatMap(Hex.value), let low = rest.popFirst().flatMap(Hex.value) else {
                return nil
            }
            bytes.append(high << 4 | low)
        }
        return String(validating: bytes, as: UTF8.self)
    }

    /// A name that came over the network, in a message: short, without what a terminal would obey.
    private static func shown(_ name: String) -> String {
        let shown = name.unicodeScalars.filter { $0.isASCII && $0.value >= 32 && $0.value != 127 }
        return String(shown.map(Character.init).prefix(40))
    }
}

/// Turns requests into the parameters of methods, and their results into responses.
enum ServeParameters {
    static func params(of method: ServiceMethod, _ request: HTTPRequest) throws(ServeError) -> JSONObject {
        let known = method.parameters.map { (name: $0.name, kind: $0.kind) }
        guard method.route?.verb == .post else { return try ServeQuery(request.head.query, known).params }
        if method.takesDump {
            var params = try ServeQuery(
                request.head.query, known.filter { !ServiceMethod.dumpParameters.contains($0.name) }
            ).params
            let bytes = Array(request.body.readableBytesView)
            if let whole = String(validating: bytes, as: UTF8.self) {
                params["text"] = .string(whole)
            } else {
                params["base64"] = .string(Data(bytes).base64EncodedString())
            }
            return params
        }
        _ = try ServeQuery(request.head.query, [])
        guard request.body.readableBytes > 0 else { return JSONObject() }
        guard let value = try? JSONValue(parsing: Array(request.body.readableBytesView)) else {
            throw .badRequest(LocalizedText("the body is not JSON", "本文が JSON ではありません"))
        }
        guard case .object(let params) = value else {
            throw .badRequest(LocalizedText("the body must be a JSON object", "本文は JSON のオブジェクトにしてください"))
        }
        return params
    }

    static func response(_ result: JSONValue, to method: ServiceMethod) -> HTTPResponse {
        guard method.schema == nil, case .object(let members) = result else { return HTTPResponse(json: result) }
        if case .string(let text)? = members["text"] {
            guard !method.takesDump else { return HTTPResponse(text: text) }
            // A page without scripts, which brings its own style and images.
            return HTTPResponse(text: text, type: "text/html; charset=utf-8")
                .with(
                    "Content-Security-Policy",
                    "default-src 'none'; style-src 'unsafe-inline'; img-src data:; frame-ancestors 'none'")
        }
        guard case .string(let encoded)? = members["base64"], let data = Data(base64Encoded: encoded) else {
            return HTTPResponse(json: result)
        }
        return HTTPResponse(.ok, "application/octet-stream", ByteBuffer(bytes: data))
    }
}
