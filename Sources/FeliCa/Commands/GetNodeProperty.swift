// SPDX-License-Identifier: Apache-2.0

internal import ByteCodec
public import CardModel

/// Get Node Property (28): a property of 1 to 16 nodes. ICs 3B, 44 and 46 know it.
public struct GetNodeProperty<Property: NodeProperty>: FeliCaCommand, Hashable, Sendable {
    /// `28`.
    public static var code: CommandCode { .getNodeProperty }
    /// How many nodes one command may ask for.
    public static var allowedNodes: ClosedRange<Int> { 1...16 }

    /// The nodes.
    public var nodes: [NodeCode]

    /// A question about these nodes.
    public init(_ nodes: [NodeCode]) {
        self.nodes = nodes
    }

    /// Between 1 and 16 nodes.
    public func validate() throws(FeliCaError) {
        try nodes.validateCount(.nodes, Self.allowedNodes)
    }

    /// The property's type, the count and the nodes.
    public var parameters: [UInt8] { [Property.type] + nodes.countedWireBytes }

    /// The property of each node in the order asked.
    public func parse(_ answer: inout AnswerReader) throws(FeliCaError) -> [Property] {
        try answer.expectSuccess()
        try answer.expectCount(nodes.count)
        return try answer.list(nodes.count) { (answer) throws(FeliCaError) in try Property(&answer) }
    }

    /// The variable class, one unit a node (felica-tool).
    public func maximumTime(_ times: ResponseTime) -> Duration {
        times.maximum(.variable, units: nodes.count)
    }
}

extension FeliCaSystem {
    /// Asks for a property of 1 to 16 nodes: ``ValueLimitedPurseProperty`` or ``MACCommunicationProperty``.
    ///
    /// - Throws: ``FeliCaError``.
    public func getNodeProperty<Property: NodeProperty>(
        _ property: Property.Type, of nodes: [NodeCode]
    ) throws(FeliCaError) -> [Property] {
        try send(GetNodeProperty<Property>(nodes))
    }
}
