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

    static var allValueStrings: [String] { DumpFormatRegistry.complete.writable.map(\.id) }

    /// The dump in this format.
    func text(_ dump: CardDump) throws(Failure) -> String {
        guard let format = DumpFormatRegistry.complete.writable.first(where: { $0.id == id }) else {
            throw Failure.bug("no format \(id)")
        }
        do {
            return String(decoding: try format.write(dump), as: UTF8.self)
        } catch {
            throw Failure(
                .usage, "notWritable",
                tr("this dump cannot be written as \(id): \(error)", "このダンプは \(id) 形式にできません: \(error)"))
        }
    }
}
