// SPDX-License-Identifier: Apache-2.0

/// What a file of a licence asks for before it can be read.
public enum LicenseAccess: Hashable, Sendable {
    /// Nothing.
    case free
    /// PIN 1; the only PIN on a My Number card.
    case pin1
    /// PIN 1 and PIN 2.
    case bothPINs
}
