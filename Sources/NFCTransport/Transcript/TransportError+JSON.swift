// SPDX-License-Identifier: Apache-2.0

internal import ByteCodec
internal import CardModel

extension TransportError {
    /// The members that stand for it in a line: its name as `error`, and what it carries.
    var json: JSONObject {
        switch self {
        case .noAnswer: named("noAnswer")
        case .corrupted(let status): named("corrupted", ("status", .string(Hex.encode([status]))))
        case .cardReleased: named("cardReleased")
        case .readerTimeout: named("readerTimeout")
        case .readerFailed(let detail): named("readerFailed", ("detail", .string(detail)))
        case .frameTooLong(let length, let limit):
            named("frameTooLong", ("length", .int(length)), ("limit", .int(limit)))
        case .answerTooLong: named("answerTooLong")
        case .readerUnavailable(let reason, let detail):
            named("readerUnavailable", ("reason", .string(reason.rawValue)), ("detail", .string(detail)))
        case .unsupported(let detail): named("unsupported", ("detail", .string(detail)))
        case .cancelled: named("cancelled")
        case .outOfScript(let detail): named("outOfScript", ("detail", .string(detail)))
        }
    }

    /// The error of a line, or `nil` when it has none.
    init?(json: JSONCursor) throws(DocumentError) {
        guard let name = try json.optional("error") else { return nil }
        switch try name.text() {
        case "noAnswer": self = .noAnswer
        case "corrupted":
            let status = try json.required("status")
            guard let byte = try status.bytes(count: 1).first else { throw status.malformed("two hexadecimal digits") }
            self = .corrupted(status: byte)
        case "cardReleased": self = .cardReleased
        case "readerTimeout": self = .readerTimeout
        case "readerFailed": self = .readerFailed(detail: try json.required("detail").text())
        case "frameTooLong":
            self = .frameTooLong(
                length: try json.required("length").integer(), limit: try json.required("limit").integer())
        case "answerTooLong": self = .answerTooLong
        case "readerUnavailable":
            let word = try json.required("reason")
            guard let reason = UnavailableReason(rawValue: try word.text()) else {
                throw word.malformed("absent, busy, permission or unsupported")
            }
            self = .readerUnavailable(reason: reason, detail: try json.required("detail").text())
        case "unsupported": self = .unsupported(detail: try json.required("detail").text())
        case "cancelled": self = .cancelled
        case "outOfScript": self = .outOfScript(detail: try json.required("detail").text())
        default: throw name.malformed("the name of an error")
        }
    }

    private func named(_ name: String, _ members: (String, JSONValue)...) -> JSONObject {
        JSONObject([("error", .string(name))] + members)
    }
}
