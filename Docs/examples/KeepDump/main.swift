// SPDX-License-Identifier: Apache-2.0

// Adds a dump file to the ledger and prints all journeys and payments that were ever kept.
import Foundation
import KazasuLedger

guard let path = CommandLine.arguments.dropFirst().first else { exit(64) }
let ledger = try Ledger.open(try Ledger.defaultPath(environment: ProcessInfo.processInfo.environment))
switch try ledger.import(Array(try Data(contentsOf: URL(fileURLWithPath: path))), name: path) {
case .kept(let addition): print("\(addition.added) new records")
case .unreadable(let error): print(error)
@unknown default: print("nothing was kept: update Kazasu")
}
for record in try ledger.records() { print(record.uid, record.record.balance.map { "\($0)" } ?? "?") }
