// SPDX-License-Identifier: Apache-2.0

internal import CardModel

/// A fault between a simulated reader and its card.
@nonexhaustive
public enum InjectedFault: Hashable, Sendable {
    /// The answer does not reach the reader; the card has still executed the command.
    case silence
    /// The card is not in the field, and has lost its power.
    case absent
    /// The answer arrives damaged; the chip reports this PN53x status (02 CRC, 03 parity, 05 framing, 06 collision).
    case damaged(status: UInt8)
    /// Byte `offset` of the answer, counted from 0, is combined with `mask` by exclusive or; an offset past the end
    /// counts from the front again.
    case flipped(offset: Int, mask: UInt8)
    /// Only the first bytes of the answer arrive; the LEN byte is unchanged.
    case truncated(to: Int)
    /// Extra bytes follow the answer; the LEN byte is unchanged.
    case lengthened(by: [UInt8])
    /// The answer carries another card's IDm: its last byte differs.
    case otherIDm
    /// The response code is not the command code plus one.
    case wrongResponseCode
    /// The count byte of the answer is one too high: the number of blocks, nodes or systems. Answers without a count
    /// are unchanged.
    case wrongCount
    /// The card takes this much longer.
    case late(Duration)
    /// The answer is replaced.
    case replaced(by: [UInt8])

    /// Whether the fault changes the answer; otherwise the answer, or the card, is lost for the reader.
    var changesAnswer: Bool {
        switch self {
        case .silence, .absent, .damaged: false
        default: true
        }
    }

    /// Returns the result of the fault for an answer.
    func applied(to answer: CardAnswer) -> FieldResult {
        var changed = answer
        switch self {
        case .silence, .absent: return .silence
        case .damaged(let status): return .damaged(status: status)
        case .flipped(let offset, let mask):
            if !answer.frame.isEmpty, offset >= 0 { changed.frame[offset % answer.frame.count] ^= mask }
        case .truncated(let length): changed.frame = Array(answer.frame.prefix(max(0, length)))
        case .lengthened(let bytes): changed.frame += bytes
        case .otherIDm: if answer.frame.count > 9 { changed.frame[9] ^= 0xFF }
        case .wrongResponseCode: if answer.frame.count > 1 { changed.frame[1] ^= 0x20 }
        case .wrongCount:
            if let offset = InjectedFault.countOffset(in: answer.frame) { changed.frame[offset] &+= 1 }
        case .late(let duration): changed.thinkingTime += duration
        case .replaced(let bytes): changed.frame = bytes
        }
        return .answer(changed)
    }

    /// The offset of the count: after the IDm, or after the status flags that follow it.
    private static func countOffset(in frame: [UInt8]) -> Int? {
        guard frame.count > 10 else { return nil }
        let offset: Int? =
            switch frame[1] {
            case 0x03, 0x0D, 0x0F: 10
            case 0x07, 0x1F, 0x29: 12
            case 0x33: 13
            default: nil
            }
        return offset.flatMap { $0 < frame.count ? $0 : nil }
    }
}

/// The faults of a virtual field, as data: of several rules that apply at the same time the first counts.
public struct InjectedFaults: Hashable, Sendable, ExpressibleByArrayLiteral {
    /// The rules, the most important first.
    public var rules: [InjectedFaultRule]

    /// Creates a plan of rules; without any, there are no faults.
    public init(_ rules: [InjectedFaultRule] = []) {
        self.rules = rules
    }

    /// Creates a plan of rules.
    public init(arrayLiteral elements: InjectedFaultRule...) {
        rules = elements
    }

    /// The card is removed before exchange `first` and put back before exchange `back`; never when `back` is `nil`.
    public static func cardAway(from first: Int, until back: Int? = nil) -> InjectedFaults {
        guard let back else { return [InjectedFaultRule(.absent, .during(first...Int.max))] }
        return back <= first ? [] : [InjectedFaultRule(.absent, .during(first...(back - 1)))]
    }

    /// One fault at one exchange.
    public static func once(_ fault: InjectedFault, at exchange: Int) -> InjectedFaults {
        [InjectedFaultRule(fault, .during(exchange...exchange))]
    }

    /// One fault at one command APDU, counted from 1.
    public static func once(_ fault: InjectedFault, atAPDU number: Int) -> InjectedFaults {
        [InjectedFaultRule(fault, .during(number...number), countsAPDUs: true)]
    }

    /// Returns the fault at an exchange, or `nil`.
    ///
    /// - Parameters:
    ///   - exchange: the count of all exchanges, this one included.
    ///   - command: the command code of the frame, if it has one.
    ///   - exchangesOfCommand: the number of frames with that code, this one included.
    ///   - isAPDU: whether the counts are those of command APDUs.
    package func fault(exchange: Int, command: UInt8?, exchangesOfCommand: Int, isAPDU: Bool = false) -> InjectedFault?
    {
        rules.first { rule in
            guard rule.countsAPDUs == isAPDU else { return false }
            guard let only = rule.command else { return rule.strikes(at: exchange) }
            return only == command && rule.strikes(at: exchangesOfCommand)
        }?.fault
    }
}

/// A fault and its moment.
public struct InjectedFaultRule: Hashable, Sendable {
    /// The counts at which a fault applies; counts begin with 1.
    @nonexhaustive
    public enum Moment: Hashable, Sendable {
        /// From the first to the last of a range.
        case during(ClosedRange<Int>)
        /// At every `period`th count; a period below 1 means never.
        case every(Int)
        /// With this chance in a thousand at each count, the same for the same seed.
        case random(perThousand: Int, seed: UInt64)
    }

    /// The moment.
    public var moment: Moment
    /// Counts only the exchanges with this command code; `nil` counts all.
    public var command: UInt8?
    /// Counts command APDUs instead of frames, and applies to the response APDU: a fault that loses or damages the
    /// answer also does so when the reader requests it again. ``command`` is then the instruction byte.
    public var countsAPDUs: Bool
    /// The fault.
    public var fault: InjectedFault

    /// Creates a rule.
    public init(_ fault: InjectedFault, _ moment: Moment, command: UInt8? = nil, countsAPDUs: Bool = false) {
        self.fault = fault
        self.moment = moment
        self.command = command
        self.countsAPDUs = countsAPDUs
    }

    /// Whether the rule applies at this count.
    func strikes(at count: Int) -> Bool {
        switch moment {
        case .during(let range): range.contains(count)
        case .every(let period): period > 0 && count % period == 0
        case .random(let perThousand, let seed):
            SplitMix64.number(seed: seed, index: UInt64(truncatingIfNeeded: count)) % 1000
                < UInt64(clamping: perThousand)
        }
    }
}

extension InjectedFaultRule {
    private static let keys: Set<String> = [
        "fault", "at", "from", "to", "every", "perThousand", "seed", "command", "status", "offset", "mask", "length",
        "bytes", "milliseconds", "of",
    ]

    /// Reads one element of `faults` in a card file.
    init(json: JSONCursor) throws(DocumentError) {
        try json.allowOnly(InjectedFaultRule.keys)
        self.init(
            try InjectedFault(json: json), try Moment(json: json),
            command: try json.optional("command")?.bytes(count: 1).first,
            countsAPDUs: try json.optional("of")?.word(["frames": false, "apdus": true]) ?? false)
    }
}

extension InjectedFaultRule.Moment {
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
            throw json.malformed(.oneMoment)
        }
    }
}

extension InjectedFault {
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
                .oneOf, "silence", "absent", "damaged", "flipped", "truncated", "lengthened", "otherIDm",
                "wrongResponseCode", "wrongCount", "replaced", "late")
        }
    }
}
