// SPDX-License-Identifier: Apache-2.0

internal import CardModel

extension VirtualPIN {
    private static let keys: Set<String> = [
        "id", "reference", "text", "value", "tries", "left", "lockedStatus", "tellsTries", "comment",
    ]

    /// Reads one element of `pins`.
    init(name: String, json: JSONCursor) throws(DocumentError) {
        try json.allowOnly(VirtualPIN.keys)
        let value: [UInt8]
        if let text = try json.optional("text") {
            value = Array(try text.text().utf8)
        } else {
            value = try json.required("value").bytes()
        }
        guard (1...64).contains(value.count) else { throw json.malformed("a PIN of 1 to 64 bytes") }
        let tries = try json.optional("tries")?.integer(in: 1...15) ?? 3
        let locked: FileIdentifier? = try json.optional("lockedStatus")?.code()
        self.init(
            name: name, id: try json.optional("id")?.code(),
            reference: try json.optional("reference")?.bytes(count: 1).first, value: value, tries: tries,
            triesLeft: try json.optional("left")?.integer(in: 0...15), lockedStatus: locked?.rawValue ?? 0x6983,
            tellsTries: try json.optional("tellsTries")?.bool() ?? true)
    }
}
