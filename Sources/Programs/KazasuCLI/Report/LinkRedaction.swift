// SPDX-License-Identifier: Apache-2.0

import Kazasu

/// The frames between computer and reader as a report shows them. Card numbers and personal blocks are masked in the
/// same way as in the exchanges with the card, and frame checksums are recomputed, so that a driver that replays the
/// frames accepts them.
///
/// Where the bytes of an exchange cannot be found in the frames, or could match anything, the frames are masked as a
/// whole.
struct LinkRedaction {
    private let trace: TraceRedaction
    private var technology: Technology?
    /// Whether an answer with personal blocks failed, so that it may still arrive.
    private var isLateAnswerPersonal = false

    /// - Parameter trace: the redaction of the exchanges with the card.
    init(_ trace: TraceRedaction) {
        self.trace = trace
    }

    /// The frames of one exchange with the card, which were recorded before it ended.
    mutating func apply(_ events: [LinkEvent], of original: TranscriptEntry) -> [LinkEvent] {
        var frames = LinkFrames(events)
        let hidesAnswer = isLateAnswerPersonal
        isLateAnswerPersonal = false
        switch original.event {
        case .activate(let request, let result):
            if case .success(let picc) = result { technology = picc?.technology }
            if request.technology == .felica {
                trace.learnCards(from: frames.received)
            } else if case .success(let picc?) = result {
                frames.replace(picc, with: trace.redaction.apply(picc))
            } else {
                frames.hide()
            }
        case .transceive(let command, _, let result):
            guard technology == .felica, case .transceive(let shown, _, let answer) = trace.apply(original).event else {
                frames.hide()
                break
            }
            let isPersonal = TraceRedaction.isPersonal(command)
            frames.replace(command, with: shown)
            switch (result, answer) {
            case (.success(let bytes), .success(let masked)):
                if !frames.replace(bytes, with: masked), isPersonal { frames.hide(.received) }
            default:
                if isPersonal {
                    frames.hide(.received)
                    isLateAnswerPersonal = true
                }
            }
        }
        if hidesAnswer { frames.hide(.received) }
        frames.map(trace.masked)
        return frames.events
    }

    /// The frames outside of any exchange: of opening and closing.
    func apply(_ events: [LinkEvent]) -> [LinkEvent] {
        var frames = LinkFrames(events)
        if isLateAnswerPersonal { frames.hide(.received) }
        frames.map(trace.masked)
        return frames.events
    }
}

/// Frames in both directions, each direction as one run of bytes, since a message may span several transfers.
private struct LinkFrames {
    enum Direction { case sent, received }

    private let original: [LinkEvent]
    private(set) var sent: [UInt8]
    private(set) var received: [UInt8]
    private var hidden: Set<Direction> = []

    init(_ events: [LinkEvent]) {
        original = events
        sent = events.flatMap(LinkFrames.sentBytes)
        received = events.flatMap(LinkFrames.receivedBytes)
    }

    /// Masks everything.
    mutating func hide() {
        hidden = [.sent, .received]
    }

    mutating func hide(_ direction: Direction) {
        hidden.insert(direction)
    }

    /// Replaces the bytes of a frame wherever they occur.
    ///
    /// - Returns: whether they were found.
    @discardableResult
    mutating func replace(_ bytes: [UInt8], with others: [UInt8]) -> Bool {
        let isSent = LinkFrames.replace(bytes, with: others, in: &sent)
        return LinkFrames.replace(bytes, with: others, in: &received) || isSent
    }

    /// Replaces the identifiers of a card of type A or B. A reader that runs anticollision in software shows the UID
    /// in parts of four bytes with a check byte.
    mutating func replace(_ picc: PICC, with masked: PICC) {
        switch (picc, masked) {
        case (.typeA(let target), .typeA(let other)):
            replace(target.uid, with: other.uid)
            for (part, shown) in zip(LinkFrames.cascade(target.uid), LinkFrames.cascade(other.uid)) {
                replace(part + [part.reduce(0, ^)], with: shown + [shown.reduce(0, ^)])
                replace(part, with: shown)
            }
        case (.typeB(let target), .typeB(let other)):
            if let pupi = target.pupi, let shown = other.pupi { replace(pupi, with: shown) }
        default: break
        }
    }

    /// The UID as the cascade levels of the anticollision show it: 88 precedes all parts but the last.
    private static func cascade(_ uid: [UInt8]) -> [[UInt8]] {
        guard uid.count > 4 else { return [uid] }
        return [[0x88] + uid.prefix(3)] + cascade(Array(uid.dropFirst(3)))
    }

    mutating func map(_ change: ([UInt8]) -> [UInt8]) {
        sent = change(sent)
        received = change(received)
    }

    /// The events with their replaced bytes.
    var events: [LinkEvent] {
        var sent = LinkChecksums.restored(self.sent, original: original.flatMap(LinkFrames.sentBytes))[...]
        var received = LinkChecksums.restored(self.received, original: original.flatMap(LinkFrames.receivedBytes))[...]
        return original.map { event in
            var event = event
            switch event.content {
            case .sent(let bytes):
                event.content = .sent(Array(sent.prefix(bytes.count)))
                sent = sent.dropFirst(bytes.count)
                if hidden.contains(.sent) { event.hide() }
            case .received(let bytes):
                event.content = .received(Array(received.prefix(bytes.count)))
                received = received.dropFirst(bytes.count)
                if hidden.contains(.received) { event.hide() }
            case .failed, .note: break
            }
            return event
        }
    }

    private static func sentBytes(_ event: LinkEvent) -> [UInt8] {
        if case .sent(let bytes) = event.content { bytes } else { [] }
    }

    private static func receivedBytes(_ event: LinkEvent) -> [UInt8] {
        if case .received(let bytes) = event.content { bytes } else { [] }
    }

    private static func replace(_ bytes: [UInt8], with others: [UInt8], in all: inout [UInt8]) -> Bool {
        guard !bytes.isEmpty, bytes.count == others.count, all.count >= bytes.count else { return false }
        var wasFound = false
        for start in 0...all.count - bytes.count where all[start..<start + bytes.count].elementsEqual(bytes) {
            all.replaceSubrange(start..<start + bytes.count, with: others)
            wasFound = true
        }
        return wasFound
    }
}

extension LinkEvent {
    fileprivate mutating func hide() {
        switch content {
        case .sent(let bytes) where !bytes.isEmpty: content = .sent(bytes.map { _ in 0 })
        case .received(let bytes) where !bytes.isEmpty: content = .received(bytes.map { _ in 0 })
        default: return
        }
        isMasked = true
    }
}

/// The data checksums of PN53x frames, which the RC-S380 uses as well. A frame is `00 FF LEN LCS data DCS`, the
/// extended form with `FF FF` in place of LEN and LCS and a two-byte length after it, big-endian (PN53x) or
/// little-endian (RC-S380).
enum LinkChecksums {
    /// The changed bytes, with the checksums recomputed for those frames whose checksum was right before.
    static func restored(_ changed: [UInt8], original: [UInt8]) -> [UInt8] {
        guard changed != original, changed.count == original.count else { return changed }
        var bytes = changed
        var start = 0
        while start < original.count {
            guard let data = frame(original, at: start) else {
                start += 1
                continue
            }
            bytes[data.upperBound] = 0 &- bytes[data].reduce(0, &+)
            start = data.upperBound + 1
        }
        return bytes
    }

    /// The range of the data in the frame that begins here; its checksum follows.
    private static func frame(_ bytes: [UInt8], at start: Int) -> Range<Int>? {
        guard start + 4 < bytes.count, bytes[start] == 0x00, bytes[start + 1] == 0xFF else { return nil }
        var lengths: [(Int, first: Int)] = []
        if bytes[start + 2] == 0xFF, bytes[start + 3] == 0xFF {
            guard start + 6 < bytes.count else { return nil }
            let (one, two) = (bytes[start + 4], bytes[start + 5])
            guard one &+ two &+ bytes[start + 6] == 0 else { return nil }
            lengths = [(Int(one) << 8 | Int(two), start + 7), (Int(two) << 8 | Int(one), start + 7)]
        } else if bytes[start + 2] &+ bytes[start + 3] == 0 {
            lengths = [(Int(bytes[start + 2]), start + 4)]
        }
        for (length, first) in lengths where length > 0 && first + length < bytes.count {
            let data = first..<first + length
            if bytes[data].reduce(bytes[data.upperBound], &+) == 0 { return data }
        }
        return nil
    }
}
