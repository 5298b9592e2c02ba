// SPDX-License-Identifier: Apache-2.0

public import CardModel

/// An elementary file of a virtual card.
public struct VirtualFile: Hashable, Sendable {
    /// What is in it.
    public enum Content: Hashable, Sendable {
        /// Bytes from the first to the last: a transparent file.
        case bytes([UInt8])
        /// Records, counted from 1.
        case records([[UInt8]])
    }

    /// Its identifier.
    public var id: FileIdentifier
    /// Its short identifier, 1 to 30; `nil` when it has none.
    public var shortID: UInt8?
    /// What is in it.
    public var content: Content
    /// What READ demands.
    public var read: FileAccess
    /// What UPDATE demands.
    public var update: FileAccess

    /// A file; by default all may read it and nobody may write it.
    public init(
        _ id: FileIdentifier, shortID: UInt8? = nil, _ content: Content, read: FileAccess = .always,
        update: FileAccess = .never()
    ) {
        self.id = id
        self.shortID = shortID
        self.content = content
        self.read = read
        self.update = update
    }
}
