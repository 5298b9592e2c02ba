// SPDX-License-Identifier: Apache-2.0

public import CardModel

/// How far a long reading has come.
public struct ReadingProgress: Hashable, Sendable {
    /// The system that is being read.
    public var system: SystemCode
    /// How many nodes of it are known.
    public var nodes: Int
    /// How many blocks of it were read.
    public var blocks: Int
}
