// SPDX-License-Identifier: Apache-2.0

/// Whether cards of a kind answer a command.
public enum CommandSupport: Hashable, Sendable {
    /// They do.
    case answered
    /// They keep silent.
    case silent
    /// Nobody has published it.
    case unknown
}
