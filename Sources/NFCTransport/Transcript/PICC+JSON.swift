// SPDX-License-Identifier: Apache-2.0

internal import ByteCodec
internal import CardModel

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
