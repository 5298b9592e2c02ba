// SPDX-License-Identifier: Apache-2.0

internal import ByteCodec
public import CardModel

/// Request Code List (1A): the areas and services below a node, page by page. Mobile FeliCa 4.1 supports it.
package struct RequestCodeList: FeliCaCommand, Hashable, Sendable {
    /// `1A`.
    package static let code = CommandCode.requestCodeList

    /// The node whose contents are listed.
    package var parent: NodeCode
    /// The page; the first is 1.
    package var index: UInt16

    package init(parent: NodeCode, index: UInt16) {
        self.parent = parent
        self.index = index
    }

    /// The parent and the index, both least significant byte first.
    package var parameters: [UInt8] {
        var bytes = ByteWriter()
        bytes.write(parent.rawValue, .little)
        bytes.write(index, .little)
        return bytes.bytes
    }

    /// Reads the continue flag, the areas and the services; the counts are the card's.
    package func parse(_ answer: inout AnswerReader) throws(FeliCaError) -> CodeListPage {
        try answer.expectSuccess()
        let hasMore = try answer.uint8() != 0
        let areaCount = Int(try answer.uint8())
        let areas = try answer.list(areaCount) { (answer) throws(FeliCaError) in try answer.area() }
        let serviceCount = Int(try answer.uint8())
        let services = try answer.list(serviceCount) { (answer) throws(FeliCaError) in
            try answer.code(ServiceCode.self)
        }
        return CodeListPage(hasMore: hasMore, areas: areas, services: services)
    }

    /// The variable class with one unit for each of the 32 nodes that a page has room for.
    ///
    /// No source gives the number of units for this command; felica-tool assumes none and adds 50 ms.
    package func maximumTime(_ times: ResponseTime) -> Duration { times.maximum(.variable, units: 32) }
}

extension FeliCaSystem {
    /// Sends Request Code List (1A), which Mobile FeliCa 4.1 answers: a page of the areas and services below a node.
    ///
    /// - Parameters:
    ///   - parent: the node; ``AreaCode/root`` for all of the system.
    ///   - index: the page; the first is 1.
    /// - Throws: ``FeliCaError``.
    public func requestCodeList(parent: NodeCode, index: UInt16) throws(FeliCaError) -> CodeListPage {
        try send(RequestCodeList(parent: parent, index: index))
    }
}

/// One page of the answer to Request Code List.
public struct CodeListPage: Hashable, Sendable {
    /// Whether another page follows at the next index.
    public let hasMore: Bool
    /// Areas, at most 16 on known cards.
    public let areas: [AreaRange]
    /// Services, at most 16 on known cards.
    public let services: [ServiceCode]
}

/// An area as a card lists it: its code, and the last code that belongs to it.
public struct AreaRange: Hashable, Sendable {
    /// The area's code.
    public let start: AreaCode
    /// The last code that belongs to it: `FFFE` for the root area.
    public let end: AreaCode

    package init(start: AreaCode, end: AreaCode) {
        self.start = start
        self.end = end
    }

    /// Returns whether a code is within the area: from its own number to the number of its end.
    public func contains(_ node: NodeCode) -> Bool {
        (start.rawValue & 0xFFC0...max(end.rawValue, start.rawValue) | 0x3F).contains(node.rawValue)
    }
}

extension AnswerReader {
    /// Reads the two codes of an area.
    mutating func area() throws(FeliCaError) -> AreaRange {
        AreaRange(start: try code(AreaCode.self), end: try code(AreaCode.self))
    }
}
