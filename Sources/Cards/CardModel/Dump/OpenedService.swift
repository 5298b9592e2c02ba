// SPDX-License-Identifier: Apache-2.0

internal import ByteCodec

/// The cipher of a FeliCa Standard's mutual authentication; raw values are those of `kazasu.dump/1`.
public enum StandardScheme: String, Hashable, Sendable, CaseIterable {
    /// DES with keys of 8 bytes.
    case des
    /// AES-128 with keys of 16 bytes.
    case aes
}

/// Why a service that needs a key was not opened; raw values are those of `kazasu.dump/1` and of errors.
@nonexhaustive
public enum KeyRefusal: String, Hashable, Sendable, CaseIterable {
    /// The card does not confirm the keys.
    case wrongKey
    /// The card has another version of a key; the keys were not used.
    case keyVersion
    /// The card did not confirm the same keys before; they were not used.
    case keyFailedBefore
    /// A key is missing; nothing was sent.
    case noKey
}

/// The numbers that a FeliCa system was issued with; it gives them only after its keys were proved.
public struct SystemIssue: Hashable, Sendable {
    /// The issue ID (IDi), 8 bytes.
    public let id: [UInt8]
    /// The issue parameter (PMi), 8 bytes.
    public let parameter: [UInt8]

    /// Makes the numbers of a system.
    ///
    /// - Returns: `nil` unless both have 8 bytes.
    public init?(id: [UInt8], parameter: [UInt8]) {
        guard id.count == 8, parameter.count == 8 else { return nil }
        (self.id, self.parameter) = (id, parameter)
    }

    /// The issue ID as in documents.
    package var idText: String { Hex.encode(id) }
    /// The issue parameter as in documents.
    package var parameterText: String { Hex.encode(parameter) }

    /// Zeros in place of both.
    package var masked: SystemIssue? {
        SystemIssue(id: [UInt8](repeating: 0, count: 8), parameter: [UInt8](repeating: 0, count: 8))
    }
}

extension SystemIssue {
    /// Takes `issueId` and `issueParameter` out of the members of a document.
    static func take(from members: inout JSONObject) -> SystemIssue? {
        func bytes(_ key: String) -> [UInt8]? { members[key]?.fromText { try? Hex.decode($0) } }
        guard let id = bytes("issueId"), let parameter = bytes("issueParameter"),
            let issue = SystemIssue(id: id, parameter: parameter)
        else { return nil }
        members = members.without(["issueId", "issueParameter"])
        return issue
    }

    func write(to object: inout JSONObject) {
        object["issueId"] = .string(idText)
        object["issueParameter"] = .string(parameterText)
    }
}
