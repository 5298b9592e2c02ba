// SPDX-License-Identifier: Apache-2.0

// Decodes a dump file; needs no reader and no C library.
import Foundation
import KazasuCards

guard let path = CommandLine.arguments.dropFirst().first else { exit(64) }
let dumps = try readDumps(Array(Data(contentsOf: URL(fileURLWithPath: path))))
for report in dumps.flatMap({ $0.decode().cards }) {
    print(report.name[.english])
    for record in report.history ?? [] { print(record) }
}
