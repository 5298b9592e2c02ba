// SPDX-License-Identifier: Apache-2.0

internal import CardModel
internal import ReaderCore

/// Masks the traffic between the computer and a reader, as far as it is known: frames of the PN53x and of the RC-S380, and
/// USB messages (CCID) with a PN53x frame in them. Bytes of anything else become 00.
///
/// A frame may span several transfers, so all traffic between two exchanges with the card is masked together.
struct LinkFrames {
    /// What the last exchange before the traffic was about.
    private let context: Context

    enum Context {
        /// Nothing: the reader was being opened.
        case none
        /// A card of this technology was looked for.
        case search(Technology)
        /// A frame was sent to this card.
        case exchange(PICC)
    }

    init(_ context: Context) {
        self.context = context
    }

    /// One run of traffic, in order.
    func apply(_ events: [LinkEvent], _ masks: inout IdentityMasks) -> [LinkEvent] {
        var sent = Bytes(events) { if case .sent(let bytes) = $0 { bytes } else { nil } }
        var received = Bytes(events) { if case .received(let bytes) = $0 { bytes } else { nil } }
        let commands = sent.frames
        for frame in commands { sent.replace(frame, with: mask(frame.data, answering: nil, &masks)) }
        for frame in received.frames {
            let command = commands.last { $0.event < frame.event }?.data
            received.replace(frame, with: mask(frame.data, answering: command, &masks))
        }
        return events.enumerated().map { index, event in
            var event = event
            switch event.content {
            case .sent(let bytes): event.content = .sent(sent.bytes(of: index, instead: bytes, &event))
            case .received(let bytes): event.content = .received(received.bytes(of: index, instead: bytes, &event))
            case .failed(let word): event.content = .failed(RecordingWords.linkError(word))
            case .note: event.content = .note(RecordingWords.other)
            }
            return event
        }
    }

    // MARK: Commands of the chips

    /// Commands of a PN53x that hold nothing of a card, by their code: version, state, registers, settings, selection.
    private static let openPN53x: Set<UInt8> = [
        0x00, 0x02, 0x04, 0x06, 0x0C, 0x0E, 0x10, 0x12, 0x14, 0x16, 0x32, 0x44, 0x52, 0x54,
    ]
    /// The same of an RC-S380: field, protocol, versions, command type.
    private static let openRCS380: Set<UInt8> = [0x00, 0x02, 0x06, 0x20, 0x22, 0x28, 0x2A]

    /// The data of a frame, from its direction byte on.
    private func mask(_ data: [UInt8], answering command: [UInt8]?, _ masks: inout IdentityMasks) -> [UInt8] {
        guard data.count >= 2 else { return data }
        let (direction, code) = (data[0], data[1])
        func masked(_ count: Int, _ card: [UInt8]) -> [UInt8] {
            let rest = [UInt8](repeating: 0, count: max(0, data.count - count - card.count))
            return Array(data.prefix(count)) + card + rest
        }
        switch direction {
        case 0xD4 where Self.openPN53x.contains(code): return data
        // Register values may be those of the buffer for the card.
        case 0xD5 where code != 0x07 && code % 2 == 1 && Self.openPN53x.contains(code - 1): return data
        case 0xD4 where code == 0x08: return data.enumerated().map { $0 > 1 && ($0 - 2) % 3 == 2 ? 0 : $1 }
        case 0xD4 where code == 0x40: return masked(3, cardFrame(Array(data.dropFirst(3)), &masks))
        case 0xD4 where code == 0x42: return masked(2, cardFrame(Array(data.dropFirst(2)), &masks))
        case 0xD5 where code == 0x41 || code == 0x43:
            let question = command.map { Array($0.dropFirst(code == 0x41 ? 3 : 2)) }
            return masked(3, cardAnswer(Array(data.dropFirst(3)), to: question, &masks))
        // The parameters of a Polling; a UID that is looked for otherwise.
        case 0xD4 where code == 0x4A:
            let isFeliCa = data.count == 9 && (data[3] == 1 || data[3] == 2)
            return isFeliCa ? data : masked(4, [])
        case 0xD5 where code == 0x4B:
            return masked(3, targets(Array(data.dropFirst(3)), command?.dropFirst(3).first, &masks))
        case 0xD6 where Self.openRCS380.contains(code): return data
        case 0xD7 where code % 2 == 1 && Self.openRCS380.contains(code - 1): return data
        case 0xD6 where code == 0x04: return masked(4, cardFrame(Array(data.dropFirst(4)), &masks))
        case 0xD7 where code == 0x05:
            return masked(7, cardAnswer(Array(data.dropFirst(7)), to: command.map { Array($0.dropFirst(4)) }, &masks))
        default: return masked(2, [])
        }
    }

    /// The targets of InListPassiveTarget behind the number of the first one.
    private func targets(_ data: [UInt8], _ bitRate: UInt8?, _ masks: inout IdentityMasks) -> [UInt8] {
        switch bitRate {
        // The number, then the answer to the Polling with its LEN.
        case 1, 2:
            let answer = data.dropFirst()
            guard let length = answer.first, length == 18 || length == 20, answer.count >= Int(length) else {
                return []
            }
            return data.prefix(1)
                + FrameMask(Array(answer.prefix(Int(length))), [.open(2), .idm, .open(10)], uid: [], &masks).bytes
        // The number, ATQA, SAK, the length of the UID, UID.
        case 0:
            guard data.count > 5, data.count >= 5 + Int(data[4]) else { return [] }
            return data.prefix(5) + masks.uid(Array(data[5..<5 + Int(data[4])]))
        // The number, 50, PUPI.
        case 3:
            guard data.count >= 6 else { return [] }
            return data.prefix(2) + masks.pupi(Array(data[2..<6]))
        default: return []
        }
    }

    // MARK: Frames of the card within

    private func cardFrame(_ frame: [UInt8], _ masks: inout IdentityMasks) -> [UInt8] {
        guard let kind = kind(of: frame) else { return Self.unselected(frame) }
        return FrameMask(frame, kind.command, uid: uid, &masks).bytes
    }

    private func cardAnswer(_ answer: [UInt8], to frame: [UInt8]?, _ masks: inout IdentityMasks) -> [UInt8] {
        guard let frame, let kind = kind(of: frame) else { return answer.count == 2 ? answer : [] }
        return FrameMask(answer, kind.answer, uid: uid, &masks).bytes
    }

    /// The kind of a frame; `nil` for the anticollision of type A and for type B.
    private func kind(of frame: [UInt8]) -> CardFrameKind? {
        switch context {
        case .none: return nil
        case .search(let technology):
            return technology == .felica ? CardFrameKind.of(frame, .felica, isISODEP: false) : nil
        // A block of ISO-DEP or an APDU: the first bytes of either say nothing.
        case .exchange(let picc) where picc.isISODEP: return CardFrameKind(false, [.open(2)], [.open(1)])
        case .exchange(let picc): return CardFrameKind.of(frame, picc.technology, isISODEP: false)
        }
    }

    private var uid: [UInt8] {
        if case .exchange(let picc) = context { RecordingMask.uid(of: picc) } else { [] }
    }

    /// REQA, WUPA, REQB and the code of an anticollision.
    private static func unselected(_ frame: [UInt8]) -> [UInt8] {
        frame.count <= 3 ? frame : Array(frame.prefix(2))
    }
}

/// All bytes of one direction, and the frames in them.
private struct Bytes {
    private let original: [UInt8]
    /// The masked bytes.
    private var masked: [UInt8]
    /// Which event each byte is of.
    private let events: [Int]

    /// The data of one frame.
    struct Frame {
        let data: [UInt8]
        let range: Range<Int>
        /// The event in which it begins.
        let event: Int
        /// Whether a checksum follows it.
        let hasChecksum: Bool
    }

    private(set) var frames: [Frame] = []

    init(_ all: [LinkEvent], _ bytes: (LinkEvent.Content) -> [UInt8]?) {
        var (original, events): ([UInt8], [Int]) = ([], [])
        for (index, event) in all.enumerated() {
            guard let part = bytes(event.content) else { continue }
            original += part
            events += part.map { _ in index }
        }
        (self.original, self.events) = (original, events)
        masked = original.map { _ in 0 }
        findFrames()
    }

    /// The bytes of an event, which is marked if they are others than before.
    func bytes(of event: Int, instead before: [UInt8], _ line: inout LinkEvent) -> [UInt8] {
        guard let start = events.firstIndex(of: event) else { return before }
        let bytes = Array(masked[start..<start + before.count])
        if bytes != before { line.isMasked = true }
        return bytes
    }

    mutating func replace(_ frame: Frame, with data: [UInt8]) {
        guard data.count == frame.range.count else { return }
        masked.replaceSubrange(frame.range, with: data)
        if frame.hasChecksum { masked[frame.range.upperBound] = 0 &- data.reduce(0, &+) }
    }

    // MARK: Finding frames

    private mutating func findFrames() {
        var start = 0
        while start < original.count {
            if let end = message(at: start) ?? wakeUp(at: start) ?? acknowledgement(at: start) ?? frame(at: start) {
                start = end
            } else {
                start += 1
            }
        }
    }

    private func matches(_ pattern: [UInt8], at start: Int) -> Bool {
        start + pattern.count <= original.count && original[start..<start + pattern.count].elementsEqual(pattern)
    }

    /// `55 55` and zeros, which wake a PN532 on a serial line.
    ///
    /// - Returns: where the next frame may begin.
    private mutating func wakeUp(at start: Int) -> Int? {
        guard matches([0x55, 0x55, 0x00, 0x00], at: start) else { return nil }
        keep(start..<start + 2)
        return start + 2
    }

    /// `00 00 FF 00 FF 00` or `00 00 FF FF 00 00`.
    ///
    /// - Returns: where it ends.
    private mutating func acknowledgement(at start: Int) -> Int? {
        let all: [[UInt8]] = [[0, 0, 0xFF, 0, 0xFF, 0], [0, 0, 0xFF, 0xFF, 0, 0]]
        guard let found = all.first(where: { matches($0, at: start) }) else { return nil }
        keep(start..<start + found.count)
        return start + found.count
    }

    /// A frame with right checksums: `00 FF LEN LCS data DCS`, or with `FF FF` and two bytes of length, big-endian (PN53x)
    /// or little-endian (RC-S380).
    private mutating func frame(at start: Int) -> Int? {
        guard matches([0, 0xFF], at: start), start + 4 < original.count else { return nil }
        var candidates: [(length: Int, first: Int)] = []
        if matches([0xFF, 0xFF], at: start + 2) {
            guard start + 6 < original.count else { return nil }
            let (one, two) = (original[start + 4], original[start + 5])
            guard one &+ two &+ original[start + 6] == 0 else { return nil }
            candidates = [(Int(one) << 8 | Int(two), start + 7), (Int(two) << 8 | Int(one), start + 7)]
        } else if original[start + 2] &+ original[start + 3] == 0 {
            candidates = [(Int(original[start + 2]), start + 4)]
        }
        for (length, first) in candidates where length > 0 && first + length < original.count {
            let range = first..<first + length
            guard original[range].reduce(original[range.upperBound], &+) == 0 else { continue }
            keep(start..<first)
            add(range, hasChecksum: true)
            return range.upperBound + 1
        }
        return nil
    }

    /// A message of CCID to or from an ACR122U, which fills its transfer: ten bytes, then `FF 00 00 00 Lc D4…`, another
    /// command of the reader, or `D5…` with a status word.
    private mutating func message(at start: Int) -> Int? {
        guard start + 12 <= original.count, start == 0 || events[start - 1] != events[start] else { return nil }
        let length = events[start...].prefix { $0 == events[start] }.count
        guard length >= 12, [0x6B, 0x6F, 0x80, 0x83].contains(original[start]),
            Int(original[start + 1]) == length - 10, original[start + 2] == 0
        else { return nil }
        let (data, end) = (start + 10, start + length)
        if matches([0xFF, 0x00, 0x00, 0x00], at: data), data + 5 < end {
            keep(start..<data + 5)
            add(data + 5..<end, hasChecksum: false)
        } else if original[start] < 0x80, matches([0xFF, 0x00], at: data) {
            // Firmware, lights, parameters.
            keep(start..<end)
        } else if original[data] == 0xD5 {
            keep(start..<data)
            add(data..<end - 2, hasChecksum: false)
            keep(end - 2..<end)
        } else {
            keep(start..<data)
        }
        return end
    }

    private mutating func keep(_ range: Range<Int>) {
        masked.replaceSubrange(range, with: original[range])
    }

    private mutating func add(_ range: Range<Int>, hasChecksum: Bool) {
        frames.append(
            Frame(data: Array(original[range]), range: range, event: events[range.lowerBound], hasChecksum: hasChecksum)
        )
    }
}
