// SPDX-License-Identifier: Apache-2.0

internal import CardModel
package import ReaderCore

/// Masks a recording line by line, by the type of each value. A value that no type claims is not written.
///
/// Lines that were masked stay as they are, in a new mask as well: so a file is masked if this changes nothing.
package struct RecordingMask: Sendable {
    private var masks = IdentityMasks()
    /// The card that was found last.
    private var selected: PICC?
    private var context = LinkFrames.Context.none

    package init() {}

    /// A masked line, and whether the course may have sent the frame in it.
    package struct Line: Hashable, Sendable {
        package var item: Recording.Item
        package var isHarmless: Bool
    }

    /// All lines but the first, from the beginning of a recording.
    package static func apply(_ items: [Recording.Item]) -> [Line] {
        var mask = RecordingMask()
        return mask.next(items)
    }

    /// The lines that follow.
    package mutating func next(_ items: [Recording.Item]) -> [Line] {
        var lines: [Line] = []
        var rest = items[...]
        while let item = rest.first {
            let traffic = rest.prefix { if case .link = $0 { true } else { false } }
            if traffic.isEmpty {
                rest = rest.dropFirst()
                lines.append(Line(item: apply(item), isHarmless: isHarmless(item)))
            } else {
                rest = rest.dropFirst(traffic.count)
                let events = traffic.compactMap { if case .link(let event) = $0 { event } else { nil } }
                let masked = LinkFrames(context).apply(events, &masks)
                lines += masked.map { Line(item: .link($0), isHarmless: true) }
            }
        }
        return lines
    }

    /// The first line.
    package static func apply(_ header: Recording.Header) -> Recording.Header {
        var masked = header
        masked.tool = RecordingWords.tool(header.tool)
        masked.day = RecordingWords.day(header.day)
        masked.reader.id = RecordingWords.id(header.reader.id)
        masked.reader.name = RecordingWords.model(header.reader.name)
        masked.system = [:]
        for (name, text) in header.system where RecordingWords.systemNames.contains(name) {
            masked.system[name] =
                name == "distribution" ? RecordingWords.distribution(text) : RecordingWords.version(text)
        }
        return masked
    }

    /// Any other line but traffic, which is masked in one piece.
    private mutating func apply(_ item: Recording.Item) -> Recording.Item {
        switch item {
        case .section(let name, let left):
            .section(RecordingWords.section(name), left: left.map(RecordingWords.omission))
        case .link: item
        case .exchange(let entry): .exchange(apply(entry))
        case .outcome(let outcome): .outcome(apply(outcome))
        case .end(let isComplete, let sections):
            .end(isComplete: isComplete, sections: sections.map { RecordingWords.section($0) })
        }
    }

    private func apply(_ outcome: Recording.Outcome) -> Recording.Outcome {
        var masked = outcome
        masked.status = Self.statuses.contains(outcome.status) ? outcome.status : 70
        masked.reason = outcome.reason.map(RecordingWords.reason)
        masked.left = outcome.left.map(RecordingWords.omission)
        masked.findings = outcome.findings.map {
            Recording.Outcome.Finding(
                code: RecordingWords.finding($0.code), model: $0.model.map { RecordingWords.model($0) })
        }
        return masked
    }

    private static let statuses: Set<Int> = [0, 64, 65, 66, 69, 70, 73, 74, 75, 76, 77, 130, 143]

    // MARK: Exchanges

    /// An exchange; it decides what the frames of the reader after it are.
    private mutating func apply(_ entry: TranscriptEntry) -> TranscriptEntry {
        var masked = entry
        switch entry.event {
        case .activate(let request, let result):
            // The UID as the card says it, by which frames are understood.
            if case .success(let picc?) = result { selected = picc }
            context = .search(request.technology)
            masked.event = .activate(
                request, result.map { picc in picc.map { Self.masked($0, &masks) } }.mapError(Self.masked))
        case .transceive(let frame, let timeout, let result):
            let kind = Self.kind(of: frame, selected)
            let uid = Self.uid(of: selected)
            context = selected.map { .exchange($0) } ?? .none
            let command = FrameMask(frame, kind.command, uid: uid, &masks)
            let answer = result.map { FrameMask($0, kind.answer, uid: uid, &masks) }.mapError(Self.masked)
            masked.event = .transceive(command.bytes, timeout: timeout, answer.map(\.bytes))
            // What a command writes need not be the same when it is replayed, and nobody may take the zeros of an answer
            // for what the card holds.
            let places = [entry.masked, command.unclaimed].compactMap(\.self).filter { !$0.isEmpty }
            if let first = places.map(\.lowerBound).min(), let last = places.map(\.upperBound).max() {
                masked = masked.masking(first..<last)
            }
            masked.leavesOutContents = (try? answer.get())?.leavesOut ?? false
        }
        return masked
    }

    /// Whether the course may send this frame to the card that was selected last.
    package static func isHarmless(_ frame: [UInt8], to selected: PICC?) -> Bool {
        selected != nil && kind(of: frame, selected).isHarmless
    }

    /// Whether the course may have sent it.
    private func isHarmless(_ item: Recording.Item) -> Bool {
        guard case .exchange(let entry) = item, case .transceive(let frame, _, _) = entry.event else { return true }
        return Self.isHarmless(frame, to: selected)
    }

    static func kind(of frame: [UInt8], _ selected: PICC?) -> CardFrameKind {
        guard let selected else { return .ofNoCard }
        return CardFrameKind.of(frame, selected.technology, isISODEP: selected.isISODEP)
    }

    static func uid(of picc: PICC?) -> [UInt8] {
        if case .typeA(let target)? = picc { target.uid } else { [] }
    }

    static func masked(_ picc: PICC, _ masks: inout IdentityMasks) -> PICC {
        switch picc {
        case .felica(var target):
            target.idm = IDm(masks.idm(target.idm.bytes)) ?? target.idm
            return .felica(target)
        case .typeA(var target):
            target.uid = masks.uid(target.uid)
            return .typeA(target)
        case .typeB(var target):
            target.pupi = target.pupi.map { masks.pupi($0) }
            if target.hasOwnCoding { target.applicationData = target.applicationData.map { $0.map { _ in 0 } } }
            return .typeB(target)
        }
    }

    /// An error without the text that an operating system or a library wrote.
    static func masked(_ error: TransportError) -> TransportError {
        switch error {
        case .readerFailed(let detail): .readerFailed(detail: masked(detail))
        case .readerUnavailable(let reason, let detail): .readerUnavailable(reason: reason, detail: masked(detail))
        case .unsupported(let detail): .unsupported(detail: masked(detail))
        case .outOfScript(let detail): .outOfScript(detail: masked(detail))
        case .noAnswer, .corrupted, .heard, .cardReleased, .cardTooSlow, .readerTimeout, .frameTooLong, .answerTooLong,
            .cancelled:
            error
        }
    }

    private static func masked(_ detail: TransportError.Reason) -> TransportError.Reason {
        detail.code == .text
            ? TransportError.Reason(.text, RecordingWords.other) : TransportError.Reason(detail.code, values: [])
    }
}

extension TypeBTarget {
    /// Whether the coding of its application data is the card's own, so that it may hold a number (ISO/IEC 14443-3, 7.9.4.7:
    /// ADC is 00).
    fileprivate var hasOwnCoding: Bool {
        guard let options = protocolInfo?.dropFirst(2).first else { return true }
        return options & 0x0C == 0
    }
}
