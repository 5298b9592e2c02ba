// SPDX-License-Identifier: Apache-2.0

internal import CardModel

extension FaultRule {
    private static let keys: Set<String> = [
        "fault", "at", "from", "to", "every", "perThousand", "seed", "command", "status", "offset", "mask", "length",
        "bytes", "milliseconds", "of",
    ]

    /// Reads one element of `faults` in a card file.
    init(json: JSONCursor) throws(DocumentError) {
        try json.allowOnly(FaultRule.keys)
        self.init(
            try Fault(json: json), try Moment(json: json), command: try json.optional("command")?.bytes(count: 1).first,
            countsAPDUs: try json.optional("of")?.word(["frames": false, "apdus": true]) ?? false)
    }
}

extension FaultRule.Moment {
    fileprivate init(json: JSONCursor) throws(DocumentError) {
        let counts = 1...Int(Int32.max)
        if let at = try json.optional("at") {
            let count = try at.integer(in: counts)
            self = .during(count...count)
        } else if let from = try json.optional("from") {
            let first = try from.integer(in: counts)
            let last = try json.optional("to")?.integer(in: first...counts.upperBound) ?? counts.upperBound
            self = .during(first...last)
        } else if let every = try json.optional("every") {
            self = .every(try every.integer(in: counts))
        } else if let chance = try json.optional("perThousand") {
            let seed = try json.optional("seed")?.integer(in: 0...Int.max) ?? 0
            self = .random(perThousand: try chance.integer(in: 0...1000), seed: UInt64(clamping: seed))
        } else {
            throw json.malformed("one of at, from, every and perThousand")
        }
    }
}

extension Fault {
    fileprivate init(json: JSONCursor) throws(DocumentError) {
        let word = try json.required("fault")
        switch try word.text() {
        case "silence": self = .silence
        case "absent": self = .absent
        case "damaged": self = .damaged(status: try json.optional("status")?.bytes(count: 1).first ?? 0x02)
        case "flipped":
            self = .flipped(
                offset: try json.required("offset").integer(in: 0...254),
                mask: try json.optional("mask")?.bytes(count: 1).first ?? 0xFF)
        case "truncated": self = .truncated(to: try json.required("length").integer(in: 0...254))
        case "lengthened": self = .lengthened(by: try json.optional("bytes")?.bytes(atMost: 64) ?? [0x00])
        case "otherIDm": self = .otherIDm
        case "wrongResponseCode": self = .wrongResponseCode
        case "wrongCount": self = .wrongCount
        case "replaced": self = .replaced(by: try json.required("bytes").bytes(atMost: 4096))
        case "late": self = .late(.milliseconds(try json.required("milliseconds").integer(in: 0...60_000)))
        default:
            throw word.malformed(
                "silence, absent, damaged, flipped, truncated, lengthened, otherIDm, wrongResponseCode, wrongCount, "
                    + "replaced or late")
        }
    }
}
