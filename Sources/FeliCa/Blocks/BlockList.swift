// SPDX-License-Identifier: Apache-2.0

/// The blocks that one command reads or writes, in order.
public struct BlockList: Hashable, Sendable, ExpressibleByArrayLiteral {
    /// Its elements.
    public var elements: [BlockListElement]

    /// A list of these elements.
    public init(_ elements: [BlockListElement]) {
        self.elements = elements
    }

    /// A list of these elements.
    public init(arrayLiteral elements: BlockListElement...) {
        self.elements = elements
    }

    /// These blocks of one service, in this order.
    public init(serviceIndex: Int = 0, numbers: some Sequence<UInt16>) {
        elements = numbers.map { BlockListElement(serviceIndex: serviceIndex, number: $0) }
    }

    /// How many elements it has.
    public var count: Int { elements.count }

    /// The bytes on the wire, without the count before them.
    public var bytes: [UInt8] { elements.flatMap(\.bytes) }

    /// Checks the number of elements and that each names one of `serviceCount` services.
    func validate(serviceCount: Int, allowed: ClosedRange<Int>) throws(FeliCaError) {
        guard allowed.contains(count) else {
            throw .invalidArgument(.count(.blocks, count, allowed: allowed))
        }
        for (place, element) in elements.enumerated() where !(0..<serviceCount).contains(element.serviceIndex) {
            throw .invalidArgument(.serviceIndex(element.serviceIndex, element: place))
        }
    }
}
