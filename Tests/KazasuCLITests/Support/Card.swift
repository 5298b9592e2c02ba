// SPDX-License-Identifier: Apache-2.0

import TestSupport

/// Virtual cards for tests.
enum Card {
    /// The reader ID of a card of `Fixtures/cards`.
    static func fixture(_ name: String) -> String { "virtual:\(file(name))" }

    /// The path of a card of `Fixtures/cards`.
    static func file(_ name: String) -> String { "\(TestFiles.root)/Fixtures/cards/\(name)/card.json" }

    /// The IDm of the cards that are made here.
    static let idm = "0102030405060708"

    /// A transit card with 10 yen and one journey, and what goes wrong with it.
    ///
    /// - Parameters:
    ///   - faults: the elements of `virtual.faults`.
    ///   - extra: more services, as members of `blocks`.
    static func transit(faults: String = "", extra: String = "") -> String {
        """
        {"schema":"kazasu.card/1","idm":"\(idm)","pmm":"01368b868fbecbff",
         "systems":[{"code":"0003","keyVersion":"0001","nodes":["0040-07FF","0048"],
          "blocks":{"008B":["00000000000000002000000a000001e3"],
           "090F":["16010002166CE33BE6210A000001E300"]\(extra.isEmpty ? "" : ",")\(extra)}}],
         "virtual":{"faults":[\(faults)]}}
        """
    }

    /// A card whose dump takes hundreds of exchanges.
    static func long(faults: String = "") -> String { transit(faults: faults, extra: #""900B":4000"#) }
}

extension TemporaryFolder {
    /// Puts a card file here.
    ///
    /// - Returns: its reader ID.
    func card(_ text: String, as name: String = "card.json") throws -> String {
        "virtual:" + (try write(Array(text.utf8), as: name))
    }

    /// The text of a file in it.
    func text(_ name: String) throws -> String {
        String(decoding: try TestFiles.read("\(path)/\(name)"), as: UTF8.self)
    }
}
