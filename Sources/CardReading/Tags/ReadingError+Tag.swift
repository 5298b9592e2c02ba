// SPDX-License-Identifier: Apache-2.0

internal import NFCForumTags
internal import NFCTransport

extension ReadingError {
    /// Why reading a tag ended early; `nil` for what is the tag's own answer.
    init?(_ error: TagError) {
        switch error {
        case .tagLost: self = .cardLost
        case .cancelled: self = .cancelled
        case .transport(let error): self = CardSession.readingError(error)
        case .badAnswer: self = .radio(.corrupted(status: 0))
        default: return nil
        }
    }
}
