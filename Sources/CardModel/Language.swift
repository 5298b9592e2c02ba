// SPDX-License-Identifier: Apache-2.0

/// A language that names and messages are written in; the raw values are those of `--lang`.
public enum Language: String, Hashable, Sendable, CaseIterable {
    /// English.
    case english = "en"
    /// Japanese.
    case japanese = "ja"
}
