// SPDX-License-Identifier: Apache-2.0

/// Whether a VERIFY may be sent that can lock the PIN.
public struct PINConsent {
    /// Whether the user asked for it beforehand (`--allow-last-try`).
    public var allowsLastTry: Bool
    /// Asks the user, who has to type the answer; called only when ``allowsLastTry`` is set.
    public var confirm: (PINReference, TriesLeft) -> Bool

    /// Both have to say yes.
    public init(allowsLastTry: Bool, confirm: @escaping (PINReference, TriesLeft) -> Bool) {
        self.allowsLastTry = allowsLastTry
        self.confirm = confirm
    }

    /// Never.
    public static var never: PINConsent { PINConsent(allowsLastTry: false) { _, _ in false } }
}
