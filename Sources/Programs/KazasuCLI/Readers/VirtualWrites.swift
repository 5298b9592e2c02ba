// SPDX-License-Identifier: Apache-2.0

import Kazasu

/// The file that `--virtual-writes` names, for a virtual card with what was written to it.
struct VirtualWrites {
    private let path: String?
    private let file: OutputFile?
    private let context: Context

    /// Opens the file, before a card is read.
    init(_ path: String?, _ context: Context) throws(CommandError) {
        self.path = path
        self.context = context
        try context.check("--virtual-writes", isGiven: path != nil)
        file = try path.map { path throws(CommandError) in try OutputFile(path, replacing: .card) }
    }

    /// Checks that the reader is a virtual one if a file is named.
    package func check(_ reader: String) throws(CommandError) {
        guard path != nil, !reader.hasPrefix(VirtualDriver.prefix) else { return }
        throw CommandError(.virtualWritesReader)
    }

    /// Writes the file; without one, says that a write is lost.
    package func keep(_ card: KeptCard) {
        if let file {
            context.attempt { () throws(CommandError) in try file.finish(card.text + "\n") }
            guard card.losesKey else { return }
            context.note(
                tr(
                    "\(Files.name(file.path)) is a dump, which has no keys: the card's key is not kept; use a card file (kazasu.card/1)",
                    "\(Files.name(file.path)) はダンプで、鍵を入れられません。カードの鍵は保存されません（kazasu.card/1 のカードファイルなら保存できます）"))
        } else if card.isWritten {
            context.note(
                tr(
                    "the card is virtual: writes are not kept; --virtual-writes FILE keeps them",
                    "仮想カードのため、書き込みは保存されません。--virtual-writes ファイル で保存できます"))
        }
    }
}
