// SPDX-License-Identifier: Apache-2.0

import TestSupport

/// A transcript with a card of type B and the exchanges that are expected, for `replay:`.
struct APDUTranscript {
    var lines = [
        #"{"schema":"kazasu.trace/1","reader":{"id":"x","name":"X","technologies":["typeA","typeB"]}}"#,
        #"{"t":0,"op":"activate","request":{"technology":"typeA"},"picc":null}"#,
    ]

    /// The card, and each exchange: a frame, a colon, its answer or the name of an error; `**` in a frame stands for a
    /// byte of a PIN, `card` for another activation.
    init(_ exchanges: String...) {
        activate()
        for exchange in exchanges {
            if exchange == "card" {
                activate()
                continue
            }
            let sides = exchange.split(separator: ":").map(String.init)
            let frame = sides[0].replacing("*", with: "0")
            let start = sides[0].prefix { $0 != "*" }.count / 2
            let mask = frame == sides[0] ? "" : #","masked":{"from":\#(start),"count":\#(frame.count / 2 - start)}"#
            let isHex = sides[1].utf8.allSatisfy { (0x30...0x39).contains($0) || (0x61...0x66).contains($0) }
            let result = isHex ? #""rx":"\#(sides[1])""# : #""error":"\#(sides[1])""#
            lines.append(#"{"t":0,"op":"transceive","tx":"\#(frame)"\#(mask),"timeoutMs":5000,\#(result)}"#)
        }
    }

    private mutating func activate() {
        lines.append(
            #"{"t":0,"op":"activate","request":{"technology":"typeB"},"picc":{"technology":"typeB","#
                + #""pupi":"11223344","applicationData":"00000000","protocolInfo":"0081d1"}}"#)
    }

    /// Puts it into a folder.
    ///
    /// - Returns: its reader ID.
    func write(to folder: TemporaryFolder) throws -> String {
        "replay:" + (try folder.write(Array(lines.map { $0 + "\n" }.joined().utf8), as: "transcript.jsonl"))
    }
}
