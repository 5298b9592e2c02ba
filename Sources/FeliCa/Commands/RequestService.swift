// SPDX-License-Identifier: Apache-2.0

internal import ByteCodec
package import CardModel

/// Request Service (02): which of these nodes are there, and what are their key versions?
///
/// At most 32 nodes. IC 24 keeps silent when one node has an attribute that it does not know.
package struct RequestService: FeliCaCommand, Hashable, Sendable {
    /// `02`.
    package static let code = CommandCode.requestService
    /// How many nodes one command may ask for.
    package static let allowedNodes = 1...32

    /// The nodes; ``CardModel/NodeCode/system`` is the system itself.
    package var nodes: [NodeCode]

    /// A question about these nodes.
    package init(_ nodes: [NodeCode]) {
        self.nodes = nodes
    }

    /// Between 1 and 32 nodes.
    package func validate() throws(FeliCaError) {
        try nodes.validateCount(.nodes, Self.allowedNodes)
    }

    /// The count and the nodes.
    package var parameters: [UInt8] { nodes.countedWireBytes }

    /// The key version of each node in the order asked; `nil` for a node that is not there.
    package func parse(_ answer: inout AnswerReader) throws(FeliCaError) -> [KeyVersion?] {
        try answer.expectCount(nodes.count)
        return try answer.list(nodes.count) { (answer) throws(FeliCaError) in try answer.keyVersion() }
    }

    /// The variable class, one unit a node.
    package func maximumTime(_ times: ResponseTime) -> Duration {
        times.maximum(.variable, units: nodes.count)
    }
}

extension FeliCaSystem {
    /// Asks for the key versions of 1 to 32 nodes; `nil` for a node that is not there.
    ///
    /// - Throws: ``FeliCaError``.
    package func requestService(_ nodes: [NodeCode]) throws(FeliCaError) -> [KeyVersion?] {
        try send(RequestService(nodes))
    }
}

/// Request Service v2 (32): like Request Service, with AES and DES key versions apart.
package struct RequestServiceV2: FeliCaCommand, Hashable, Sendable {
    /// `32`.
    package static let code = CommandCode.requestServiceV2

    /// The nodes, 1 to 32.
    package var nodes: [NodeCode]

    /// A question about these nodes.
    package init(_ nodes: [NodeCode]) {
        self.nodes = nodes
    }

    /// Between 1 and 32 nodes.
    package func validate() throws(FeliCaError) {
        try nodes.validateCount(.nodes, RequestService.allowedNodes)
    }

    /// The count and the nodes.
    package var parameters: [UInt8] { nodes.countedWireBytes }

    /// The encryption identifier and one or two lists; where the identifier does not say how many lists follow, the
    /// length does.
    package func parse(_ answer: inout AnswerReader) throws(FeliCaError) -> ServiceVersions {
        try answer.expectSuccess()
        let encryption = EncryptionIdentifier(rawValue: try answer.uint8())
        try answer.expectCount(nodes.count)
        let first = try answer.list(nodes.count) { (answer) throws(FeliCaError) in try answer.keyVersion() }
        let hasSecond = encryption.listCount.map { $0 == 2 } ?? (answer.remaining > 0)
        guard hasSecond else { return ServiceVersions(encryption: encryption, first: first, second: nil) }
        let second = try answer.list(nodes.count) { (answer) throws(FeliCaError) in try answer.keyVersion() }
        return ServiceVersions(encryption: encryption, first: first, second: second)
    }

    /// The variable class, one unit a node.
    package func maximumTime(_ times: ResponseTime) -> Duration {
        times.maximum(.variable, units: nodes.count)
    }
}

extension FeliCaSystem {
    /// Asks for the AES and DES key versions of 1 to 32 nodes.
    ///
    /// - Throws: ``FeliCaError``.
    package func requestServiceV2(_ nodes: [NodeCode]) throws(FeliCaError) -> ServiceVersions {
        try send(RequestServiceV2(nodes))
    }
}

/// The answer to Request Service v2.
package struct ServiceVersions: Hashable, Sendable {
    /// Which kinds of keys the system has.
    package let encryption: EncryptionIdentifier
    /// The first list, in the order asked; `nil` for a node that is not there or has no such key.
    package let first: [KeyVersion?]
    /// The second list, where there is one.
    package let second: [KeyVersion?]?

    /// The versions of the AES keys; `nil` when the answer has none, or its identifier is unknown.
    package var aes: [KeyVersion?]? {
        encryption.listCount == nil ? nil : first
    }

    /// The versions of the DES keys; `nil` when the answer has none, or its identifier is unknown.
    package var des: [KeyVersion?]? {
        switch encryption {
        case .des56, .des112: second ?? first
        case .aesAndDES56, .aesAndDES112: second
        default: nil
        }
    }
}

extension Array where Element: FourDigitCode {
    /// A count byte and the codes, each least significant byte first.
    var countedWireBytes: [UInt8] {
        var bytes = ByteWriter([UInt8(truncatingIfNeeded: count)])
        for code in self { bytes.write(code.rawValue, .little) }
        return bytes.bytes
    }

    /// Checks the number of entries.
    func validateCount(_ list: FeliCaError.ArgumentReason.List, _ allowed: ClosedRange<Int>) throws(FeliCaError) {
        guard allowed.contains(count) else {
            throw .invalidArgument(.count(list, count, allowed: allowed))
        }
    }
}

/// Which kinds of keys a system has, in the answer to Request Service v2; unknown values are kept as they came.
/// Source: the unofficial user's manual, felica-tool.
package struct EncryptionIdentifier: RawRepresentable, Hashable, Sendable {
    /// The byte.
    package let rawValue: UInt8

    /// An identifier from its byte.
    package init(rawValue: UInt8) {
        self.rawValue = rawValue
    }

    /// `4F`: AES only.
    package static let aes = EncryptionIdentifier(rawValue: 0x4F)
    /// `41`: AES and DES of 56 bits.
    package static let aesAndDES56 = EncryptionIdentifier(rawValue: 0x41)
    /// `43`: AES and DES of 112 bits.
    package static let aesAndDES112 = EncryptionIdentifier(rawValue: 0x43)
    /// `3F`: DES of 112 bits.
    package static let des112 = EncryptionIdentifier(rawValue: 0x3F)
    /// `2F`: DES of 56 bits.
    package static let des56 = EncryptionIdentifier(rawValue: 0x2F)

    /// How many lists of key versions the answer has, or `nil` where no source says so.
    var listCount: Int? {
        switch self {
        case .aes: 1
        case .aesAndDES56, .aesAndDES112: 2
        default: nil
        }
    }
}
