// SPDX-License-Identifier: Apache-2.0

public import CardModel

/// Which product has an IC type. Sources: felica-tool `chips.json`, proxmark3 `felica_ic_code_list.json`, nfcpy
/// `IC_CODE_MAP`; where nfcpy disagrees (14–1F, 35) the first two are followed.
public struct ICProduct: Hashable, Sendable {
    /// The IC types, byte 1 of the PMm.
    public let icTypes: ClosedRange<UInt8>
    /// The ROM types (byte 0 of the PMm) that were seen with them; empty where no source gives one.
    public let romTypes: [UInt8]
    /// The chip, as its maker calls it.
    public let name: String
    /// Where it is found: cards, shops, phones; `nil` where nothing is known.
    public let use: String?

    init(_ icTypes: ClosedRange<UInt8>, rom romTypes: [UInt8] = [], _ name: String, _ use: String? = nil) {
        self.icTypes = icTypes
        self.romTypes = romTypes
        self.name = name
        self.use = use
    }

    init(_ icType: UInt8, rom romTypes: [UInt8] = [], _ name: String, _ use: String? = nil) {
        self.init(icType...icType, rom: romTypes, name, use)
    }

    /// The product with this PMm: the row of its IC and ROM type; where no row has that ROM type, the only row of the
    /// IC type; else `nil`.
    public static func of(_ pmm: PMm) -> ICProduct? {
        let rows = all.filter { $0.icTypes.contains(pmm.icType) }
        return rows.first { $0.romTypes.contains(pmm.romType) } ?? (rows.count == 1 ? rows.first : nil)
    }
}
