// SPDX-License-Identifier: Apache-2.0

// Decodes a dump file; needs no reader and no C library.
import Foundation
import KazasuCards

guard let path = CommandLine.arguments.dropFirst().first else { exit(64) }
let dump = try CardDump(parsing: Array(Data(contentsOf: URL(fileURLWithPath: path))))
for decoder in DecoderRegistry.standard.recognising(dump) {
    let report = try decoder.decode(dump)
    print(report.name[.english])
    for record in report.history ?? [] { print(record) }
}
