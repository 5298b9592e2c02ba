// SPDX-License-Identifier: Apache-2.0

package import ReaderCore

/// The exchanges of a command with its reader and the traffic below them, kept in memory in case it fails. The oldest are
/// dropped when it grows too long.
///
/// What is kept is masked at once, since the traffic may have a PIN in it.
package struct ProblemRecording: Sendable {
    /// The longest file, in bytes.
    package static let longestFile = 1 << 20

    private var mask = RecordingMask()
    private var items: [Recording.Item] = []
    /// The size of their lines, about.
    private var bytes = 0
    private var isCut = false

    package init() {}

    /// Adds an exchange.
    ///
    /// - Parameter traffic: that since the exchange before.
    package mutating func add(_ entry: TranscriptEntry, _ traffic: [LinkEvent] = []) {
        let lines = mask.next(Recording.lines(entry, traffic)).map(\.item)
        items += lines
        bytes += lines.reduce(0) { $0 + Self.size($1) }
        guard bytes > Self.longestFile * 3 / 4 else { return }
        cut()
    }

    /// Drops the older half but for the card that was found last, which the frames after it are for.
    private mutating func cut() {
        let half = Array(items.prefix((items.count + 1) / 2))
        let found = half.last { item in
            guard case .exchange(let entry) = item, case .activate(_, .success(.some)) = entry.event else {
                return false
            }
            return true
        }
        items.removeFirst(half.count)
        if let found, half.count > 1 { items.insert(found, at: 0) }
        bytes = items.reduce(0) { $0 + Self.size($1) }
        isCut = true
    }

    private static func size(_ item: Recording.Item) -> Int {
        switch item {
        case .link(let event):
            switch event.content {
            case .sent(let bytes), .received(let bytes): return 60 + 2 * bytes.count
            default: return 80
            }
        case .exchange(let entry):
            guard case .transceive(let frame, _, let result) = entry.event else { return 400 }
            return 200 + 2 * (frame.count + ((try? result.get())?.count ?? 0))
        default: return 100
        }
    }

    /// The masked file `kazasu.recording/1`.
    ///
    /// - Parameters:
    ///   - command: of ``RecordingWords/commands``; becomes the section.
    ///   - status: the exit status.
    ///   - reason: of ``RecordingWords/reasons``.
    package func text(header: Recording.Header, command: String, status: Int, reason: String) -> String {
        var part = self
        while true {
            let text = part.whole(header, command, status, reason)
            guard text.utf8.count > Self.longestFile, !part.items.isEmpty else { return text }
            part.cut()
        }
    }

    private func whole(_ header: Recording.Header, _ command: String, _ status: Int, _ reason: String) -> String {
        var outcome = Recording.Outcome(status: status, reason: reason)
        if isCut { outcome.left.append("beginning") }
        if items.contains(where: \.leavesOutContents) { outcome.left.append("contents") }
        // Once more from the beginning: the masks are numbered from there.
        let all: [Recording.Item] =
            [.section(command)] + items + [.outcome(outcome), .end(isComplete: false, sections: [command])]
        let lines = [RecordingMask.apply(header).line] + RecordingMask.apply(all).map(\.item.line)
        return lines.map { $0 + "\n" }.joined()
    }
}

extension Recording.Item {
    fileprivate var leavesOutContents: Bool {
        if case .exchange(let entry) = self { entry.leavesOutContents } else { false }
    }
}
