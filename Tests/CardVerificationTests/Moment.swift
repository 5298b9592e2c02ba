// SPDX-License-Identifier: Apache-2.0

import CardModel

enum Moment {
    /// A moment of RFC 3339; the beginning of all time where a test misspelled it, at which nothing is valid.
    static func at(_ text: String) -> Timestamp { Timestamp(text) ?? Timestamp(milliseconds: .min) }
}
