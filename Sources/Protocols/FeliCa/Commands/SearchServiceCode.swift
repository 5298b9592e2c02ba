// SPDX-License-Identifier: Apache-2.0

internal import ByteCodec
public import CardModel

/// Search Service Code (0A): the area or service at an index of the system's list.
///
/// The list is in tree order: an area precedes its contents; index 0 is the root area.
package struct SearchServiceCode: FeliCaCommand, Hashable, Sendable {
    /// `0A`.
    package static let code = CommandCode.searchServiceCode

    /// The index in the list, counted from 0.
    package var index: UInt16

    package init(index: UInt16) {
        self.index = index
    }

    /// The index, least significant byte first.
    package var parameters: [UInt8] {
        var bytes = ByteWriter()
        bytes.write(index, .little)
        return bytes.bytes
    }

    /// Reads an area (four bytes), a service (two bytes), or the end, `FFFF`: `nil`.
    package func parse(_ answer: inout AnswerReader) throws(FeliCaError) -> SearchedNode? {
        if answer.remaining > 2 { return .area(try answer.area()) }
        let service = try answer.code(ServiceCode.self)
        return service.rawValue == 0xFFFF ? nil : .service(service)
    }

    /// The fixed class.
    package func maximumTime(_ times: ResponseTime) -> Duration { times.maximum(.fixed) }
}

extension FeliCaSystem {
    /// Sends Search Service Code (0A): the area or service at an index of the system's list, which is in tree order.
    ///
    /// - Parameter index: counted from 0, the root area.
    /// - Returns: `nil` past the end of the list.
    /// - Throws: ``FeliCaError``.
    public func searchServiceCode(index: UInt16) throws(FeliCaError) -> SearchedNode? {
        try send(SearchServiceCode(index: index))
    }
}

/// The result of Search Service Code at an index.
public enum SearchedNode: Hashable, Sendable {
    /// An area; its contents follow at the next indexes.
    case area(AreaRange)
    /// A service.
    case service(ServiceCode)
}
