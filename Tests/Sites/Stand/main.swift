// SPDX-License-Identifier: Apache-2.0

import Glibc
import VirtualReader

// A simulated PN532 at the speed of a real one, on which a test puts a card and takes it away.
//
//     card-stand CARD LINK [OTHER]
//
// Prints the connection string. Standard input: a line each time, which is answered with the same line: `on`, `off`, or
// `other`, which puts the other card in the place of the first.

/// Reads a file.
func contents(_ path: String) -> [UInt8]? {
    guard let file = fopen(path, "r") else { return nil }
    defer { fclose(file) }
    var bytes: [UInt8] = []
    while true {
        let byte = getc(file)
        guard byte != EOF else { return bytes }
        bytes.append(UInt8(truncatingIfNeeded: byte))
    }
}

let words = CommandLine.arguments
guard (3...4).contains(words.count), let bytes = contents(words[1]), let cards = try? VirtualCardFile.loadCards(bytes)
else {
    exit(64)
}
let others = words.count > 3 ? contents(words[3]).flatMap { try? VirtualCardFile.loadCards($0) } ?? [] : []
let field = VirtualField(cards: [])
guard let server = try? PN532Server(field: field, timing: .full, link: words[2]) else { exit(73) }
print(server.connectionString)
fflush(nil)
while let line = readLine() {
    field.removeCards()
    switch line {
    case "on": for card in cards { field.place(card) }
    case "other": for card in others { field.place(card) }
    default: break
    }
    print(line)
    fflush(nil)
}
server.stop()
