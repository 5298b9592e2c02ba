// SPDX-License-Identifier: Apache-2.0

internal import ByteCodec
public import CardModel

/// Get Area Information (24): two bytes about an area.
///
/// Mobile FeliCa 4.1 supports it; felica-tool is the only source.
package struct GetAreaInformation: FeliCaCommand, Hashable, Sendable {
    /// `24`.
    package static let code = CommandCode.getAreaInformation

    package var area: AreaCode

    package init(_ area: AreaCode) {
        self.area = area
    }

    /// The area, least significant byte first.
    package var parameters: [UInt8] {
        var bytes = ByteWriter()
        bytes.write(area.rawValue, .little)
        return bytes.bytes
    }

    /// Reads a node and two bytes.
    ///
    /// Refusals: `E0` for the root area, `E2` for a node other than an area, `E7` for others.
    package func parse(_ answer: inout AnswerReader) throws(FeliCaError) -> AreaInformation {
        try answer.expectSuccess()
        return AreaInformation(node: try answer.code(NodeCode.self), data: Array(try answer.bytes(2)))
    }

    /// The fixed class (felica-tool).
    package func maximumTime(_ times: ResponseTime) -> Duration { times.maximum(.fixed) }
}

extension FeliCaSystem {
    /// Requests the information of an area.
    ///
    /// - Throws: ``FeliCaError``.
    public func getAreaInformation(_ area: AreaCode) throws(FeliCaError) -> AreaInformation {
        try send(GetAreaInformation(area))
    }
}

/// The answer to Get Area Information.
public struct AreaInformation: Hashable, Sendable {
    /// The node in the card's answer.
    public let node: NodeCode
    /// Two bytes of unknown meaning, unchanged.
    public let data: [UInt8]
}
