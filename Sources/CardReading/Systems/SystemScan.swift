// SPDX-License-Identifier: Apache-2.0

public import CardModel

/// What a scan found in one system.
public struct SystemScan: Hashable, Sendable {
    /// The system as it answered its Polling.
    public var system: SystemHandle
    /// The version of the system key, or `nil` when the card did not say.
    public var keyVersion: KeyVersion?
    /// Its nodes in the card's order, the root area first.
    public var nodes: [ScannedNode]
    /// How they were found.
    public var listing: NodeListing

    /// A system with its nodes.
    public init(
        system: SystemHandle, keyVersion: KeyVersion? = nil, nodes: [ScannedNode] = [],
        listing: NodeListing = .searchServiceCode
    ) {
        self.system = system
        self.keyVersion = keyVersion
        self.nodes = nodes
        self.listing = listing
    }

    /// The services in the card's order.
    public var services: [ServiceCode] {
        nodes.compactMap { if case .service(let code) = $0.kind { code } else { nil } }
    }
}
