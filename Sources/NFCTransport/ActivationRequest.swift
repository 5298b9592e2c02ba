// SPDX-License-Identifier: Apache-2.0

public import CardModel

/// Which card a reader is to look for.
@nonexhaustive
public enum ActivationRequest: Hashable, Sendable {
    /// A FeliCa card with this system, by one Polling at this bit rate.
    case felica(SystemCode, requestCode: UInt8 = 0, timeSlots: UInt8 = 0, bitRate: FeliCaBitRate = .kbps212)
}
