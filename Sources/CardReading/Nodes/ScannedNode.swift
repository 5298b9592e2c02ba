// SPDX-License-Identifier: Apache-2.0

public import CardModel

/// A node as a scan found it, in the card's order.
public struct ScannedNode: Hashable, Sendable {
    /// What it is.
    public var kind: Kind
    /// The version of its key, or `nil` when the card did not say.
    public var keyVersion: KeyVersion?
    /// How many areas it lies in; 0 for the root area.
    public var depth: Int

    /// What a node is.
    public enum Kind: Hashable, Sendable {
        /// An area, with the last code that belongs to it.
        case area(AreaCode, end: AreaCode)
        /// A service.
        case service(ServiceCode)
    }

    /// A node of a card.
    public init(_ kind: Kind, keyVersion: KeyVersion? = nil, depth: Int = 0) {
        self.kind = kind
        self.keyVersion = keyVersion
        self.depth = depth
    }

    /// Its code.
    public var code: NodeCode {
        switch kind {
        case .area(let code, _): code.node
        case .service(let code): code.node
        }
    }
}
