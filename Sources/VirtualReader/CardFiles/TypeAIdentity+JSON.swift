// SPDX-License-Identifier: Apache-2.0

internal import CardModel

extension TypeAIdentity {
    /// Reads `uid`, `atqa` and `sak`.
    init(json: JSONCursor, sak: UInt8) throws(DocumentError) {
        let uid = try json.required("uid")
        let atqa: NodeCode? = try json.optional("atqa")?.code()
        let sak = try json.optional("sak")?.bytes(count: 1).first ?? sak
        if uid.value == .string("random") {
            self = .random(atqa: atqa?.rawValue, sak: sak)
            return
        }
        let identity = TypeAIdentity(uid: try uid.bytes(), atqa: atqa?.rawValue, sak: sak)
        guard let identity else { throw uid.malformed("4, 7 or 10 bytes, or random") }
        self = identity
    }
}
