// SPDX-License-Identifier: Apache-2.0

public import CardModel

/// A system code and whose it is; the facts are rows of `Data/systems.tsv`.
public struct KnownSystem: Hashable, Sendable {
    /// The code.
    public let code: SystemCode
    /// The card or the purpose.
    public let name: LocalizedText

    init(_ row: FactRow) throws(TableFault) {
        guard let name = try row.name() else { throw row.fault("english", .empty) }
        code = SystemCode(rawValue: try row.hex("code"))
        self.name = name
    }

    /// Every system that is known, by code.
    public static var all: [KnownSystem] { Registry.systems.rows }

    /// What is known of a code, or `nil`.
    public static func of(_ code: SystemCode) -> KnownSystem? {
        byCode[code]
    }

    private static let byCode = Dictionary(all.map { ($0.code, $0) }) { first, _ in first }
}
