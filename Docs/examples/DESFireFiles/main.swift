// SPDX-License-Identifier: Apache-2.0

// Lists the files of a MIFARE DESFire, reads one that everybody may read, and takes 120 from a value with its owner's key.
import Kazasu

let card = try openReader(CommandLine.arguments.dropFirst().first).waitForCard(.desfire).desfire()
for application in try card.information().applications where !application.files.isEmpty {
    print(application.id, application.files.map(\.type.rawValue).joined(separator: ", "))
}
// A test key of a card that does not exist. A program reads it from a file, and overwrites the bytes afterwards.
guard let member = DESFireFileID("F5A1C0:1"), let purse = DESFireFileID("F5A1C0:3"),
    let key = DESFireKey(Array(0x10...0x1F), number: 1)
else { fatalError("a file and a key") }
if case .data(let bytes) = try card.read(member) { print(bytes.hexadecimal) }
if let value = try card.change(purse, by: -120, key: key) { print(value) }
