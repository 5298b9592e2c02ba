// SPDX-License-Identifier: Apache-2.0

package import Kazasu
import MIFAREClassic

/// The commands that read a card: the end of `poll`, and the hint of every error about a wrong card.
package struct ReadingCommands: Equatable {
    /// The commands without the program's name, as in `tag info`, best first; empty if none is known.
    package private(set) var words: [String]

    /// The commands for a kind of type A or B card, by the ids of `known-cards.tsv`. An identity document has the command of its kind.
    private static let byKind: [(kinds: Set<String>, commands: [String])] =
        [(["licence", "mynumberLicence"], ["license"])]
        + IdentityReport.kinds.map { ([$0.kind.rawValue], [$0.kind.rawValue]) }
        + [(["desfire"], ["desfire info"]), (["type2", "type4"], ["tag info", "tag read"])]

    /// The commands for a FeliCa card, by a system that it has; any other has `scan` and `dump`.
    private static let bySystem: [(system: SystemCode, commands: [String])] = [
        (.lite, ["lite info", "tag info"]), (.ndef, ["tag info", "tag read"]),
    ]

    /// Every card with one of these systems has a purse but for the common area, which cards without money have as well.
    private static let purse = ["balance", "history"]
    private static let anyFeliCa = ["scan", "dump"]
    /// Identifies a card that accepts APDUs, which its first answers do not.
    static let identification = "poll --applications"

    /// The commands for a card.
    ///
    /// - Parameters:
    ///   - kinds: the ids of what it was recognized as.
    ///   - system: the system that a FeliCa card was found by, if its answer does not have one.
    package init(_ card: PICC, kinds: [String], system: SystemCode? = nil) {
        switch card {
        case .felica(let target):
            let system = target.requestData.map { SystemCode(rawValue: $0) } ?? system
            let isLite = (0xF0...0xF2).contains(target.pmm.icType)
            let own = Self.bySystem.first { isLite ? $0.system == .lite : $0.system == system }?.commands
            let hasPurse = DecoderRegistry.standardPurses.contains { $0.system == system }
            if own == nil, system == .commonArea {
                words = ["scan"] + Self.purse + ["dump"]
            } else {
                words = (own ?? (hasPurse ? Self.purse : [])) + Self.anyFeliCa
            }
        case .typeA(let target) where target.sak.map { ClassicKind(sak: $0) != nil } == true:
            words = ["classic info", "classic dump"]
        case .typeA, .typeB:
            words = Self.byKind.filter { !$0.kinds.isDisjoint(with: kinds) }.flatMap(\.commands)
            if words.isEmpty, card.isISODEP { words = kinds.isEmpty ? [Self.identification] : ["dump"] }
        @unknown default: words = []
        }
    }

    /// The commands for a card that another command was given.
    package init(_ wrong: WrongCard) {
        self.init(wrong.card, kinds: wrong.kinds)
        guard wrong.card.technology == .felica else { return }
        let purses = DecoderRegistry.standardPurses.map(\.system)
        let wasPurseWanted =
            switch wrong.reason {
            case .noService: true
            case .noSystem(let codes): codes.isEmpty || codes.contains(where: purses.contains)
            default: false
            }
        guard wasPurseWanted else { return }
        // The search for a purse has said whether there is another one.
        words.removeAll(where: Self.purse.contains)
        if !wrong.names.isEmpty { words = Self.purse + words }
    }

    /// The commands as their user writes them, as in `'kazasu tag info'`.
    private func names(_ words: some Sequence<String>) -> [String] {
        words.map { word in
            let parts = word.split(separator: " ")
            let flags = parts.filter { $0.hasPrefix("--") }.map { String($0.dropFirst(2)) }
            let command = parts.filter { !$0.hasPrefix("--") }.joined(separator: " ")
            return flags.first.map { Caller.current.command(command, .flag($0)) } ?? Caller.current.command(command)
        }
    }

    /// What to do with a card that the command does not read.
    package var hint: String {
        guard let first = words.first, first != Self.identification else { return Remedy.identify.text() }
        if words.starts(with: ["scan", "balance"]) {
            let (scan, balance) = (names(["scan"])[0], names(["balance"])[0])
            return tr(
                "\(scan) shows what is on it; \(balance) reads the money, if it has some",
                "中身は \(scan)、残高があれば \(balance) で読めます")
        }
        let best = names([first] + words.dropFirst().filter { $0 == "scan" })
        guard best.count > 1 else {
            return first == "dump"
                ? tr("\(best[0]) reads what needs no key", "\(best[0]) で鍵なしで読めるものを読めます")
                : first == "scan" ? Remedy.contents.text() : tr("\(best[0]) reads this card", "このカードは \(best[0]) で読めます")
        }
        return tr(
            "\(best[0]) reads this card; \(best[1]) shows what is on it", "このカードは \(best[0]) で、中身は \(best[1]) で読めます")
    }

    /// The last row of what is said about a card; `nil` if no command is known to read it.
    package var row: [String]? {
        guard let first = words.first, first != Self.identification else { return nil }
        let commands = names(words).map { $0.filter { $0 != "'" } }
        return [tr("Read it with", "読み取り"), commands.joined(separator: tr(", ", "、"))]
    }
}
