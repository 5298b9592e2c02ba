// SPDX-License-Identifier: Apache-2.0

public import CardModel

/// What could be read of a transparent EF.
public struct FileContents: Hashable, Sendable {
    /// The bytes from the start of the file.
    public var data: [UInt8]
    /// Why there are no more.
    public var end: End

    /// Why reading came to an end.
    @nonexhaustive
    public enum End: Hashable, Sendable {
        /// As many bytes as were asked for are there.
        case limit
        /// The card says that the file ends here: by `6282`, by `6B00` for an offset behind the end, or by an answer
        /// without bytes.
        case file
        /// The card refused to go on with this status word; there may be more.
        case refused(StatusWord)
        /// An exchange failed; there may be more.
        case failed(ISO7816Error)
    }

    /// Whether nothing is missing of what was asked for or of the file.
    public var isComplete: Bool { end == .limit || end == .file }

    /// Bytes and why there are no more.
    public init(data: [UInt8], end: End) {
        self.data = data
        self.end = end
    }
}
