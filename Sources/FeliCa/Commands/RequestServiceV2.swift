// SPDX-License-Identifier: Apache-2.0

public import CardModel

/// Request Service v2 (32): like Request Service, with AES and DES key versions apart.
public struct RequestServiceV2: FeliCaCommand, Hashable, Sendable {
    /// `32`.
    public static let code = CommandCode.requestServiceV2

    /// The nodes, 1 to 32.
    public var nodes: [NodeCode]

    /// A question about these nodes.
    public init(_ nodes: [NodeCode]) {
        self.nodes = nodes
    }

    /// Between 1 and 32 nodes.
    public func validate() throws(FeliCaError) {
        try nodes.validateCount(.nodes, RequestService.allowedNodes)
    }

    /// The count and the nodes.
    public var parameters: [UInt8] { nodes.countedWireBytes }

    /// The encryption identifier and one or two lists; where the identifier does not say how many lists follow, the
    /// length does.
    public func parse(_ answer: inout AnswerReader) throws(FeliCaError) -> ServiceVersions {
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
    public func maximumTime(_ times: ResponseTime) -> Duration {
        times.maximum(.variable, units: nodes.count)
    }
}

extension FeliCaSystem {
    /// Asks for the AES and DES key versions of 1 to 32 nodes.
    ///
    /// - Throws: ``FeliCaError``.
    public func requestServiceV2(_ nodes: [NodeCode]) throws(FeliCaError) -> ServiceVersions {
        try send(RequestServiceV2(nodes))
    }
}
