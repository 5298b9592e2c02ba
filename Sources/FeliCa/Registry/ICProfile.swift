// SPDX-License-Identifier: Apache-2.0

package import CardModel

/// What cards with an IC type were seen to do. A hint for planning, never a reason to refuse a command.
package struct ICProfile: Hashable, Sendable {
    /// The IC types, byte 1 of the PMm.
    package let icTypes: [UInt8]
    /// The ROM types (byte 0 of the PMm) that it is limited to; empty for any.
    package let romTypes: [UInt8]
    /// The most blocks that one Read Without Encryption may ask for.
    package let blocksPerRead: Int?
    /// The most blocks that one Write Without Encryption may carry.
    package let blocksPerWrite: Int?
    /// Commands that are answered.
    package let answered: [CommandCode]
    /// Commands that are met with silence.
    package let silent: [CommandCode]
    /// The most bytes that an Echo may carry; `nil` when Echo is not answered or not measured.
    package let echoLimit: Int?
    /// Whether some commands are met with silence when bytes follow their last field.
    package let isStrictAboutLength: Bool
    /// Whether a Polling with request code 02 is answered; `nil` when not measured.
    package let tellsPerformance: Bool?

    init(
        _ icTypes: [UInt8], rom romTypes: [UInt8] = [], read: Int?, write: Int?, answered: [CommandCode] = [],
        silent: [CommandCode] = [], echo: Int? = nil, strict: Bool = false, performance: Bool? = nil
    ) {
        self.icTypes = icTypes
        self.romTypes = romTypes
        blocksPerRead = read
        blocksPerWrite = write
        self.answered = answered
        self.silent = silent
        echoLimit = echo
        isStrictAboutLength = strict
        tellsPerformance = performance
    }

    /// Whether a command is answered. Read Without Encryption is answered by every FeliCa product.
    package func support(of command: CommandCode) -> CommandSupport {
        if command == .readWithoutEncryption || answered.contains(command) { return .answered }
        return silent.contains(command) ? .silent : .unknown
    }

    /// The profile of cards with this PMm, or `nil` when none was published.
    package static func of(_ pmm: PMm) -> ICProfile? {
        all.first { row in
            row.icTypes.contains(pmm.icType) && (row.romTypes.isEmpty || row.romTypes.contains(pmm.romType))
        }
    }
}

extension ICProfile {
    /// Every profile. Sources: the table in felica-tool's README, measured on real cards; for the numbers of blocks of
    /// ICs 08, 09, 0C and 0D and the writes of 00 and 01 nfcpy `tt3_sony.py`; for FeliCa Lite the Nbr and Nbw of
    /// nfcpy's tests.
    package static let all: [ICProfile] = [
        .init(
            [0x00], rom: [0x02], read: 12, write: 8, answered: plain,
            silent: mobile + container + property + modern + [.echo], performance: false),
        .init(
            [0x00], rom: [0x03], read: 8, write: 8, answered: [.requestService, .requestResponse],
            silent: [.searchServiceCode, .requestSystemCode] + mobile + container + property + modern + [.echo],
            performance: false),
        .init(
            [0x01], read: 12, write: 8, answered: plain + [.echo], silent: mobile + container + property + modern,
            echo: 252, performance: false),
        .init([0x08, 0x09, 0x0C], read: 12, write: 8),
        .init([0x0D], read: 12, write: 10),
        .init(
            [0x0B], read: 12, write: 10, answered: plain + [.echo], silent: mobile + container + property + modern,
            echo: 238, strict: true, performance: true),
        .init(
            [0x20], read: 12, write: 10, answered: plain + [.echo], silent: mobile + container + property + modern,
            echo: 252, strict: true, performance: true),
        .init(
            [0x24], read: 12, write: nil, answered: [.requestService, .requestResponse, .requestSystemCode],
            silent: [.searchServiceCode] + mobile + container + property + modern + [.echo], strict: true,
            performance: true),
        .init(
            [0x31, 0x32, 0x36, 0x38], read: 15, write: 13, answered: plain + modern + [.echo],
            silent: mobile + container + property, echo: 252, performance: true),
        .init(
            [0x3B, 0x44, 0x46], read: 15, write: 13, answered: plain + modern + property + [.echo],
            silent: mobile + container, echo: 252, performance: true),
        .init(
            [0x16], read: 15, write: 13, answered: plain + modern + container + [.echo], silent: mobile + property,
            echo: 252, strict: true, performance: true),
        .init(
            [0x18], read: 15, write: 13, answered: plain + modern + container + mobile + [.echo], silent: property,
            echo: 252, strict: true, performance: true),
        .init([0xF0], read: 4, write: 1, silent: plain),
        .init(
            [0xF1], read: 4, write: 1, answered: [.echo],
            silent: plain + mobile + container + property + modern, echo: 75, performance: true),
    ]

    private static let plain: [CommandCode] = [
        .requestService, .requestResponse, .searchServiceCode, .requestSystemCode,
    ]
    private static let mobile: [CommandCode] = [
        .requestBlockInformation, .requestBlockInformationEx, .requestCodeList, .setParameter, .getAreaInformation,
        .getContainerProperty, .getContainerID,
    ]
    private static let container: [CommandCode] = [.getContainerIssueInformation]
    private static let property: [CommandCode] = [.getNodeProperty, .internalAuthenticateAndRead]
    private static let modern: [CommandCode] = [
        .requestServiceV2, .getSystemStatus, .requestProductInformation, .requestSpecificationVersion, .resetMode,
        .authentication1V2,
    ]
}

/// Which product has an IC type; the facts are rows of `Data/ic-products.tsv`.
package struct ICProduct: Hashable, Sendable {
    /// The IC types, byte 1 of the PMm.
    package let icTypes: ClosedRange<UInt8>
    /// The ROM types (byte 0 of the PMm) that were seen with them; empty where no source gives one.
    package let romTypes: [UInt8]
    /// The chip, as its maker calls it.
    package let name: String
    /// Where it is found: cards, shops, phones; `nil` where nothing is known.
    package let use: String?

    init(_ row: FactRow) throws(FactTableError) {
        let first: UInt8 = try row.hex("ic")
        let last: UInt8 = try row.text("last") == nil ? first : try row.hex("last")
        guard first <= last else { throw row.fault("last", .notANumber) }
        icTypes = first...last
        romTypes = try row.hexList("roms")
        name = try row.required("product")
        use = try row.text("use")
    }

    /// Every product, by IC type.
    package static var all: [ICProduct] { Registry.products.rows }

    /// The product with this PMm: the row of its IC and ROM type; where no row has that ROM type, the only row of the
    /// IC type; else `nil`.
    package static func of(_ pmm: PMm) -> ICProduct? {
        let rows = all.filter { $0.icTypes.contains(pmm.icType) }
        return rows.first { $0.romTypes.contains(pmm.romType) } ?? (rows.count == 1 ? rows.first : nil)
    }
}

/// Whether cards of a kind answer a command.
package enum CommandSupport: Hashable, Sendable {
    /// They do.
    case answered
    /// They keep silent.
    case silent
    /// Nobody has published it.
    case unknown
}
