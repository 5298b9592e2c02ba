// SPDX-License-Identifier: Apache-2.0

import NDEF

/// What a record says without how it was written: the prefix code that a URI was read with does not count.
struct Said: Equatable, CustomStringConvertible {
    let description: String

    init(_ content: NDEFContent) {
        switch content {
        case .uri(let uri): description = "uri \(uri.text)"
        case .smartPoster(let poster):
            description =
                "poster \(poster.uri.text) \(poster.titles) \(String(describing: poster.action)) "
                + "\(poster.size ?? 0) \(poster.mediaType ?? "") \(poster.icons) \(poster.others)"
        default: description = "\(content)"
        }
    }
}
