// SPDX-License-Identifier: Apache-2.0

public import CardModel

/// One item of a licence as the card holds it.
public struct LicenseField: Hashable, Sendable {
    /// The file it stands in.
    public let file: LicenseFile
    /// Its tag.
    public let tag: LicenseTag
    /// Which item it is.
    public let item: LicenseItem
    /// Which of several such items, from 1 on.
    public let number: Int
    /// The category of vehicles, where it is one, as in `medium`.
    public let category: String?
    /// The name for people.
    public let name: LocalizedText
    /// What it says.
    public let value: LicenseValue
    /// The bytes of its value.
    public let raw: [UInt8]
}
