// SPDX-License-Identifier: Apache-2.0

package import ReaderCore

/// The exchanges of a command with its reader, kept in memory in case it fails. The oldest are dropped when it grows too
/// long.
///
/// Nothing is masked before ``text(header:command:status:reason:)``.
package struct ProblemRecording: Sendable {
    /// The longest file, in bytes.
    package static let longestFile = 1 << 20

    private var entries: [TranscriptEntry] = []
    /// The size of their lines, about.
    private var bytes = 0
    private var isCut = false

    package init() {}

    /// Adds an exchange whose secrets are already masked.
    package mutating func add(_ entry: TranscriptEntry) {
        entries.append(entry)
        bytes += Self.size(entry)
        guard bytes > Self.longestFile * 3 / 4 else { return }
        cut()
    }

    /// Drops the older half.
    private mutating func cut() {
        entries.removeFirst((entries.count + 1) / 2)
        bytes = entries.reduce(0) { $0 + Self.size($1) }
        isCut = true
    }

    private static func size(_ entry: TranscriptEntry) -> Int {
        guard case .transceive(let frame, _, let result) = entry.event else { return 400 }
        return 200 + 2 * (frame.count + ((try? result.get())?.count ?? 0))
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
            guard text.utf8.count > Self.longestFile, !part.entries.isEmpty else { return text }
            part.cut()
        }
    }

    private func whole(_ header: Recording.Header, _ command: String, _ status: Int, _ reason: String) -> String {
        var outcome = Recording.Outcome(status: status, reason: reason)
        if isCut { outcome.left = ["beginning"] }
        let items: [Recording.Item] =
            [.section(command)] + entries.map { .exchange($0) }
            + [.outcome(outcome), .end(isComplete: false, sections: [command])]
        let lines = [RecordingMask.apply(header).line] + RecordingMask.apply(items).map(\.item.line)
        return lines.map { $0 + "\n" }.joined()
    }
}
