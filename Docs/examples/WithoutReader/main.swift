// SPDX-License-Identifier: Apache-2.0

// A card from a file on a simulated reader: what a test of a program that uses Kazasu does.
import Foundation
import KazasuTesting

guard let path = CommandLine.arguments.dropFirst().first else { exit(64) }
let file = try Array(Data(contentsOf: URL(fileURLWithPath: path)))
let reader = try virtualReader(cards: file)
let card = try reader.waitForCard(.purse)
let balance = try card.balance()
print(balance.balances.map { $0.amount ?? 0 })

// The same card before the real libnfc, as a program opens it that takes the reader's ID as an argument.
let sameReader = try openReader("virtual:\(path)")
let sameCard = try sameReader.waitForCard(.purse)
print(try sameCard.balance() == balance)
