// SPDX-License-Identifier: Apache-2.0

internal import ByteCodec
package import CardModel

/// Request Block Information (0E): how many blocks have these nodes? Mobile FeliCa 4.1 knows it.
package struct RequestBlockInformation: FeliCaCommand, Hashable, Sendable {
    /// `0E`.
    package static let code = CommandCode.requestBlockInformation
    /// How many nodes one command may ask for.
    package static let allowedNodes = 1...32

    /// The nodes.
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

    /// A number for each node in the order asked: the allocated blocks of a service. What it is for an area (free or
    /// allocated blocks) is not certain.
    package func parse(_ answer: inout AnswerReader) throws(FeliCaError) -> [UInt16] {
        try answer.expectCount(nodes.count)
        return try answer.list(nodes.count) { (answer) throws(FeliCaError) in try answer.uint16(.little) }
    }

    /// The variable class, one unit a node (felica-tool).
    package func maximumTime(_ times: ResponseTime) -> Duration {
        times.maximum(.variable, units: nodes.count)
    }
}

extension FeliCaSystem {
    /// Asks for the numbers of blocks of 1 to 32 nodes.
    ///
    /// - Throws: ``FeliCaError``.
    package func requestBlockInformation(_ nodes: [NodeCode]) throws(FeliCaError) -> [UInt16] {
        try send(RequestBlockInformation(nodes))
    }
}

/// Request Block Information Ex (1E): how many blocks of these nodes are assigned and free? Mobile FeliCa 4.1
/// knows it.
package struct RequestBlockInformationEx: FeliCaCommand, Hashable, Sendable {
    /// `1E`.
    package static let code = CommandCode.requestBlockInformationEx

    /// The nodes, 1 to 32.
    package var nodes: [NodeCode]

    /// A question about these nodes.
    package init(_ nodes: [NodeCode]) {
        self.nodes = nodes
    }

    /// Between 1 and 32 nodes.
    package func validate() throws(FeliCaError) {
        try nodes.validateCount(.nodes, RequestBlockInformation.allowedNodes)
    }

    /// The count and the nodes.
    package var parameters: [UInt8] { nodes.countedWireBytes }

    /// Two numbers for each node in the order asked.
    package func parse(_ answer: inout AnswerReader) throws(FeliCaError) -> [BlockCounts] {
        try answer.expectSuccess()
        try answer.expectCount(nodes.count)
        return try answer.list(nodes.count) { (answer) throws(FeliCaError) in
            BlockCounts(assigned: try answer.uint16(.little), free: try answer.uint16(.little))
        }
    }

    /// The variable class, one unit a node (felica-tool).
    package func maximumTime(_ times: ResponseTime) -> Duration {
        times.maximum(.variable, units: nodes.count)
    }
}

extension FeliCaSystem {
    /// Asks for the assigned and free blocks of 1 to 32 nodes.
    ///
    /// - Throws: ``FeliCaError``.
    package func requestBlockInformationEx(_ nodes: [NodeCode]) throws(FeliCaError) -> [BlockCounts] {
        try send(RequestBlockInformationEx(nodes))
    }
}

/// The blocks of a node, in the answer to Request Block Information Ex.
package struct BlockCounts: Hashable, Sendable {
    /// Blocks that are assigned.
    package let assigned: UInt16
    /// Blocks that are free.
    package let free: UInt16

    /// The blocks of a node.
    package init(assigned: UInt16, free: UInt16) {
        self.assigned = assigned
        self.free = free
    }
}
