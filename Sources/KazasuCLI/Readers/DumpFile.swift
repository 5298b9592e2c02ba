// SPDX-License-Identifier: Apache-2.0

import CardModel
import DumpFormats
import DumpFormatsXML

/// A dump that the user names, of any format that is known.
enum DumpFile {
    /// A dump of Kazasu's own.
    static func readOwn(_ path: String) throws(Failure) -> CardDump {
        let bytes = try Files.read(path)
        do {
            return try CardDump(parsing: bytes)
        } catch {
            throw Failure(error, path: path)
        }
    }

    /// All dumps in the bytes of a file.
    static func dumps(_ bytes: [UInt8]) throws(DocumentError) -> [CardDump] {
        do {
            return try DumpFormatRegistry.complete.read(bytes).dumps
        } catch .unknownFormat(let found) {
            // What looks like JSON is most likely a dump of Kazasu's own with a mistake: name that.
            let first = bytes.first { $0 != 0x20 && $0 != 0x09 && $0 != 0x0A && $0 != 0x0D }
            guard first == nil || first == UInt8(ascii: "{") || first == UInt8(ascii: "[") else {
                throw .unknownFormat(found: found)
            }
            return [try CardDump(parsing: bytes)]
        } catch {
            throw error
        }
    }

    /// The one dump of a file of any format.
    static func read(_ path: String) throws(Failure) -> CardDump {
        let bytes = try Files.read(path)
        do {
            let dumps = try dumps(bytes)
            guard let dump = dumps.first, dumps.count == 1 else {
                throw Failure(
                    .badFile, "severalDumps",
                    tr(
                        "\(Files.name(path)) holds \(dumps.count) cards, and one is wanted",
                        "\(Files.name(path)) には \(dumps.count) 枚分のカードがあります（必要なのは 1 枚）"),
                    hint: tr("'kazasu decode' takes files with several cards", "'kazasu decode' なら複数枚分のファイルを読めます"))
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
