// SPDX-License-Identifier: Apache-2.0

internal import CardModel
internal import Kazasu
internal import NIOHTTP1

/// What a failure is over HTTP and in JSON-RPC. Answers, OpenAPI and OpenRPC follow from this table.
struct FailureStatus: Sendable {
    /// The exit status that the command would have; `nil` for a failure before any command.
    private(set) var exit: ExitStatus?
    /// `nil` for one that has the status of another row, or none.
    private(set) var http: (status: HTTPResponseStatus, name: String, words: LocalizedText)?
    /// `nil` for one that only HTTP has.
    private(set) var rpc: (code: Int, name: String, words: LocalizedText)?

    /// The failures of commands.
    ///
    /// - Parameter http: the name and the words over HTTP, where they differ.
    private init(
        _ exit: ExitStatus, _ status: HTTPResponseStatus, _ words: LocalizedText,
        http: (name: String, words: LocalizedText)? = nil
    ) {
        self.exit = exit
        self.http = (status, http?.name ?? "\(exit)", http?.words ?? words)
        rpc = (-32_000 - Int(exit.rawValue), "\(exit)", words)
    }

    private init(_ status: HTTPResponseStatus, _ name: String, _ words: LocalizedText) { http = (status, name, words) }

    private init(_ error: RPCError, _ name: String, _ words: LocalizedText) { rpc = (error.code, name, words) }

    static let all = [
        FailureStatus(.invalidParams, "badParameters", LocalizedText("Bad parameters", "パラメーターの誤り")),
        FailureStatus(.cancelled, "cancelled", LocalizedText("Cancelled", "取り消し")),
        FailureStatus(
            .usage, .badRequest, LocalizedText("Unknown reader, or a missing PIN", "不明なリーダー、暗証番号の不足"),
            http: ("badRequest", LocalizedText("A parameter is wrong", "パラメーターの誤り"))),
        FailureStatus(
            .badFile, .unprocessableEntity, LocalizedText("Malformed dump", "ダンプの内容が正しくない"),
            http: ("badDump", LocalizedText("The dump is malformed", "ダンプの内容が正しくない"))),
        FailureStatus(
            .missingFile, .notFound, LocalizedText("Missing file", "ファイルがない"),
            http: ("notFound", LocalizedText("Nothing at this path", "見つからない"))),
        FailureStatus(
            .noReader, .serviceUnavailable, LocalizedText("No usable reader", "使えるリーダーがない"),
            http: (
                "noReader", LocalizedText("No usable reader, or too many connections", "使えるリーダーがない、または接続が多すぎる")
            )),
        FailureStatus(.bug, .internalServerError, LocalizedText("A bug in Kazasu", "Kazasu の不具合")),
        FailureStatus(
            .cannotWrite, .insufficientStorage, LocalizedText("A file cannot be written", "ファイルに書けない")),
        FailureStatus(
            .interruptedReading, .badGateway,
            LocalizedText("The card left, or the radio failed", "カードが離れた、または通信に失敗した"),
            http: (
                "interrupted", LocalizedText("The card left, or the radio failed", "カードが離れた、または通信に失敗した")
            )),
        FailureStatus(
            .noCard, .gatewayTimeout, LocalizedText("No card came in time", "時間内にカードが来なかった")),
        FailureStatus(.otherCard, .conflict, LocalizedText("Another kind of card", "別の種類のカード")),
        FailureStatus(
            .refused, .forbidden, LocalizedText("Refused", "拒否された"),
            http: ("refused", LocalizedText("The card, or the server, refused", "カードまたはサーバーに拒否された"))),
        FailureStatus(
            .unauthorized, "noToken", LocalizedText("The token is missing or wrong", "トークンがない、または正しくない")),
        FailureStatus(
            .requestTimeout, "tooSlow", LocalizedText("The request took too long to arrive", "要求が時間内に届かなかった")),
        FailureStatus(.payloadTooLarge, "tooLarge", LocalizedText("The body is too long", "本文が長すぎる")),
        FailureStatus(
            .misdirectedRequest, "wrongHost",
            LocalizedText("The Host is not one of the server's", "Host がこのサーバーのものではない")),
        FailureStatus(
            .requestHeaderFieldsTooLarge, "headersTooLarge", LocalizedText("The headers are too long", "ヘッダーが長すぎる")),
    ]

    /// The answers over HTTP, by their statuses.
    static let answers = all.compactMap(\.http).sorted { $0.status.code < $1.status.code }

    /// The status of an answer for the exit status that the command would have.
    static func http(of exit: ExitStatus) -> HTTPResponseStatus {
        all.first { $0.exit == exit }?.http?.status ?? .internalServerError
    }

    /// The code of JSON-RPC for it.
    static func rpc(of exit: ExitStatus) -> Int {
        all.first { $0.exit == exit }?.rpc?.code ?? -32_000 - Int(exit.rawValue)
    }
}
