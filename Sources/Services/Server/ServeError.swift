// SPDX-License-Identifier: Apache-2.0

internal import CardModel
internal import Kazasu
internal import NIOHTTP1

/// Why a request was refused before any command saw it.
package struct ServeError: Error, Sendable {
    var status: HTTPResponseStatus
    /// The exit status and the reason of `kazasu.error/1`.
    var exit: ExitStatus
    var reason: String
    var message: LocalizedText
    var hint: LocalizedText?
    /// Headers that belong to the status.
    var headers: [(String, String)] = []

    private init(
        _ status: HTTPResponseStatus, _ exit: ExitStatus, _ reason: String, _ message: LocalizedText,
        hint: LocalizedText? = nil, headers: [(String, String)] = []
    ) {
        (self.status, self.exit, self.reason) = (status, exit, reason)
        (self.message, self.hint, self.headers) = (message, hint, headers)
    }

    /// The response with the document `kazasu.error/1`.
    func response(in language: Language) -> HTTPResponse {
        headers.reduce(HTTPResponse(status, json: .object(document(in: language)))) { $0.with($1.0, $1.1) }
    }

    /// The document `kazasu.error/1`.
    func document(in language: Language) -> JSONObject {
        JSONObject([
            ("schema", "kazasu.error/1"), ("status", .int(exit.rawValue)), ("reason", .string(reason)),
            ("message", .string(message[language])), ("hint", .text(hint?[language])),
        ])
    }

    /// Whether the request may have been meant for another server, so that nothing more is read from its connection.
    var isAboutHost: Bool { [.badRequest, .misdirectedRequest].contains(status) }

    // MARK: Who may ask

    static let noHost = ServeError(
        .badRequest, .usage, "usage", LocalizedText("the request needs one Host", "Host ヘッダーが 1 つ必要です"))

    static let wrongHost = ServeError(
        .misdirectedRequest, .usage, "wrongHost",
        LocalizedText("this server does not have that host name", "このサーバーのホスト名ではありません"),
        hint: LocalizedText(
            "use the address that it prints, or start it with --host", "表示されたアドレスを使うか、--host を付けて起動してください"))

    static let wrongOrigin = ServeError(
        .forbidden, .refused, "wrongOrigin",
        LocalizedText("pages of this origin may not use the readers", "このオリジンのページからは利用できません"),
        hint: LocalizedText("--allow-origin allows it", "--allow-origin で許可できます"))

    static let noToken = ServeError(
        .unauthorized, .refused, "noToken",
        LocalizedText("the token is missing or wrong", "トークンがないか、正しくありません"),
        hint: LocalizedText(
            "send the header 'Authorization: Bearer TOKEN'", "ヘッダー 'Authorization: Bearer トークン' を付けてください"),
        headers: [("WWW-Authenticate", "Bearer")])

    static func notAllowed(_ permission: ServiceMethod.Permission) -> ServeError {
        ServeError(
            .forbidden, .refused, "notAllowed",
            LocalizedText("the server does not allow this", "サーバーで許可されていません"),
            hint: LocalizedText(
                "start it with --allow \(permission.rawValue)", "--allow \(permission.rawValue) を付けて起動してください"))
    }

    // MARK: What is asked

    static let unknownPath = ServeError(
        .notFound, .usage, "unknownPath", LocalizedText("there is nothing at this path", "このパスには何もありません"),
        hint: LocalizedText("/openapi.json lists the paths", "パスの一覧は /openapi.json にあります"))

    static func wrongMethod(allowed: [String]) -> ServeError {
        ServeError(
            .methodNotAllowed, .usage, "wrongMethod",
            LocalizedText("this path does not have that method", "このパスではそのメソッドを使えません"),
            headers: [("Allow", allowed.joined(separator: ", "))])
    }

    static func badRequest(_ message: LocalizedText, hint: LocalizedText? = nil) -> ServeError {
        ServeError(.badRequest, .usage, "usage", message, hint: hint)
    }

    static func unknownParameter(_ name: String, among names: [String]) -> ServeError {
        let known = names.joined(separator: ", ")
        return badRequest(
            LocalizedText("unknown parameter '\(name)'", "'\(name)' というパラメーターはありません"),
            hint: names.isEmpty
                ? LocalizedText("this path has no parameters", "このパスにパラメーターはありません")
                : LocalizedText("the parameters are \(known)", "パラメーター: \(known)"))
    }

    static func badParameter(_ name: String, _ words: LocalizedText) -> ServeError {
        badRequest(LocalizedText("\(name): \(words.english)", "\(name): \(words.japanese)"))
    }

    /// Which cards there are and what is read from them is the server's to decide.
    static func decidedByServer(_ name: String) -> ServeError {
        badRequest(
            LocalizedText("\(name) is the same for all clients of a server", "\(name) はサーバーの全クライアントに共通です"),
            hint: LocalizedText("the server is started with it", "サーバーの起動時に指定します"))
    }

    static let unknownEvent = ServeError(
        .notFound, .missingFile, "unknownEvent",
        LocalizedText("no event with this id is stored", "この id のイベントは保存されていません"),
        hint: LocalizedText("leave out 'after' for all events", "'after' を省くとすべてのイベントを返します"))

    static let noOutbox = ServeError(
        .internalServerError, .bug, "bug", LocalizedText("events are not stored", "イベントが保存されていません"))

    static let outboxFailed = ServeError(
        .insufficientStorage, .cannotWrite, "cannotWrite", LocalizedText("the outbox cannot be read", "outbox を読めません"))

    static let needsWebSocket = ServeError(
        .upgradeRequired, .usage, "usage", LocalizedText("this path is for WebSocket only", "このパスは WebSocket 専用です"),
        headers: [("Upgrade", "websocket"), ("Connection", "Upgrade")])

    static let badWebSocketVersion = ServeError(
        .upgradeRequired, .usage, "usage",
        LocalizedText("only version 13 of WebSocket is supported", "対応する WebSocket は版 13 のみです"),
        headers: [("Upgrade", "websocket"), ("Connection", "Upgrade"), ("Sec-WebSocket-Version", "13")])

    /// The client went away, or the server stops.
    static let cancelled = ServeError(
        .serviceUnavailable, .noReader, "busy", LocalizedText("the request was cancelled", "要求は取り消されました"))

    // MARK: How it arrived

    static let malformed = ServeError(
        .badRequest, .usage, "usage", LocalizedText("this is not a valid request", "HTTP の要求として正しくありません"))

    static let headersTooLarge = ServeError(
        .requestHeaderFieldsTooLarge, .usage, "tooLarge", LocalizedText("the headers are too long", "ヘッダーが長すぎます"))

    static let bodyTooLarge = ServeError(
        .payloadTooLarge, .usage, "tooLarge", LocalizedText("the body is too long", "本文が長すぎます"))

    static let tooSlow = ServeError(
        .requestTimeout, .usage, "tooSlow",
        LocalizedText("the request did not arrive in time", "要求が時間内に届きませんでした"))

    static let tooManyConnections = ServeError(
        .serviceUnavailable, .noReader, "busy", LocalizedText("too many connections are open", "接続数が上限に達しています"),
        hint: LocalizedText("--connections allows more", "--connections で上限を変えられます"),
        headers: [("Retry-After", "5")])

    /// Of one connection.
    static let tooManyRequests = ServeError(
        .serviceUnavailable, .noReader, "busy",
        LocalizedText(
            "\(RPCSession.mostOpen) requests of this connection are not answered yet",
            "この接続には未応答の要求が \(RPCSession.mostOpen) 件あります"),
        hint: LocalizedText("wait for answers before you send more", "応答を待ってから次の要求を送ってください"))

    static let tooManyBodies = ServeError(
        .serviceUnavailable, .noReader, "busy",
        LocalizedText("other large requests are being answered", "ほかの大きな要求を処理しています"),
        hint: LocalizedText("send it again later", "しばらくしてからもう一度送ってください"), headers: [("Retry-After", "5")])

    static let unknownExpectation = ServeError(
        .expectationFailed, .usage, "usage",
        LocalizedText("only 'Expect: 100-continue' is supported", "対応する Expect は 100-continue のみです"))

    static let unknownCoding = ServeError(
        .notImplemented, .usage, "usage",
        LocalizedText("only the transfer coding 'chunked' is supported", "対応する転送符号化は chunked のみです"))

    static let unknownVersion = ServeError(
        .httpVersionNotSupported, .usage, "usage",
        LocalizedText("only HTTP/1.1 and HTTP/1.0 are supported", "対応する版は HTTP/1.1 と HTTP/1.0 のみです"))
}
