// SPDX-License-Identifier: Apache-2.0

// APDUs: selects an application of a card, and reads a file whose contents anyone may read. The arguments are a reader, an AID and
// a file identifier.
import Kazasu

let arguments = Array(CommandLine.arguments.dropFirst())
guard arguments.count == 3, let aid = AID(arguments[1]), let file = FileIdentifier(arguments[2]) else {
    fatalError("usage: RawAPDUs READER AID FILE")
}
let reader = try openReader(arguments[0])
let session = try reader.waitForCard(.isoDEP).apdus()

try session.select(.application(aid))
try session.select(.childEF(file))
let contents = session.readFile()
print(contents.data.count, "bytes:", contents.end)

// Any other command is a value, and its answer has a status word.
let answer = try session.transmit(CommandAPDU(.readRecord, p1: 1, p2: 0x04, ne: 256))
print(answer.status, answer.status.meaning?[.english] ?? "")
