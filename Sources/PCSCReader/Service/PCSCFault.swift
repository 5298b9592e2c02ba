// SPDX-License-Identifier: Apache-2.0

/// A call of the PC/SC service that failed.
struct PCSCFault: Error, Hashable, Sendable {
    /// What it returned.
    let code: PCSCCode
}
