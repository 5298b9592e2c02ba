// SPDX-License-Identifier: Apache-2.0

public import CardModel

/// What the card said of one of its PINs when it was read; the PIN itself is nowhere.
public struct CardPINState: Hashable, Sendable {
    /// How many tries are left, 0 when it is locked; `nil` when that is not known.
    ///
    /// After a PIN that the card took: how many were left before, since cards do not tell the counter of a verified PIN.
    public var triesLeft: Int?
    /// Whether the card took the PIN in this reading.
    public var isVerified: Bool
    /// Why the PIN opened nothing; `nil` when the card took it, and when none was given.
    public var refusal: Refusal?

    /// Why a PIN opened nothing. The raw values are the words of dumps and of `withheldReason`.
    public enum Refusal: String, Hashable, Sendable {
        /// The card compared it, and it was wrong.
        case wrong = "wrongPIN"
        /// It is locked, by this PIN or before.
        case locked = "pinLocked"
        /// It was not sent, because it may have been the last try.
        case lastTry
        /// It was not sent, because it does not have the form of such a PIN.
        case form = "pinForm"
        /// The card refused without comparing it.
        case refused
    }

    /// A state.
    public init(triesLeft: Int?, isVerified: Bool, refusal: Refusal? = nil) {
        self.triesLeft = triesLeft
        self.isVerified = isVerified
        self.refusal = refusal
    }

    /// The state that a dump keeps with the file of a PIN.
    public init?(_ file: FileDump?) {
        guard let file else { return nil }
        self.init(triesLeft: nil, isVerified: file.extra["verified"] == true)
        if case .integer(let tries)? = file.extra["triesLeft"], (0...15).contains(tries) { triesLeft = Int(tries) }
        if case .string(let word)? = file.extra["refusal"] { refusal = Refusal(rawValue: word) }
    }

    /// The file of the PIN in a dump: its members `triesLeft`, `verified` and `refusal`, no data.
    public func file(_ id: FileIdentifier) -> FileDump {
        var extra = JSONObject()
        extra["triesLeft"] = .optional(triesLeft)
        extra["verified"] = .bool(isVerified)
        if let refusal { extra["refusal"] = .string(refusal.rawValue) }
        return FileDump(id: id, state: .keyRequired, extra: extra)
    }
}
