// SPDX-License-Identifier: Apache-2.0

import Glibc
import Kazasu
import KazasuCLI
import SystemPackage

/// The journal of an issuance or of a key change: JSON lines, each of which is on the disk before the step that it names is
/// taken. The first line says what is done to which card, without a key.
///
/// A last line without its end was being written when the power failed, and does not count.
final class StepJournal {
    /// What a journal is for.
    struct Kind {
        /// As in `kazasu.liteJournal/1`.
        let schema: String
        /// The command that begins, and the one that goes on.
        let begin: String
        let resume: String
        /// The beginning of the usual name.
        let name: String

        init(schema: String, begin: String, resume: String, name: String) {
            (self.schema, self.begin, self.resume, self.name) = (schema, begin, resume, name)
        }

        /// The command that goes on with a journal, in the words of the caller; on a command line it can be copied.
        private func resuming(_ path: String) -> String {
            guard case .commandLine = Caller.current else {
                return Caller.current.command(resume, .option("journal", path))
            }
            return "kazasu \(resume) --journal \(ShellWord.quoted(path))"
        }

        /// An error that ended the work; one after which it can go on names the command for that.
        func ended(by error: CommandError, _ path: String, hint: (String) -> String) -> CommandError {
            guard [.interruptedReading, .interrupted, .terminated, .noCard].contains(error.status) else { return error }
            var error = error
            error.hint = hint(resuming(path))
            return error
        }
    }

    /// The longest journal, in bytes.
    static let limit = 1 << 20

    let path: String
    private let kind: Kind
    private let file: FileDescriptor

    /// Makes a journal. Another one is never overwritten, unless no step was taken with it.
    ///
    /// - Parameter first: what follows the schema and the time in the first line.
    init(creating path: String, _ kind: Kind, _ first: [(String, JSONValue)]) throws(CommandError) {
        guard !path.isEmpty else { throw .emptyName("--journal") }
        (self.path, self.kind) = (path, kind)
        file = try Self.openNew(path, kind)
        guard ftruncate(file.rawValue, 0) == 0 else { throw CommandError.unwritable(path, errno) }
        try append(
            .object(
                JSONObject(
                    [
                        ("schema", .string(kind.schema)), ("tool", .string("kazasu \(Program.version)")),
                        ("at", Self.now),
                    ] + first)))
        // The name, too, must survive.
        let folder = FilePath(path).removingLastComponent()
        if let descriptor = try? FileDescriptor.open(folder.isEmpty ? "." : folder, .readOnly, options: .closeOnExec) {
            _ = fsync(descriptor.rawValue)
            try? descriptor.close()
        }
    }

    /// Opens the journal of what was interrupted.
    ///
    /// - Parameter read: reads the first line, and those of the steps.
    init(
        resuming path: String, _ kind: Kind, _ read: (JSONCursor, [JSONCursor]) throws(DocumentError) -> Void
    ) throws(CommandError) {
        let bytes = try Files.read(path, limit: Self.limit, as: nil)
        guard !Self.isEmpty(bytes, kind) else {
            let begin = Caller.current.command(kind.begin)
            throw CommandError(.journalEmpty, values: [Files.name(path), begin])
        }
        do throws(DocumentError) {
            let lines = bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false).dropLast()
            let first = JSONCursor(try JSONValue(parsing: Array(lines.first ?? [])))
            let schema = try first.required("schema").text()
            guard schema == kind.schema else { throw .unknownSchema(found: schema, supported: kind.schema) }
            var steps: [JSONCursor] = []
            for line in lines.dropFirst() { steps.append(JSONCursor(try JSONValue(parsing: Array(line)))) }
            try read(first, steps)
        } catch {
            throw CommandError(error, path: path)
        }
        (self.path, self.kind) = (path, kind)
        do {
            file = try FileDescriptor.open(FilePath(path), .readWrite, options: [.append, .closeOnExec, .noFollow])
            try Self.lock(file, path)
            let whole = (bytes.lastIndex(of: UInt8(ascii: "\n")) ?? -1) + 1
            guard ftruncate(file.rawValue, whole) == 0 else { throw CommandError.unwritable(path, errno) }
        } catch let error as CommandError {
            throw error
        } catch {
            throw CommandError.unwritable(path, (error as? Errno)?.rawValue ?? EIO)
        }
    }

    /// Whether no step was taken with a journal: there is not even its first line, or only a part of it.
    ///
    /// Seen from outside, such a file is empty or the beginning of a first line.
    private static func isEmpty(_ bytes: [UInt8], _ kind: Kind) -> Bool {
        let start = Array("{\"schema\":\"\(kind.schema)\"".utf8)
        return bytes.isEmpty
            || !bytes.contains(UInt8(ascii: "\n")) && (bytes.starts(with: start) || start.starts(with: bytes))
    }

    /// Makes a file, or opens one with which no step was taken.
    private static func openNew(_ path: String, _ kind: Kind) throws(CommandError) -> FileDescriptor {
        do {
            let file = try FileDescriptor.open(
                FilePath(path), .readWrite, options: [.create, .exclusiveCreate, .append, .closeOnExec, .noFollow],
                permissions: .ownerReadWrite)
            try lock(file, path)
            return file
        } catch Errno.fileExists {
            if let file = try withoutSteps(path, kind) { return file }
            let resume = Caller.current.command(kind.resume, .journal)
            throw CommandError(.journalExists, values: [path, resume])
        } catch let error as CommandError {
            throw error
        } catch {
            throw CommandError.unwritable(path, (error as? Errno)?.rawValue ?? EIO)
        }
    }

    /// Opens a journal with which no step was taken; `nil` for any other file.
    private static func withoutSteps(_ path: String, _ kind: Kind) throws(CommandError) -> FileDescriptor? {
        do {
            guard try FilePath(path).stat().type == .regular, isEmpty(try Files.read(path, limit: limit, as: nil), kind)
            else { return nil }
            let file = try FileDescriptor.open(FilePath(path), .readWrite, options: [.append, .closeOnExec, .noFollow])
            try lock(file, path)
            // Another program may have used it before it was locked.
            guard isEmpty(try Files.read(path, limit: limit, as: nil), kind) else {
                try file.close()
                return nil
            }
            return file
        } catch let error as CommandError {
            throw error
        } catch {
            throw CommandError.unwritable(path, (error as? Errno)?.rawValue ?? EIO)
        }
    }

    deinit { try? file.close() }

    /// The usual place of a new journal; its folder is made. The name is the time: a path is shown in messages, where no
    /// card's number belongs.
    static func usualPath(_ kind: Kind) throws(CommandError) -> String {
        guard let state = SystemEnvironment.folder("XDG_STATE_HOME", usual: ".local/state") else {
            throw CommandError(.journalNoPlace)
        }
        let folder = state + "/kazasu"
        try Files.makeFolder(folder, permissions: 0o700)
        let time = Timestamp.now.text(.local, .seconds).prefix(19).filter(\.isNumber)
        return "\(folder)/\(kind.name)-\(time).jsonl"
    }

    /// Stores a step, and returns when it is on the disk.
    func record(_ step: [(String, JSONValue)]) throws(CommandError) {
        try append(.object(JSONObject(step + [("at", Self.now)])))
    }

    private static var now: JSONValue { .string(Timestamp.now.text(.local, .seconds)) }

    private func append(_ line: JSONValue) throws(CommandError) {
        do throws(Errno) {
            try file.writeWhole(Array((line.compactText + "\n").utf8))
        } catch {
            throw CommandError.unwritable(path, error.rawValue)
        }
        guard fsync(file.rawValue) == 0 else { throw CommandError.unwritable(path, errno) }
    }

    private static func lock(_ file: FileDescriptor, _ path: String) throws(CommandError) {
        guard flock(file.rawValue, LOCK_EX | LOCK_NB) == 0 else {
            throw CommandError(.journalLocked, values: [path])
        }
    }
}
