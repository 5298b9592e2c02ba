// SPDX-License-Identifier: Apache-2.0

internal import ByteCodec
public import CardModel

/// Request Block Information Ex (1E): how many blocks of these nodes are assigned and free? Mobile FeliCa 4.1
/// knows it.
public struct RequestBlockInformationEx: FeliCaCommand, Hashable, Sendable {
    /// `1E`.
    public static let code = CommandCode.requestBlockInformationEx

    /// The nodes, 1 to 32.
    public var nodes: [NodeCode]

    /// A question about these nodes.
    public init(_ nodes: [NodeCode]) {
        self.nodes = nodes
    }

    /// Between 1 and 32 nodes.
    public func validate() throws(FeliCaError) {
        try nodes.validateCount(.nodes, RequestBlockInformation.allowedNodes)
    }

    /// The count and the nodes.
    public var parameters: [UInt8] { nodes.countedWireBytes }

    /// Two numbers for each node in the order asked.
    public func parse(_ answer: inout AnswerReader) throws(FeliCaError) -> [BlockCounts] {
        try answer.expectSuccess()
        try answer.expectCount(nodes.count)
        return try answer.list(nodes.count) { (answer) throws(FeliCaError) in
            BlockCounts(assigned: try answer.uint16(.little), free: try answer.uint16(.little))
        }
    }

    /// The variable class, one unit a node (felica-tool).
    public func maximumTime(_ times: ResponseTime) -> Duration {
        times.maximum(.variable, units: nodes.count)
    }
}

extension FeliCaSystem {
    /// Asks for the assigned and free blocks of 1 to 32 nodes.
    ///
    /// - Throws: ``FeliCaError``.
    public func requestBlockInformationEx(_ nodes: [NodeCode]) throws(FeliCaError) -> [BlockCounts] {
        try send(RequestBlockInformationEx(nodes))
    }
}
