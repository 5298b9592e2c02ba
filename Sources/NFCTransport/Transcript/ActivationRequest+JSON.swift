// SPDX-License-Identifier: Apache-2.0

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
