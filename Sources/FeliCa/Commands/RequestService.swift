// SPDX-License-Identifier: Apache-2.0

public import CardModel

/// Request Service (02): which of these nodes are there, and what are their key versions?
///
/// At most 32 nodes. IC 24 keeps silent when one node has an attribute that it does not know.
public struct RequestService: FeliCaCommand, Hashable, Sendable {
    /// `02`.
    public static let code = CommandCode.requestService
    /// How many nodes one command may ask for.
    public static let allowedNodes = 1...32

    /// The nodes; ``CardModel/NodeCode/system`` is the system itself.
    public var nodes: [NodeCode]

    /// A question about these nodes.
    public init(_ nodes: [NodeCode]) {
        self.nodes = nodes
    }

    /// Between 1 and 32 nodes.
    public func validate() throws(FeliCaError) {
        try nodes.validateCount(.nodes, Self.allowedNodes)
    }

    /// The count and the nodes.
    public var parameters: [UInt8] { nodes.countedWireBytes }

    /// The key version of each node in the order asked; `nil` for a node that is not there.
    public func parse(_ answer: inout AnswerReader) throws(FeliCaError) -> [KeyVersion?] {
        try answer.expectCount(nodes.count)
        return try answer.list(nodes.count) { (answer) throws(FeliCaError) in try answer.keyVersion() }
    }

    /// The variable class, one unit a node.
    public func maximumTime(_ times: ResponseTime) -> Duration {
        times.maximum(.variable, units: nodes.count)
    }
}

extension FeliCaSystem {
    /// Asks for the key versions of 1 to 32 nodes; `nil` for a node that is not there.
    ///
    /// - Throws: ``FeliCaError``.
    public func requestService(_ nodes: [NodeCode]) throws(FeliCaError) -> [KeyVersion?] {
        try send(RequestService(nodes))
    }
}
