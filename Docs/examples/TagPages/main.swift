// SPDX-License-Identifier: Apache-2.0

// Writes bytes into the user memory of a Type 2 Tag, such as an NTAG213, which reads them back; then prints the page.
import Kazasu

let arguments = Array(CommandLine.arguments.dropFirst())
let tag = try openReader(arguments.first).waitForCard(.tag).forumTag()
try tag.writePages(Array("tap".utf8), from: 0x20)
let dump = try tag.readPages([0x20, 0x21]).get()
for (number, bytes) in (dump.type2?.pages ?? [:]).sorted(by: { $0.key < $1.key }) { print(number, bytes) }
do {
    try tag.writePages([0, 0, 0, 0], from: 2)
} catch {
    print(error)
}
