// SPDX-License-Identifier: Apache-2.0

/// A private key of one exchange, which evidence keeps. It prints, reflects and dumps as `Redacted`.
package struct OwnKey: Hashable, Sendable, CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The number, big-endian.
    package let bytes: [UInt8]

    package init(_ bytes: [UInt8]) { self.bytes = bytes }

    package var description: String { "Redacted" }
    package var debugDescription: String { "Redacted" }
    package var customMirror: Mirror { Mirror(self, children: []) }
}

/// A chip authentication that can be judged again without the chip.
package struct AgreementRecord: Hashable, Sendable {
    /// The name of the protocol, such as `ECDH-AES-128`.
    package let name: String
    /// The number of the chip's key, where it has one.
    package let keyID: [UInt8]?
    package let privateKey: OwnKey
    /// The first answer under the new keys, with its status word.
    package let answer: [UInt8]
    /// The counter that the answer's code covers.
    package let counter: UInt64

    package init(name: String, keyID: [UInt8]?, privateKey: OwnKey, answer: [UInt8], counter: UInt64) {
        (self.name, self.keyID, self.privateKey, self.answer, self.counter) = (name, keyID, privateKey, answer, counter)
    }
}

/// A PACE with chip-authentication mapping that can be judged again without the chip.
package struct MappingRecord: Hashable, Sendable {
    /// The name of the protocol, such as `ECDH-CAM-AES-128`.
    package let name: String
    /// The name of the curve, such as `brainpoolP256r1`.
    package let parameters: String
    /// The chip's nonce, decrypted.
    package let nonce: [UInt8]
    /// One's own keys of mapping and agreement.
    package let privateKeys: [OwnKey]
    /// The chip's keys of mapping and agreement.
    package let chipKeys: [[UInt8]]
    /// The object 8A; `nil` if the chip sent none.
    package let encryptedChipData: [UInt8]?

    package init(
        name: String, parameters: String, nonce: [UInt8], privateKeys: [OwnKey], chipKeys: [[UInt8]],
        encryptedChipData: [UInt8]?
    ) {
        (self.name, self.parameters, self.nonce) = (name, parameters, nonce)
        (self.privateKeys, self.chipKeys, self.encryptedChipData) = (privateKeys, chipKeys, encryptedChipData)
    }
}

/// What is kept of reading a passport so that the check of its chip can be replayed: the document `kazasu.passportEvidence/1`.
///
/// Only a signature convinces others: whoever holds the private keys could have made the other answers.
package struct PassportEvidence: Hashable, Sendable {
    /// The value of the document's `schema` member.
    package static let schema = "kazasu.passportEvidence/1"
    /// The longest byte string in it: a signature of RSA with 16,384 bits.
    private static let longestBytes = 2048

    /// When the passport was read, ISO 8601.
    package var readAt: String?
    /// How it was opened.
    package var access: PassportAccess?
    /// What replays the check.
    package var chip: ChipEvidence

    package init(readAt: String?, access: PassportAccess?, chip: ChipEvidence) {
        (self.readAt, self.access, self.chip) = (readAt, access, chip)
    }

    /// The document.
    package var json: JSONValue {
        var document = JSONObject([
            ("schema", .string(Self.schema)), ("readAt", .text(readAt)), ("access", access?.json ?? .null),
        ])
        if case .answered(let challenge, let signature)? = chip.active {
            document["activeAuthentication"] = [
                "challenge": .string(challenge.hexadecimal), "signature": .string(signature.hexadecimal),
                "provesToOthers": true,
            ]
        }
        if let record = chip.agreement {
            document["chipAuthentication"] = [
                "protocol": .string(record.name), "keyId": .text(record.keyID?.hexadecimal),
                "privateKey": .string(record.privateKey.bytes.hexadecimal),
                "answer": .string(record.answer.hexadecimal), "counter": .int(record.counter), "provesToOthers": false,
            ]
        }
        if let record = chip.mapping?.record ?? chip.mappingRecord {
            document["paceMapping"] = [
                "protocol": .string(record.name), "parameters": .string(record.parameters),
                "nonce": .string(record.nonce.hexadecimal),
                "privateKeys": .array(record.privateKeys.map { .string($0.bytes.hexadecimal) }),
                "chipKeys": .array(record.chipKeys.map { .string($0.hexadecimal) }),
                "encryptedChipData": .text(record.encryptedChipData?.hexadecimal), "provesToOthers": false,
            ]
        }
        return .object(document)
    }

    /// Reads the document.
    ///
    /// - Throws: ``DocumentError`` with the path of the faulty value.
    package init(json root: JSONCursor) throws(DocumentError) {
        let schema = try root.required("schema").text()
        guard schema == Self.schema else { throw .unknownSchema(found: schema, supported: Self.schema) }
        func bytes(_ value: JSONCursor) throws(DocumentError) -> [UInt8] {
            let bytes = try value.bytes()
            guard (1...Self.longestBytes).contains(bytes.count) else { throw value.malformed(.hex) }
            return bytes
        }
        readAt = try root.optional("readAt")?.text()
        access = try root.optional("access").map { access throws(DocumentError) in try PassportAccess(json: access) }
        chip = ChipEvidence()
        chip.isOffline = true
        if let active = try root.optional("activeAuthentication") {
            chip.active = .answered(
                challenge: try bytes(active.required("challenge")), signature: try bytes(active.required("signature")))
        }
        if let record = try root.optional("chipAuthentication") {
            chip.agreement = AgreementRecord(
                name: try record.required("protocol").text(),
                keyID: try record.optional("keyId").map { id throws(DocumentError) in try bytes(id) },
                privateKey: OwnKey(try bytes(record.required("privateKey"))),
                answer: try bytes(record.required("answer")),
                counter: UInt64(try record.required("counter").integer(in: 0...Int(Int32.max))))
        }
        if let record = try root.optional("paceMapping") {
            func pair(_ name: String) throws(DocumentError) -> [[UInt8]] {
                let list = try record.required(name)
                let elements = try list.elements()
                guard elements.count == 2 else { throw list.malformed(.array) }
                return [try bytes(elements[0]), try bytes(elements[1])]
            }
            chip.mappingRecord = MappingRecord(
                name: try record.required("protocol").text(), parameters: try record.required("parameters").text(),
                nonce: try bytes(record.required("nonce")), privateKeys: try pair("privateKeys").map { OwnKey($0) },
                chipKeys: try pair("chipKeys"),
                encryptedChipData: try record.optional("encryptedChipData").map { data throws(DocumentError) in
                    try bytes(data)
                })
        }
    }
}

extension PassportAccess {
    /// Reads `access` of documents.
    init(json: JSONCursor) throws(DocumentError) {
        func word<Word: RawRepresentable & CaseIterable>(
            _ value: JSONCursor, _ type: Word.Type
        ) throws(DocumentError) -> Word where Word.RawValue == String {
            guard let word = Word(rawValue: try value.text()) else {
                throw value.malformed(.oneOf, values: Word.allCases.map(\.rawValue))
            }
            return word
        }
        self.init(
            try word(json.required("by"), Way.self), variant: try json.optional("protocol")?.text(),
            parameters: try json.optional("parameters")?.text(),
            password: try json.optional("password").map { value throws(DocumentError) in
                try word(value, Password.self)
            })
    }
}
