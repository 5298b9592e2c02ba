// SPDX-License-Identifier: Apache-2.0

public import CardModel

/// What the card said of one of its PINs when it was read; the PIN itself is nowhere.
public struct CardPINState: Hashable, Sendable {
    /// How many tries were left before the PIN was verified, 0 when it is locked; `nil` when the card did not say.
    public var triesLeft: Int?
    /// Whether the card took the PIN in this reading.
    public var isVerified: Bool

    /// A state.
    public init(triesLeft: Int?, isVerified: Bool) {
        self.triesLeft = triesLeft
        self.isVerified = isVerified
    }

    /// The state that a dump keeps with the file of a PIN.
    public init?(_ file: FileDump?) {
        guard let file else { return nil }
        guard case .integer(let tries)? = file.extra["triesLeft"], (0...15).contains(tries) else {
            self.init(triesLeft: nil, isVerified: file.extra["verified"] == true)
            return
        }
        self.init(triesLeft: Int(tries), isVerified: file.extra["verified"] == true)
    }

    /// The file of the PIN in a dump: its members `triesLeft` and `verified`, no data.
    public func file(_ id: FileIdentifier) -> FileDump {
        var extra = JSONObject()
        extra["triesLeft"] = .optional(triesLeft)
        extra["verified"] = .bool(isVerified)
        return FileDump(id: id, state: .keyRequired, extra: extra)
    }
}
