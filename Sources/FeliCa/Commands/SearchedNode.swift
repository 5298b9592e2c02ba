// SPDX-License-Identifier: Apache-2.0

public import CardModel

/// What Search Service Code found at an index.
public enum SearchedNode: Hashable, Sendable {
    /// An area; what belongs to it follows at the next indexes.
    case area(AreaRange)
    /// A service.
    case service(ServiceCode)
}
