// SPDX-License-Identifier: Apache-2.0

import Glibc
import Kazasu
import SystemPackage

/// The journal of an issuance: JSON lines, each of which is on the disk before the step that it names is taken.
///
/// The first line has the card and the profile; it never has a key. A last line without its end was being written when
/// the power failed, and does not count.
final class LiteJournal {
    static let schema = "kazasu.liteJournal/1"
    /// The longest journal, in bytes.
    private static let limit = 1 << 20

    let path: String
    let idm: IDm
    let profile: LiteProfile
    private let file: FileDescriptor

    /// Makes a journal; another one is never overwritten.
    init(creating path: String, _ idm: IDm, _ profile: LiteProfile) throws(CommandError) {
        guard !path.isEmpty else { throw .emptyName("--journal") }
        (self.path, self.idm, self.profile) = (path, idm, profile)
        do {
            file = try FileDescriptor.open(
                FilePath(path), .readWrite, options: [.create, .exclusiveCreate, .append, .closeOnExec, .noFollow],
                permissions: .ownerReadWrite)
        } catch Errno.fileExists {
            throw CommandError(
                .cannotWrite, "exists", tr("\(path) already exists", "\(path) はすでにあります"),
                hint: tr(
                    "go on with it by 'kazasu lite resume --journal FILE', or use another name",
                    "続きなら 'kazasu lite resume --journal ファイル'、新しい発行なら別の名前にしてください"))
        } catch {
            throw CommandError.unwritable(path, (error as? Errno)?.rawValue ?? EIO)
        }
        try lock()
        try append([
            "schema": .string(Self.schema), "tool": .string("kazasu \(RootCommand.version)"), "at": Self.now,
            "idm": .string(idm.bytes.hexadecimal), "profile": profile.json,
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
        do throws(DocumentError) {
            let lines = bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false).dropLast()
            let first = JSONCursor(try JSONValue(parsing: Array(lines.first ?? [])))
            let schema = try first.required("schema").text()
            guard schema == Self.schema else { throw .unknownSchema(found: schema, supported: Self.schema) }
            idm = try first.required("idm").idm()
            profile = try LiteProfile(first.required("profile"))
            for line in lines.dropFirst() {
                let step = try JSONCursor(try JSONValue(parsing: Array(line))).required("step")
                guard LiteStep(rawValue: try step.text()) != nil else {
                    throw step.malformed(.oneOf, values: LiteStep.allCases.map(\.rawValue))
                }
            }
        } catch {
            throw CommandError(error, path: path)
        }
        self.path = path
        do {
            file = try FileDescriptor.open(FilePath(path), .readWrite, options: [.append, .closeOnExec, .noFollow])
            try lock()
            let whole = (bytes.lastIndex(of: UInt8(ascii: "\n")) ?? -1) + 1
            guard ftruncate(file.rawValue, whole) == 0 else { throw CommandError.unwritable(path, errno) }
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

    private func lock() throws(CommandError) {
        guard flock(file.rawValue, LOCK_EX | LOCK_NB) == 0 else {
            throw CommandError(
                .cannotWrite, "locked",
                tr("another program issues a card with \(path)", "\(path) は別のプログラムが発行に使用中です"),
                hint: tr("wait until it ends", "終わるまで待ってください"))
        }
    }
}
