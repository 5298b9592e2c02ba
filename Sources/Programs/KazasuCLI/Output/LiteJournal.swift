// SPDX-License-Identifier: Apache-2.0

import Glibc
import Kazasu
import SystemPackage

/// The journal of an issuance: JSON lines, each of which is on the disk before the step that it names is taken.
///
/// The first line has the card, the profile and a check value of the key, never a key. A last line without its end was
/// being written when the power failed, and does not count.
final class LiteJournal {
    static let schema = "kazasu.liteJournal/1"
    /// The longest journal, in bytes.
    private static let limit = 1 << 20

    let path: String
    let idm: IDm
    let profile: LiteProfile
    /// What was known of the issuance when the journal was opened.
    let interruption: LiteInterruption
    private let file: FileDescriptor

    /// Makes a journal. Another one is never overwritten, unless no step was taken with it.
    init(
        creating path: String, _ idm: IDm, _ profile: LiteProfile, _ keyCheck: LiteKeyCheck
    ) throws(CommandError) {
        guard !path.isEmpty else { throw .emptyName("--journal") }
        (self.path, self.idm, self.profile) = (path, idm, profile)
        interruption = LiteInterruption(keyCheck: keyCheck)
        file = try Self.openNew(path)
        guard ftruncate(file.rawValue, 0) == 0 else { throw CommandError.unwritable(path, errno) }
        try append([
            "schema": .string(Self.schema), "tool": .string("kazasu \(RootCommand.version)"), "at": Self.now,
            "idm": .string(idm.bytes.hexadecimal), "profile": profile.json,
            "keyCheck": [
                "salt": .string(keyCheck.salt.hexadecimal), "value": .string(keyCheck.value.hexadecimal),
            ],
        ])
        // The name, too, must survive.
        let folder = FilePath(path).removingLastComponent()
        if let descriptor = try? FileDescriptor.open(folder.isEmpty ? "." : folder, .readOnly, options: .closeOnExec) {
            _ = fsync(descriptor.rawValue)
            try? descriptor.close()
        }
    }

    /// Opens the journal of an issuance that was interrupted.
    init(resuming path: String) throws(CommandError) {
        let bytes = try Files.read(path, limit: Self.limit, as: nil)
        guard !Self.isEmpty(bytes) else {
            let issue = Caller.current.command("lite issue")
            throw CommandError(
                .badFile, "emptyJournal",
                tr(
                    "\(Files.name(path)) is empty: nothing was written to a card with it",
                    "\(Files.name(path)) は空です。このジャーナルでの書き込みはまだありません"),
                hint: tr(
                    "issue the card with \(issue), which accepts this file as its --journal",
                    "\(issue) で発行してください（--journal にはこのファイルをそのまま指定できます）"))
        }
        do throws(DocumentError) {
            let lines = bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false).dropLast()
            let first = JSONCursor(try JSONValue(parsing: Array(lines.first ?? [])))
            let schema = try first.required("schema").text()
            guard schema == Self.schema else { throw .unknownSchema(found: schema, supported: Self.schema) }
            idm = try first.required("idm").idm()
            profile = try LiteProfile(first.required("profile"))
            var steps: Set<LiteStep> = []
            for line in lines.dropFirst() {
                let word = try JSONCursor(try JSONValue(parsing: Array(line))).required("step")
                guard let step = LiteStep(rawValue: try word.text()) else {
                    throw word.malformed(.oneOf, values: LiteStep.allCases.map(\.rawValue))
                }
                steps.insert(step)
            }
            let check = try first.optional("keyCheck").map { json throws(DocumentError) in
                let value = try json.required("value")
                let salt = try json.required("salt").bytes(count: 32)
                guard let check = LiteKeyCheck(salt: salt, value: try value.bytes(count: 8)) else {
                    throw value.malformed(.hexDigits, "16")
                }
                return check
            }
            // Without a check value, as in journals of 0.2.0, only the card knows which key it was given.
            let firstOfKey: LiteStep = check == nil ? .key : .keyProved
            interruption = LiteInterruption(
                keyCheck: check, hasProvedKey: steps.contains(.keyProved) || steps.contains(firstOfKey))
        } catch {
            throw CommandError(error, path: path)
        }
        self.path = path
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
    private static func isEmpty(_ bytes: [UInt8]) -> Bool {
        let start = Array("{\"schema\":\"\(schema)\"".utf8)
        return bytes.isEmpty
            || !bytes.contains(UInt8(ascii: "\n")) && (bytes.starts(with: start) || start.starts(with: bytes))
    }

    /// Makes a file, or opens one with which no step was taken.
    private static func openNew(_ path: String) throws(CommandError) -> FileDescriptor {
        do {
            let file = try FileDescriptor.open(
                FilePath(path), .readWrite, options: [.create, .exclusiveCreate, .append, .closeOnExec, .noFollow],
                permissions: .ownerReadWrite)
            try lock(file, path)
            return file
        } catch Errno.fileExists {
            if let file = try withoutSteps(path) { return file }
            let resume = Caller.current.command("lite resume", .journal)
            throw CommandError(
                .cannotWrite, "exists", tr("\(path) already exists", "\(path) はすでにあります"),
                hint: tr(
                    "go on with it by \(resume), or use another name",
                    "続きなら \(resume)、新しい発行なら別の名前にしてください"))
        } catch let error as CommandError {
            throw error
        } catch {
            throw CommandError.unwritable(path, (error as? Errno)?.rawValue ?? EIO)
        }
    }

    /// Opens a journal with which no step was taken; `nil` for any other file.
    private static func withoutSteps(_ path: String) throws(CommandError) -> FileDescriptor? {
        do {
            guard try FilePath(path).stat().type == .regular, isEmpty(try Files.read(path, limit: limit, as: nil))
            else { return nil }
            let file = try FileDescriptor.open(FilePath(path), .readWrite, options: [.append, .closeOnExec, .noFollow])
            try lock(file, path)
            // Another program may have used it before it was locked.
            guard isEmpty(try Files.read(path, limit: limit, as: nil)) else {
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
    static func usualPath() throws(CommandError) -> String {
        guard let state = SystemEnvironment.folder("XDG_STATE_HOME", usual: ".local/state") else {
            throw CommandError(
                .usage, "usage", tr("no place for the journal is known", "ジャーナルの場所を決められません"),
                hint: tr("use --journal FILE", "--journal ファイル を指定してください"))
        }
        let folder = state + "/kazasu"
        try Files.makeFolder(folder, permissions: 0o700)
        let time = Timestamp.now.text(.local, .seconds).prefix(19).filter(\.isNumber)
        return "\(folder)/lite-\(time).jsonl"
    }

    /// Stores a step, and returns when it is on the disk.
    func record(_ step: LiteStep) throws(CommandError) {
        try append(["step": .string(step.rawValue), "at": Self.now])
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
            throw CommandError(
                .cannotWrite, "locked",
                tr("another program issues a card with \(path)", "\(path) は別のプログラムが発行に使用中です"),
                hint: tr("wait until it ends", "終わるまで待ってください"))
        }
    }
}
