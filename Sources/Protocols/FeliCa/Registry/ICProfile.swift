// SPDX-License-Identifier: Apache-2.0

package import CardModel

/// The observed behavior of cards with an IC type. A hint for planning, never a reason to refuse a command.
package struct ICProfile: Hashable, Sendable {
    /// The IC types, byte 1 of the PMm.
    package let icTypes: [UInt8]
    /// The ROM types (byte 0 of the PMm) that it is limited to; empty for any.
    package let romTypes: [UInt8]
    /// The maximum number of blocks in one Read Without Encryption.
    package let blocksPerRead: Int?
    /// The maximum number of blocks in one Write Without Encryption.
    package let blocksPerWrite: Int?
    package let answered: [CommandCode]
    /// Commands that are not answered.
    package let silent: [CommandCode]

    init(
        _ icTypes: [UInt8], rom romTypes: [UInt8] = [], read: Int?, write: Int?, answered: [CommandCode] = [],
        silent: [CommandCode] = []
    ) {
        self.icTypes = icTypes
        self.romTypes = romTypes
        blocksPerRead = read
        blocksPerWrite = write
        self.answered = answered
        self.silent = silent
    }

    /// Returns whether a command is answered. Read Without Encryption is answered by every FeliCa product.
    package func support(of command: CommandCode) -> CommandSupport {
        if command == .readWithoutEncryption || answered.contains(command) { return .answered }
        return silent.contains(command) ? .silent : .unknown
    }

    /// Returns the profile of cards with this PMm; `nil` if none was published.
    package static func of(_ pmm: PMm) -> ICProfile? {
        all.first { row in
            row.icTypes.contains(pmm.icType) && (row.romTypes.isEmpty || row.romTypes.contains(pmm.romType))
        }
    }
}

extension ICProfile {
    /// Every profile.
    ///
    /// Sources: the table in felica-tool's README, measured on real cards; nfcpy `tt3_sony.py` for the numbers of
    /// blocks of ICs 08, 09, 0C and 0D and the writes of 00 and 01; the Nbr and Nbw of nfcpy's tests for FeliCa Lite.
    package static let all: [ICProfile] = [
        .init(
            [0x00], rom: [0x02], read: 12, write: 8, answered: plain,
            silent: mobile + container + property + modern + [.echo]),
        .init(
            [0x00], rom: [0x03], read: 8, write: 8, answered: [.requestService, .requestResponse],
            silent: [.searchServiceCode, .requestSystemCode] + mobile + container + property + modern + [.echo]),
        .init(
            [0x01], read: 12, write: 8, answered: plain + [.echo], silent: mobile + container + property + modern),
        .init([0x08, 0x09, 0x0C], read: 12, write: 8),
        .init([0x0D], read: 12, write: 10),
        .init(
            [0x0B], read: 12, write: 10, answered: plain + [.echo], silent: mobile + container + property + modern),
        .init(
            [0x20], read: 12, write: 10, answered: plain + [.echo], silent: mobile + container + property + modern),
        .init(
            [0x24], read: 12, write: nil, answered: [.requestService, .requestResponse, .requestSystemCode],
            silent: [.searchServiceCode] + mobile + container + property + modern + [.echo]),
        .init(
            [0x31, 0x32, 0x36, 0x38], read: 15, write: 13, answered: plain + modern + [.echo],
            silent: mobile + container + property),
        .init(
            [0x3B, 0x44, 0x46], read: 15, write: 13, answered: plain + modern + property + [.echo],
            silent: mobile + container),
        .init(
            [0x16], read: 15, write: 13, answered: plain + modern + container + [.echo], silent: mobile + property),
        .init(
            [0x18], read: 15, write: 13, answered: plain + modern + container + mobile + [.echo], silent: property),
        .init([0xF0], read: 4, write: 1, silent: plain),
        .init(
            [0xF1], read: 4, write: 1, answered: [.echo],
            silent: plain + mobile + container + property + modern),
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

/// The product that has an IC type; the facts are rows of `Data/ic-products.tsv`.
package struct ICProduct: Hashable, Sendable {
    /// The IC types, byte 1 of the PMm.
    package let icTypes: ClosedRange<UInt8>
    /// The ROM types (byte 0 of the PMm) that were seen with them; empty if no source gives one.
    package let romTypes: [UInt8]
    /// The manufacturer's name of the chip.
    package let name: String
    /// Where it is used: cards, shops, phones; `nil` if unknown.
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

    /// Returns the product with this PMm.
    ///
    /// It is the row of its IC and ROM type; if no row has that ROM type, the only row of the IC type; otherwise `nil`.
    package static func of(_ pmm: PMm) -> ICProduct? {
        let rows = all.filter { $0.icTypes.contains(pmm.icType) }
        return rows.first { $0.romTypes.contains(pmm.romType) } ?? (rows.count == 1 ? rows.first : nil)
    }
}

/// Whether cards of a kind answer a command.
package enum CommandSupport: Hashable, Sendable {
    /// They answer it.
    case answered
    /// They do not answer it.
    case silent
    /// Unknown: nobody has published it.
    case unknown
}
