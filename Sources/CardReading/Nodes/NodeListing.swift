// SPDX-License-Identifier: Apache-2.0

/// How the nodes of a system were found; what the card cannot list may be incomplete.
public enum NodeListing: String, Hashable, Sendable {
    /// Search Service Code listed them: complete.
    case searchServiceCode
    /// Request Code List listed them: complete.
    case requestCodeList
    /// Request Service over the codes that are known: others may exist.
    case requestService
    /// A read was tried on the codes that are known: others may exist.
    case readProbe
    /// FeliCa Lite and Lite-S always have these.
    case fixedLayout

    /// Whether the card itself said that there are no other nodes.
    public var isComplete: Bool {
        switch self {
        case .searchServiceCode, .requestCodeList, .fixedLayout: true
        case .requestService, .readProbe: false
        }
    }
}
