// SPDX-License-Identifier: Apache-2.0

import CardModel

/// A dump that the user names.
enum DumpFile {
    static func read(_ path: String) throws(Failure) -> CardDump {
        let bytes = try Files.read(path)
        do {
            return try CardDump(parsing: bytes)
        } catch {
            throw Failure(error, path: path)
        }
    }
}
