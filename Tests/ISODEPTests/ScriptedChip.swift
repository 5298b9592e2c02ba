// SPDX-License-Identifier: Apache-2.0

import ByteCodec
import ISODEP
import ReaderCore

/// A chip that knows beforehand which frames will be sent and what comes back, in order.
///
/// A line of the script is `A 9320 > 0102030404`: modulation, bytes (`52/7` with the bits of the last byte), `+` when
/// the chip adds a CRC and checks the answer's (`~` when it only adds one), `>` and the answer. `-` as the answer is
/// silence, `!` a damaged one; `field` stands for a reset of the field and `wait` for a time to be waited.
final class ScriptedChip: RawFrameChannel {
    let longestRawFrame: Int
    private var script: [String]
    private(set) var problems: [String] = []
    private(set) var timeouts: [Duration] = []
    private(set) var waits: [Duration] = []
    /// What the chip's own searches for a card find, in order; after them it has none of its own.
    private var selections: [ChipSelection]

    init(_ script: [String], longestRawFrame: Int = 256, selections: [ChipSelection] = []) {
        self.script = script
        self.longestRawFrame = longestRawFrame
        self.selections = selections
    }

    func selectTypeA() -> ChipSelection { selections.isEmpty ? .unsupported : selections.removeFirst() }

    /// What went against the script, and what of it was not asked for.
    func finish() -> [String] { problems + script.map { "never asked: \($0)" } }

    func exchange(_ frame: RawFrame, timeout: Duration) throws(TransportError) -> RawAnswer {
        timeouts.append(timeout)
        let bits = frame.lastByteBits == 8 ? "" : "/\(frame.lastByteBits)"
        let sent =
            "\(frame.modulation == .typeA ? "A" : "B") \(Hex.encode(frame.bytes, uppercase: true))\(bits)"
            + (frame.addsCRC ? frame.checksCRC ? "+" : "~" : frame.checksCRC ? "checked" : "")
        switch try next(sent) {
        case "-": throw .noAnswer
        case "!": throw .corrupted(status: 0x02)
        case "gone": throw .readerUnavailable(reason: .absent, detail: .init(.text, "unplugged"))
        case let answer:
            let parts = answer.split(separator: "/")
            let bytes = parts.first.flatMap { try? Hex.decode($0) } ?? []
            return RawAnswer(bytes, lastByteBits: parts.dropFirst().first.flatMap { Int($0) } ?? 8)
        }
    }

    func resetField() throws(TransportError) {
        _ = try next("field")
    }

    func wait(_ time: Duration) throws(TransportError) {
        waits.append(time)
        _ = try next("wait")
    }

    private func next(_ sent: String) throws(TransportError) -> String {
        guard !script.isEmpty else {
            problems.append("nothing expected, but \(sent) came")
            throw .outOfScript(detail: .init(.text, sent))
        }
        let parts = script.removeFirst().split(separator: ">").map { $0.trimming(" ") }
        guard parts.first == sent else {
            problems.append("expected \(parts.first ?? ""), but \(sent) came")
            throw .outOfScript(detail: .init(.text, sent))
        }
        return parts.count > 1 ? parts[1] : ""
    }
}

extension Substring {
    /// Without these characters at both ends.
    fileprivate func trimming(_ characters: String) -> String {
        var text = self
        while let first = text.first, characters.contains(first) { text.removeFirst() }
        while let last = text.last, characters.contains(last) { text.removeLast() }
        return String(text)
    }
}
