// SPDX-License-Identifier: Apache-2.0

import CardModel
import DumpFormats

/// A dump as `--format hex`: one block a line, `SYSTEM SERVICE BLOCK HEX`, comments after `#`.
struct DumpView {
    var dump: CardDump
    var separator: HexSeparator

    var text: String { listing.text(dump) }

    /// One line of the listing.
    func line(_ system: SystemCode, _ service: ServiceCode, _ number: UInt16, _ block: Block) -> String {
        listing.line(system, service, number, block)
    }

    private var listing: HexListing { HexListing(separator: separator.text) }
}
