// SPDX-License-Identifier: Apache-2.0

internal import CardModel

/// The depth of nodes that a card lists flat, an area before its content.
struct Nesting {
    private var ends: [UInt16] = []

    /// The depth of the next node of the list: how many of the areas listed before still contain it.
    mutating func depth(of node: ScannedNode.Kind) -> Int {
        let code: UInt16 =
            switch node {
            case .area(let start, _): start.rawValue
            case .service(let service): service.rawValue
            }
        while let end = ends.last, end < code { ends.removeLast() }
        defer { if case .area(_, let end) = node { ends.append(end.rawValue) } }
        return ends.count
    }
}
