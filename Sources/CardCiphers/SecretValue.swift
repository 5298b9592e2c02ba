// SPDX-License-Identifier: Apache-2.0

/// A value that nobody may see: it prints, reflects and dumps as `Redacted`.
public protocol SecretValue: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {}

extension SecretValue {
    /// `Redacted`.
    public var description: String { "Redacted" }
    /// `Redacted`.
    public var debugDescription: String { "Redacted" }
    /// Nothing.
    public var customMirror: Mirror { Mirror(self, children: []) }
}
