// SPDX-License-Identifier: Apache-2.0

public import CardModel

/// One page of the answer to Request Code List.
public struct CodeListPage: Hashable, Sendable {
    /// Whether another page follows at the next index.
    public let hasMore: Bool
    /// Areas, at most 16 on cards that are known.
    public let areas: [AreaRange]
    /// Services, at most 16 on cards that are known.
    public let services: [ServiceCode]
}
