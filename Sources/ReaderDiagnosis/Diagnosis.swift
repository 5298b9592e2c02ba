// SPDX-License-Identifier: Apache-2.0

/// What was found of a whole system.
public struct Diagnosis: Hashable, Sendable {
    /// The readers on the USB.
    public var readers: [ReaderReport]
    /// What concerns no single one of them.
    public var system: [Check]

    /// What was found.
    public init(readers: [ReaderReport], system: [Check]) {
        self.readers = readers
        self.system = system
    }

    /// Whether a reader can be used: one on the USB that has no fault, one that pcscd has, or one that was tried and
    /// answered.
    public var isReady: Bool {
        readers.contains(where: \.isReady) || system.contains { [.answers, .serviceHasReader].contains($0.code) }
    }

    /// Everything that was found.
    public var checks: [Check] { readers.flatMap(\.checks) + system }
}
