// SPDX-License-Identifier: Apache-2.0

/// How often an exchange is tried.
enum Attempts {
    /// When it comes back damaged.
    static let damaged = 4
    /// When the tag keeps silent although it is there.
    static let silent = 2
    /// How often a tag is looked for that does not answer.
    static let activation = 3
}
