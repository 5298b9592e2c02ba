// SPDX-License-Identifier: Apache-2.0

public import CardModel

/// Which product has an IC type; the facts are rows of `Data/ic-products.tsv`.
public struct ICProduct: Hashable, Sendable {
    /// The IC types, byte 1 of the PMm.
    public let icTypes: ClosedRange<UInt8>
    /// The ROM types (byte 0 of the PMm) that were seen with them; empty where no source gives one.
    public let romTypes: [UInt8]
    /// The chip, as its maker calls it.
    public let name: String
    /// Where it is found: cards, shops, phones; `nil` where nothing is known.
    public let use: String?

    init(_ row: FactRow) throws(TableFault) {
        let first: UInt8 = try row.hex("ic")
        let last: UInt8 = try row.text("last") == nil ? first : try row.hex("last")
        guard first <= last else { throw row.fault("last", .notANumber) }
        icTypes = first...last
        romTypes = try row.hexList("roms")
        name = try row.required("product")
        use = try row.text("use")
    }

    /// Every product, by IC type.
    public static var all: [ICProduct] { Registry.products.rows }

    /// The product with this PMm: the row of its IC and ROM type; where no row has that ROM type, the only row of the
    /// IC type; else `nil`.
    public static func of(_ pmm: PMm) -> ICProduct? {
        let rows = all.filter { $0.icTypes.contains(pmm.icType) }
        return rows.first { $0.romTypes.contains(pmm.romType) } ?? (rows.count == 1 ? rows.first : nil)
    }
}
