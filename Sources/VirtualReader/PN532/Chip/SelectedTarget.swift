// SPDX-License-Identifier: Apache-2.0

import NFCTransport

/// The card that InListPassiveTarget or InAutoPoll found.
struct SelectedTarget: Sendable {
    /// The speed that it answered at.
    var bitRate: FeliCaBitRate
    /// Whether InDeselect or InRelease let go of it.
    var isReleased = false
}
