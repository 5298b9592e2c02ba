// SPDX-License-Identifier: Apache-2.0

internal import ByteCodec
package import CardModel

/// Get Area Information (24): two bytes about an area. Mobile FeliCa 4.1 knows it; felica-tool is the only source.
package struct GetAreaInformation: FeliCaCommand, Hashable, Sendable {
    /// `24`.
    package static let code = CommandCode.getAreaInformation

    /// The area.
    package var area: AreaCode

    /// A question about an area.
    package init(_ area: AreaCode) {
        self.area = area
    }

    /// The area, least significant byte first.
    package var parameters: [UInt8] {
        var bytes = ByteWriter()
        bytes.write(area.rawValue, .little)
        return bytes.bytes
    }

    /// A node and two bytes. Refusals: `E0` for the root area, `E2` for what is no area, `E7` for others.
    package func parse(_ answer: inout AnswerReader) throws(FeliCaError) -> AreaInformation {
        try answer.expectSuccess()
        return AreaInformation(node: try answer.code(NodeCode.self), data: Array(try answer.bytes(2)))
    }

    /// The fixed class (felica-tool).
    package func maximumTime(_ times: ResponseTime) -> Duration { times.maximum(.fixed) }
}

extension FeliCaSystem {
    /// Asks for the information of an area.
    ///
    /// - Throws: ``FeliCaError``.
    package func getAreaInformation(_ area: AreaCode) throws(FeliCaError) -> AreaInformation {
        try send(GetAreaInformation(area))
    }
}

/// The answer to Get Area Information.
package struct AreaInformation: Hashable, Sendable {
    /// The node that the card names.
    package let node: NodeCode
    /// Two bytes of unknown meaning, as they came.
    package let data: [UInt8]
}
