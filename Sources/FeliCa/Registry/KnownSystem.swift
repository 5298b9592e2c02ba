// SPDX-License-Identifier: Apache-2.0

public import CardModel

/// A system code and whose it is.
public struct KnownSystem: Hashable, Sendable {
    /// The code.
    public let code: SystemCode
    /// The card or the purpose.
    public let name: LocalizedText

    init(_ code: UInt16, _ english: String, _ japanese: String) {
        self.code = SystemCode(rawValue: code)
        name = LocalizedText(english, japanese)
    }

    /// What is known of a code, or `nil`.
    public static func of(_ code: SystemCode) -> KnownSystem? {
        all.first { $0.code == code }
    }
}
