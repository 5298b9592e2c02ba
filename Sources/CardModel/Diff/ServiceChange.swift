// SPDX-License-Identifier: Apache-2.0

/// A service that two dumps show differently beside its blocks.
public struct ServiceChange: Hashable, Sendable {
    /// The system.
    public let system: SystemCode
    /// The service.
    public let service: ServiceCode
    /// What became of it in the older dump; `nil` when it is not there.
    public let oldState: ReadState?
    /// What became of it in the newer dump; `nil` when it is not there.
    public let newState: ReadState?
    /// The version of its key in the older dump.
    public let oldKeyVersion: KeyVersion?
    /// The version of its key in the newer dump.
    public let newKeyVersion: KeyVersion?
}
