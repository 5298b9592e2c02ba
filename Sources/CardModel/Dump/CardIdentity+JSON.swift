// SPDX-License-Identifier: Apache-2.0

internal import ByteCodec

extension CardIdentity {
    init(json: JSONCursor) throws(DocumentError) {
        let word = try json.required("technology")
        guard let technology = Technology(rawValue: try word.text()) else {
            throw word.malformed(Technology.allCases.map(\.rawValue).joined(separator: ", "))
        }
        var known: [StaticString] = ["technology", "bitRate"]
        self.init(technology: technology, bitRate: try json.optional("bitRate")?.integer(in: 0...10_000))
        // A member of another technology is one that this version does not know there.
        switch technology {
        case .felica:
            idm = try json.optional("idm")?.idm()
            pmm = try json.optional("pmm")?.pmm()
            known += ["idm", "pmm"]
        case .typeA:
            let code: NodeCode? = try json.optional("atqa")?.code()
            uid = try json.optional("uid")?.bytes()
            atqa = code?.rawValue
            sak = try json.optional("sak")?.bytes(count: 1).first
            ats = try json.optional("ats")?.bytes()
            known += ["uid", "atqa", "sak", "ats"]
        case .typeB:
            pupi = try json.optional("pupi")?.bytes(count: 4)
            applicationData = try json.optional("applicationData")?.bytes(count: 4)
            protocolInfo = try json.optional("protocolInfo")?.bytes()
            known += ["pupi", "applicationData", "protocolInfo"]
        }
        extra = try json.members(without: known)
    }

    /// `card` of the documents `kazasu.dump/1`, `kazasu.scan/1` and `kazasu.poll/1`.
    public var json: JSONValue {
        var object = JSONObject([("technology", .string(technology.rawValue))])
        object["idm"] = idm.map { .string($0.description) }
        object["pmm"] = pmm.map { .string($0.description) }
        object["uid"] = uid.map { .string(Hex.encode($0)) }
        object["atqa"] = atqa.map { .string(Hex.encode($0, digits: 4)) }
        object["sak"] = sak.map { .string(Hex.encode([$0])) }
        object["ats"] = ats.map { .string(Hex.encode($0)) }
        object["pupi"] = pupi.map { .string(Hex.encode($0)) }
        object["applicationData"] = applicationData.map { .string(Hex.encode($0)) }
        object["protocolInfo"] = protocolInfo.map { .string(Hex.encode($0)) }
        object["bitRate"] = bitRate.map { .int($0) }
        object.merge(extra)
        return .object(object)
    }
}
