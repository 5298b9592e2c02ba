// SPDX-License-Identifier: Apache-2.0

internal import ByteCodec
public import CardModel

/// Request Block Information (0E): how many blocks have these nodes? Mobile FeliCa 4.1 knows it.
public struct RequestBlockInformation: FeliCaCommand, Hashable, Sendable {
    /// `0E`.
    public static let code = CommandCode.requestBlockInformation
    /// How many nodes one command may ask for.
    public static let allowedNodes = 1...32

    /// The nodes.
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

    /// A number for each node in the order asked: the allocated blocks of a service. What it is for an area (free or
    /// allocated blocks) is not certain.
    public func parse(_ answer: inout AnswerReader) throws(FeliCaError) -> [UInt16] {
        try answer.expectCount(nodes.count)
        return try answer.list(nodes.count) { (answer) throws(FeliCaError) in try answer.uint16(.little) }
    }

    /// The variable class, one unit a node (felica-tool).
    public func maximumTime(_ times: ResponseTime) -> Duration {
        times.maximum(.variable, units: nodes.count)
    }
}

extension FeliCaSystem {
    /// Asks for the numbers of blocks of 1 to 32 nodes.
    ///
    /// - Throws: ``FeliCaError``.
    public func requestBlockInformation(_ nodes: [NodeCode]) throws(FeliCaError) -> [UInt16] {
        try send(RequestBlockInformation(nodes))
    }
}
