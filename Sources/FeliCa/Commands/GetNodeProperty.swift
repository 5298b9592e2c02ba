// SPDX-License-Identifier: Apache-2.0

internal import ByteCodec
package import CardModel

/// Get Node Property (28): a property of 1 to 16 nodes. ICs 3B, 44 and 46 support it.
package struct GetNodeProperty<Property: NodeProperty>: FeliCaCommand, Hashable, Sendable {
    /// `28`.
    package static var code: CommandCode { .getNodeProperty }
    /// The number of nodes that one command can name.
    package static var allowedNodes: ClosedRange<Int> { 1...16 }

    package var nodes: [NodeCode]

    package init(_ nodes: [NodeCode]) {
        self.nodes = nodes
    }

    /// Checks that there are between 1 and 16 nodes.
    package func validate() throws(FeliCaError) {
        try nodes.validateCount(.nodes, Self.allowedNodes)
    }

    /// The property's type, the count and the nodes.
    package var parameters: [UInt8] { [Property.type] + nodes.countedWireBytes }

    /// Reads the property of each node in the requested order.
    package func parse(_ answer: inout AnswerReader) throws(FeliCaError) -> [Property] {
        try answer.expectSuccess()
        try answer.expectCount(nodes.count)
        return try answer.list(nodes.count) { (answer) throws(FeliCaError) in try Property(&answer) }
    }

    /// The variable class, one unit per node (felica-tool).
    package func maximumTime(_ times: ResponseTime) -> Duration {
        times.maximum(.variable, units: nodes.count)
    }
}

extension FeliCaSystem {
    /// Requests a property of 1 to 16 nodes: ``ValueLimitedPurseProperty`` or ``MACCommunicationProperty``.
    ///
    /// - Throws: ``FeliCaError``.
    package func getNodeProperty<Property: NodeProperty>(
        _ property: Property.Type, of nodes: [NodeCode]
    ) throws(FeliCaError) -> [Property] {
        try send(GetNodeProperty<Property>(nodes))
    }
}

/// A property that Get Node Property can request.
package protocol NodeProperty {
    /// The byte that requests it.
    static var type: UInt8 { get }

    /// Reads the property of one node.
    ///
    /// - Throws: ``FeliCaError/malformed(_:_:)``.
    init(_ answer: inout AnswerReader) throws(FeliCaError)
}

/// Whether a service is read with a MAC: property type 01, one byte. Source: felica-tool, the unofficial user's manual.
package struct MACCommunicationProperty: NodeProperty, Hashable, Sendable {
    /// `01`.
    package static let type: UInt8 = 0x01

    /// The byte: 01 if communication with MAC is on.
    package let flag: UInt8

    /// Reads one byte.
    package init(_ answer: inout AnswerReader) throws(FeliCaError) {
        flag = try answer.uint8()
    }

    /// Whether communication with MAC is on.
    package var isEnabled: Bool { flag == 0x01 }
}

/// The limits of a value-limited purse service: property type 00, ten bytes.
///
/// Source: felica-tool, the unofficial user's manual.
package struct ValueLimitedPurseProperty: NodeProperty, Hashable, Sendable {
    /// `00`.
    package static let type: UInt8 = 0x00

    /// The first byte: 01 if the purse has limits.
    package let flag: UInt8
    /// The highest value; `nil` if the node has no limits (all ten bytes FF).
    package let upperLimit: Int32?
    /// The lowest value; `nil` if the node has no limits.
    package let lowerLimit: Int32?
    /// The generation number; `nil` if the node has no limits.
    package let generation: UInt8?

    /// Reads flag, upper and lower limit (signed, least significant byte first), generation.
    package init(_ answer: inout AnswerReader) throws(FeliCaError) {
        flag = try answer.uint8()
        let upper = try answer.int32LittleEndian()
        let lower = try answer.int32LittleEndian()
        let last = try answer.uint8()
        let isOff = flag == 0xFF && upper == -1 && lower == -1 && last == 0xFF
        upperLimit = isOff ? nil : upper
        lowerLimit = isOff ? nil : lower
        generation = isOff ? nil : last
    }

    /// Whether the limits are in force.
    package var isEnabled: Bool { flag == 0x01 }
}
