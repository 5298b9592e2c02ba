// SPDX-License-Identifier: Apache-2.0

public import CardModel

/// Which of the two cards holds a licence; the raw values are those of `kazasu.license/1`.
public enum LicenseKind: String, Hashable, Sendable, CaseIterable {
    /// IC運転免許証
    case license
    /// マイナ免許証: the licence on a My Number card
    case myNumberLicense

    /// The name for people.
    public var name: LocalizedText {
        switch self {
        case .license: LocalizedText("Driver's licence (Japan)", "運転免許証")
        case .myNumberLicense: LocalizedText("Driver's licence on a My Number card", "マイナ免許証")
        }
    }

    /// The files that make it up, in the order of the report.
    public var files: [LicenseFile] {
        LicenseFile.allCases.filter { $0.isOnMyNumberCard == (self == .myNumberLicense) }
    }
}
