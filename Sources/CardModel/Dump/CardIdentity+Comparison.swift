// SPDX-License-Identifier: Apache-2.0

extension CardIdentity {
    /// Whether this is surely another card: IDms of one card differ in the number of the system only, and a UID of four
    /// bytes that begins with 08 is made anew at each activation (ISO 14443-3), so it tells nothing.
    public func isOtherCard(than other: CardIdentity) -> Bool {
        if technology != other.technology { return true }
        if let idm, let otherIDm = other.idm { return !idm.isSameCard(as: otherIDm) }
        if let uid, let otherUID = other.uid {
            return uid != otherUID && !CardIdentity.isRandom(uid) && !CardIdentity.isRandom(otherUID)
        }
        return false
    }

    private static func isRandom(_ uid: [UInt8]) -> Bool { uid.count == 4 && uid.first == 0x08 }
}
