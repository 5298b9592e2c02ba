// SPDX-License-Identifier: Apache-2.0

import Glibc
import Kazasu
import Recordings
import Synchronization
import SystemPackage

/// The last command of this account that failed with a reader: `$XDG_STATE_HOME/kazasu/problem.jsonl`, masked, for a day.
/// `kazasu contribute --problem` makes a file for others of it.
final class KeptProblem: Sendable {
    /// That of the command that this process runs.
    package static let current = KeptProblem()
    private static let name = "problem.jsonl"
    /// In seconds.
    private static let longestTime = 24 * 60 * 60
    private static let statuses: Set<ExitStatus> = [
        .noReader, .bug, .interruptedReading, .noCard, .otherCard, .refused,
    ]

    private struct State {
        var reader: ReaderInformation
        var isSimulated = false
        var recording = ProblemRecording()
    }

    private let state = Mutex<State?>(nil)

    /// A command is about to open a reader. What an earlier one left behind is removed if it is too old.
    ///
    /// - Parameter id: the reader's; empty while none is chosen.
    package func begin(reader id: String) {
        guard CommandHost.current == nil, getenv("KAZASU_NO_PROBLEM").map({ $0.pointee == 0 }) ?? true else { return }
        if let path = Self.path, Self.age(of: path).map({ $0 > Self.longestTime }) == true { unlink(path) }
        let isSimulated = CourseRecording.isSimulated(id)
        state.withLock { $0 = State(reader: ReaderInformation(id: id, name: ""), isSimulated: isSimulated) }
    }

    package func opened(_ information: ReaderInformation) {
        state.withLock { $0?.reader = information }
    }

    package func add(_ entry: TranscriptEntry, _ traffic: [LinkEvent]) {
        state.withLock { $0?.recording.add(entry, traffic) }
    }

    /// Keeps the command that ends with this error. If the file cannot be written, says nothing.
    package func failed(_ error: CommandError, command: String?) {
        guard Self.statuses.contains(error.status), let state = state.withLock({ $0 }), let folder = StateFile.folder
        else { return }
        let text = state.recording.text(
            header: CourseRecording.header(.problem, state.reader, isSimulated: state.isSimulated, system: [:]),
            command: command.map(RecordingWords.command) ?? RecordingWords.other, status: Int(error.status.rawValue),
            reason: error.reason)
        do {
            try Files.makeFolder(folder, permissions: 0o700)
            let file = try TemporaryFile(in: FilePath(folder), permissions: .ownerReadWrite)
            try file.descriptor.writeWhole(Array(text.utf8))
            try file.move(to: FilePath("\(folder)/\(Self.name)"))
        } catch {
            return
        }
    }

    private static var path: String? { StateFile.folder.map { "\($0)/\(name)" } }

    /// How long ago the file was written, in seconds; `nil` if there is none.
    private static func age(of path: String) -> Int? {
        var status = stat()
        guard lstat(path, &status) == 0 else { return nil }
        return time(nil) - status.st_mtim.tv_sec
    }

    /// The kept command: the first line and the others.
    ///
    /// - Throws: ``CommandError`` with status 66 if there is none.
    package static func read() throws(CommandError) -> (header: Recording.Header, items: [Recording.Item]) {
        if let path, let age = age(of: path), age <= longestTime,
            let bytes = try? Files.read(path, limit: ProblemRecording.longestFile, as: nil)
        {
            let check = RecordingCheck(bytes, name: nil)
            if check.faults.isEmpty, let header = check.header { return (header, check.items) }
        }
        throw CommandError(.problemNone)
    }
}
