// SPDX-License-Identifier: Apache-2.0

public import CardModel

/// The cards of a file.
public struct ImportedDumps: Hashable, Sendable {
    /// The word of the format that the file is of.
    public let format: String
    /// The cards in the file's order; at least one.
    public let dumps: [CardDump]
}
