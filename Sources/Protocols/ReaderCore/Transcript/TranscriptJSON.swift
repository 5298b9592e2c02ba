// SPDX-License-Identifier: Apache-2.0

internal import ByteCodec
internal import CardModel

extension ActivationRequest {
    var json: JSONValue {
        switch self {
        case .felica(let system, let requestCode, let timeSlots, let bitRate):
            [
                "technology": "felica", "systemCode": .string(system.description), "requestCode": .int(requestCode),
                "timeSlots": .int(timeSlots), "bitRate": .int(bitRate.rawValue),
            ]
        case .typeA(let isoDEP): ["technology": "typeA", "isoDEP": .bool(isoDEP)]
        case .typeB(let family): ["technology": "typeB", "applicationFamily": .int(family)]
        }
    }

    init(json: JSONCursor) throws(DocumentError) {
        switch try json.technology() {
        case .felica:
            self = .felica(
                try json.required("systemCode").code(),
                requestCode: try json.optional("requestCode")?.byte() ?? 0,
                timeSlots: try json.optional("timeSlots")?.byte() ?? 0,
                bitRate: try json.required("bitRate").bitRate())
        case .typeA: self = .typeA(isoDEP: try json.optional("isoDEP")?.bool() ?? true)
        case .typeB: self = .typeB(applicationFamily: try json.optional("applicationFamily")?.byte() ?? 0)
        }
    }
}

extension PICC {
    var json: JSONValue {
        switch self {
        case .felica(let target):
            [
                "technology": "felica", "idm": .string(target.idm.description), "pmm": .string(target.pmm.description),
                "requestData": .text(target.requestData.map { Hex.encode($0, digits: 4) }),
                "bitRate": .int(target.bitRate.rawValue),
            ]
        case .typeA(let target):
            [
                "technology": "typeA", "uid": .string(Hex.encode(target.uid)),
                "atqa": .text(target.atqa.map { Hex.encode($0, digits: 4) }),
                "sak": .text(target.sak.map { Hex.encode([$0]) }), "ats": .text(target.ats.map { Hex.encode($0) }),
                "isoDEP": .bool(target.isISODEP),
            ]
        case .typeB(let target):
            [
                "technology": "typeB", "pupi": .text(target.pupi.map { Hex.encode($0) }),
                "applicationData": .text(target.applicationData.map { Hex.encode($0) }),
                "protocolInfo": .text(target.protocolInfo.map { Hex.encode($0) }),
            ]
        }
    }

    init(json: JSONCursor) throws(DocumentError) {
        switch try json.technology() {
        case .felica:
            let data: NodeCode? = try json.optional("requestData")?.code()
            self = .felica(
                FeliCaTarget(
                    idm: try json.required("idm").idm(), pmm: try json.required("pmm").pmm(),
                    requestData: data?.rawValue, bitRate: try json.required("bitRate").bitRate()))
        case .typeA:
            let atqa: NodeCode? = try json.optional("atqa")?.code()
            self = .typeA(
                TypeATarget(
                    uid: try json.required("uid").bytes(), atqa: atqa?.rawValue,
                    sak: try json.optional("sak")?.bytes(count: 1).first, ats: try json.optional("ats")?.bytes(),
                    isISODEP: try json.required("isoDEP").bool()))
        case .typeB:
            self = .typeB(
                TypeBTarget(
                    pupi: try json.optional("pupi")?.bytes(count: 4),
                    applicationData: try json.optional("applicationData")?.bytes(count: 4),
                    protocolInfo: try json.optional("protocolInfo")?.bytes()))
        }
    }
}

extension TransportError {
    /// The members that represent it in a line: its name as `error`, and its values.
    var json: JSONObject {
        switch self {
        case .noAnswer: named("noAnswer")
        case .corrupted(let status): named("corrupted", ("status", .string(Hex.encode([status]))))
        case .heard(let heard): named("heard", ("heard", .string(heard.text)))
        case .cardReleased: named("cardReleased")
        case .readerTimeout: named("readerTimeout")
        case .readerFailed(let detail): named("readerFailed", detail: detail)
        case .frameTooLong(let length, let limit):
            named("frameTooLong", ("length", .int(length)), ("limit", .int(limit)))
        case .answerTooLong: named("answerTooLong")
        case .cardTooSlow: named("cardTooSlow")
        case .readerUnavailable(let reason, let detail):
            named("readerUnavailable", ("reason", .string(reason.rawValue)), detail: detail)
        case .unsupported(let detail): named("unsupported", detail: detail)
        case .cancelled: named("cancelled")
        case .outOfScript(let detail): named("outOfScript", detail: detail)
        }
    }

    /// Reads the error of a line; `nil` if it has none.
    init?(json: JSONCursor) throws(DocumentError) {
        guard let name = try json.optional("error") else { return nil }
        switch try name.text() {
        case "noAnswer": self = .noAnswer
        case "corrupted":
            let status = try json.required("status")
            guard let byte = try status.bytes(count: 1).first else { throw status.malformed(.hexDigits, "2") }
            self = .corrupted(status: byte)
        case "heard":
            let text = try json.required("heard")
            guard let heard = Heard(text: try text.text()) else { throw text.malformed(.errorName) }
            self = .heard(heard)
        case "cardReleased": self = .cardReleased
        case "readerTimeout": self = .readerTimeout
        case "readerFailed": self = .readerFailed(detail: try Reason(json: json))
        case "frameTooLong":
            self = .frameTooLong(
                length: try json.required("length").integer(), limit: try json.required("limit").integer())
        case "answerTooLong": self = .answerTooLong
        case "cardTooSlow": self = .cardTooSlow
        case "readerUnavailable":
            let word = try json.required("reason")
            guard let reason = UnavailableReason(rawValue: try word.text()) else {
                throw word.malformed(.oneOf, "absent", "busy", "permission", "unsupported")
            }
            self = .readerUnavailable(reason: reason, detail: try Reason(json: json))
        case "unsupported": self = .unsupported(detail: try Reason(json: json))
        case "cancelled": self = .cancelled
        case "outOfScript": self = .outOfScript(detail: try Reason(json: json))
        default: throw name.malformed(.errorName)
        }
    }

    private func named(_ name: String, _ members: (String, JSONValue)..., detail: Reason? = nil) -> JSONObject {
        JSONObject([("error", .string(name))] + members + (detail?.members ?? []))
    }
}

extension JSONCursor {
    /// Returns the bit rate for a number of kilobits per second.
    func bitRate() throws(DocumentError) -> FeliCaBitRate {
        guard let rate = FeliCaBitRate(rawValue: try integer()) else { throw malformed(.oneOf, "212", "424") }
        return rate
    }

    /// Returns a number from 0 to 255.
    func byte() throws(DocumentError) -> UInt8 {
        UInt8(clamping: try integer(in: 0...255))
    }

    /// Returns a duration of at most some 31 years.
    func milliseconds() throws(DocumentError) -> Duration {
        let milliseconds: Double? =
            switch value {
            case .integer(let number): Double(number)
            case .number(let number): number
            default: nil
            }
        guard let milliseconds, milliseconds >= 0, milliseconds < 1e12 else { throw malformed(.milliseconds) }
        return .microseconds(Int64((milliseconds * 1000).rounded()))
    }

    /// Returns the member `technology`.
    func technology() throws(DocumentError) -> Technology {
        let word = try required("technology")
        guard let technology = Technology(rawValue: try word.text()) else {
            throw word.malformed(.oneOf, values: Technology.allCases.map(\.rawValue))
        }
        return technology
    }
}

extension JSONValue {
    /// Returns a duration in milliseconds, to the microsecond; whole milliseconds without a point, negative ones as 0.
    static func milliseconds(_ duration: Duration) -> JSONValue {
        let microseconds = duration.count(of: .microseconds(1))
        return microseconds % 1000 == 0 ? .int(microseconds / 1000) : .number(Double(microseconds) / 1000)
    }
}

extension TransportError.Reason {
    /// Its members in a line: `detail` is the code, `values` its values. External text is `detail` itself.
    fileprivate var members: [(String, JSONValue)] {
        guard code != .text else { return [("detail", .string(values.first ?? ""))] }
        return [("detail", .string(code.rawValue))]
            + (values.isEmpty ? [] : [("values", .array(values.map { .string($0) }))])
            + (reader.map { [("of", .string($0))] } ?? [])
    }

    fileprivate init(json: JSONCursor) throws(DocumentError) {
        let word = try json.required("detail").text()
        guard let code = Code(rawValue: word) else {
            self.init(.text, word)
            return
        }
        self.init(
            code,
            values: try json.optional("values")?.list { value throws(DocumentError) in try value.text() } ?? [],
            reader: try json.optional("of")?.text())
    }
}
