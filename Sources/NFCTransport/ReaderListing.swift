// SPDX-License-Identifier: Apache-2.0

/// A reader that is plugged in, usable or not.
public struct ReaderListing: Hashable, Sendable, Identifiable {
    /// What `--reader` takes to open it.
    public var id: String
    /// What it is called, or `nil` when nothing says so.
    public var name: String?
    /// Whether it can be opened, and if not, why.
    public var state: State

    /// Whether the user told the driver of it, by a file or by the environment.
    public var isConfigured: Bool

    /// A reader that is plugged in.
    public init(id: String, name: String? = nil, state: State, isConfigured: Bool = false) {
        self.id = id
        self.name = name
        self.state = state
        self.isConfigured = isConfigured
    }

    /// Whether a reader can be opened.
    public enum State: Hashable, Sendable {
        /// It can be opened.
        case ready
        /// It cannot be opened, for this reason.
        case unavailable(UnavailableReason, detail: String)
        /// It may be there, but only opening it would tell: a serial port.
        case unknown
    }
}
