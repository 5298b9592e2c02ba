// SPDX-License-Identifier: Apache-2.0

// Decodes every dump of a folder, of whatever program, to lines of file, card, balance, currency and newest record.
import Foundation
import KazasuCards

guard let folder = CommandLine.arguments.dropFirst().first else { exit(64) }
for name in try FileManager.default.contentsOfDirectory(atPath: folder).sorted() {
    guard let data = FileManager.default.contents(atPath: "\(folder)/\(name)") else { continue }
    do {
        for report in try readDumps(Array(data)).flatMap({ $0.decode().cards }) {
            let newest = report.history?.first?.date?.description ?? ""
            let money = report.balances.first.map { "\($0.amount.map(String.init) ?? ""),\($0.currency)" } ?? ","
            print("\(name),\(report.name[.english]),\(money),\(newest)")
        }
    } catch {
        print("\(name): \(error)")
    }
}
