// SPDX-License-Identifier: Apache-2.0

internal import ByteCodec
public import CardModel

/// Request Block Information (0E): the numbers of blocks of these nodes. Mobile FeliCa 4.1 supports it.
package struct RequestBlockInformation: NodeListCommand, Hashable, Sendable {
    /// `0E`.
    package static let code = CommandCode.requestBlockInformation

    package var nodes: [NodeCode]

    package init(_ nodes: [NodeCode]) {
        self.nodes = nodes
    }

    /// Reads a number for each node in the requested order: the allocated blocks of a service.
    ///
    /// Its meaning for an area (free or allocated blocks) is not certain.
    package func parse(_ answer: inout AnswerReader) throws(FeliCaError) -> [UInt16] {
        try answer.expectCount(nodes.count)
        return try answer.list(nodes.count) { (answer) throws(FeliCaError) in try answer.uint16(.little) }
    }
}

extension FeliCaSystem {
    /// Requests the numbers of blocks of 1 to 32 nodes.
    ///
    /// - Throws: ``FeliCaError``.
    public func requestBlockInformation(_ nodes: [NodeCode]) throws(FeliCaError) -> [UInt16] {
        try send(RequestBlockInformation(nodes))
    }
}

/// Request Block Information Ex (1E): the numbers of assigned and free blocks of these nodes.
///
/// Mobile FeliCa 4.1 supports it.
package struct RequestBlockInformationEx: NodeListCommand, Hashable, Sendable {
    /// `1E`.
    package static let code = CommandCode.requestBlockInformationEx

    /// The nodes, 1 to 32.
    package var nodes: [NodeCode]

    package init(_ nodes: [NodeCode]) {
        self.nodes = nodes
    }

    /// Reads two numbers for each node in the requested order.
    package func parse(_ answer: inout AnswerReader) throws(FeliCaError) -> [BlockCounts] {
        try answer.expectSuccess()
        try answer.expectCount(nodes.count)
        return try answer.list(nodes.count) { (answer) throws(FeliCaError) in
            BlockCounts(assigned: try answer.uint16(.little), free: try answer.uint16(.little))
        }
    }
}

extension FeliCaSystem {
    /// Requests the numbers of assigned and free blocks of 1 to 32 nodes.
    ///
    /// - Throws: ``FeliCaError``.
    public func requestBlockInformationEx(_ nodes: [NodeCode]) throws(FeliCaError) -> [BlockCounts] {
        try send(RequestBlockInformationEx(nodes))
    }
}

/// The blocks of a node, in the answer to Request Block Information Ex.
public struct BlockCounts: Hashable, Sendable {
    /// The number of assigned blocks.
    public let assigned: UInt16
    /// The number of free blocks.
    public let free: UInt16

    package init(assigned: UInt16, free: UInt16) {
        self.assigned = assigned
        self.free = free
    }
}
