// SPDX-License-Identifier: Apache-2.0

/// The mode that a card is in; the raw values are those on the wire.
public enum CardMode: UInt8, Hashable, Sendable, CaseIterable {
    /// Mode 0: as after power-on; plain commands work.
    case initial = 0
    /// Mode 1: authentication has begun.
    case authenticating = 1
    /// Mode 2: authenticated.
    case authenticated = 2
    /// Mode 3: being issued.
    case issuing = 3
}
