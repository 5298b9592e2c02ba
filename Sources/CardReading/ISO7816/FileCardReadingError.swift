// SPDX-License-Identifier: Apache-2.0

public import CardModel
public import ISO7816

/// Why a licence or a My Number card was not read, or not to its end.
@nonexhaustive
public enum FileCardReadingError: Error, Hashable, Sendable {
    /// The card has none of the applications that were looked for.
    case otherCard
    /// Whether PINs are set could not be read, so nothing else was done: an unset PIN is `****`, and trying that where
    /// one is set would use up a try.
    case pinSettingUnreadable(StatusWord?)
    /// An exchange failed.
    case card(ISO7816Error)
    /// A PIN was not sent, or was sent in vain.
    case pin(PINGuardError)
}
