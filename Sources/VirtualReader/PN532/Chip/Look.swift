// SPDX-License-Identifier: Apache-2.0

/// What one look for cards came to.
struct Look {
    /// The cards, and for each what InListPassiveTarget tells of it after its number.
    var targets: [SelectedTarget] = []
    var data: [[UInt8]] = []
    /// Whether the host gave up.
    var isAborted = false
}
