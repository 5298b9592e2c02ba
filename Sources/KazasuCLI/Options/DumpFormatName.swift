// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import CardModel
import DumpFormats
import DumpFormatsXML

/// A dump format that can be written, by its id.
struct DumpFormatName: ExpressibleByArgument, Equatable, Sendable {
    var id: String

    init?(argument: String) {
        guard DumpFormatName.allValueStrings.contains(argument) else { return nil }
        id = argument
    }

    static let hex = DumpFormatName(known: "hex")
    static let json = DumpFormatName(known: "json")

    private init(known id: String) { self.id = id }

    static var allValueStrings: [String] { DumpFormatRegistry.complete.writable.map(\.id) }

    /// The dump in this format, masked where `--redact` says so.
    ///
    /// - Parameter option: the option that named the format, for the hint.
    func text(_ dump: CardDump, _ redaction: Redaction, option: String) throws(Failure) -> String {
        let dump = redaction.apply(dump)
        if self == .json { return redaction.apply(dump.json).prettyText + "\n" }
        guard let format = DumpFormatRegistry.complete.writable.first(where: { $0.id == id }) else {
            throw Failure.bug("no format \(id)")
        }
        do {
            return String(decoding: try format.write(dump), as: UTF8.self)
        } catch {
            throw Failure(
                .badFile, "notWritable",
                tr(
                    "this dump cannot be written as \(id): \(error.text[.english])",
                    "このダンプは \(id) 形式にできません: \(error.text[.japanese])"),
                hint: tr("--\(option) json holds every dump", "--\(option) json ならどのダンプも保存できます"))
        }
    }
}
