// SPDX-License-Identifier: Apache-2.0

/// A speed of FeliCa; the raw value is in kilobits a second.
public enum FeliCaBitRate: Int, Hashable, Sendable, CaseIterable {
    /// 211.875 kbit/s (fc/64), which every card answers.
    case kbps212 = 212
    /// 423.75 kbit/s (fc/32), which many cards answer and Octopus-type cards do not.
    case kbps424 = 424
}
