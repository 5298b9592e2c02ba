// SPDX-License-Identifier: Apache-2.0

internal import ByteCodec
public import CardModel

/// Get Area Information (24): two bytes about an area. Mobile FeliCa 4.1 knows it; felica-tool is the only source.
public struct GetAreaInformation: FeliCaCommand, Hashable, Sendable {
    /// `24`.
    public static let code = CommandCode.getAreaInformation

    /// The area.
    public var area: AreaCode

    /// A question about an area.
    public init(_ area: AreaCode) {
        self.area = area
    }

    /// The area, least significant byte first.
    public var parameters: [UInt8] {
        var bytes = ByteWriter()
        bytes.write(area.rawValue, .little)
        return bytes.bytes
    }

    /// A node and two bytes. Refusals: `E0` for the root area, `E2` for what is no area, `E7` for others.
    public func parse(_ answer: inout AnswerReader) throws(FeliCaError) -> AreaInformation {
        try answer.expectSuccess()
        return AreaInformation(node: try answer.code(NodeCode.self), data: Array(try answer.bytes(2)))
    }

    /// The fixed class (felica-tool).
    public func maximumTime(_ times: ResponseTime) -> Duration { times.maximum(.fixed) }
}

extension FeliCaSystem {
    /// Asks for the information of an area.
    ///
    /// - Throws: ``FeliCaError``.
    public func getAreaInformation(_ area: AreaCode) throws(FeliCaError) -> AreaInformation {
        try send(GetAreaInformation(area))
    }
}

/// The answer to Get Area Information.
public struct AreaInformation: Hashable, Sendable {
    /// The node that the card names.
    public let node: NodeCode
    /// Two bytes of unknown meaning, as they came.
    public let data: [UInt8]
}
