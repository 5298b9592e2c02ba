// SPDX-License-Identifier: Apache-2.0

import CardModel
import DumpFormats
import DumpFormatsXML

/// A dump that the user names, of any format that is known.
enum DumpFile {
    /// The one dump of a file.
    static func read(_ path: String) throws(Failure) -> CardDump {
        let bytes = try Files.read(path)
        do {
            let dumps = try DumpFormatRegistry.complete.read(bytes).dumps
            guard let dump = dumps.first, dumps.count == 1 else {
                throw Failure(
                    .badFile, "severalDumps",
                    tr(
                        "\(Files.name(path)) holds \(dumps.count) cards, and one is wanted",
                        "\(Files.name(path)) には \(dumps.count) 枚分のカードがあります（必要なのは 1 枚）"))
            }
            return dump
        } catch let error as DocumentError {
            throw Failure(error, path: path)
        } catch let failure as Failure {
            throw failure
        } catch {
            throw Failure.bug("\(error)")
        }
    }
}
