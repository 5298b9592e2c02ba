// SPDX-License-Identifier: Apache-2.0

import Glibc
import Kazasu
import KazasuCLI
import SystemPackage

/// The folder of `passport --save`: every file as the chip gave it, and `evidence.json`. Only the owner can read it.
///
/// It is made under another name beside its place before the card is read, and gets its own name when it is complete.
final class EvidenceFolder {
    let path: String
    private let part: String
    private let cleanup: ExitCleanup.Entry
    private var isMoved = false

    /// - Throws: ``CommandError``: 73 `exists` if the folder is there and not empty, or if something else has its name.
    init(_ path: String) throws(CommandError) {
        guard !path.isEmpty else { throw .emptyName(tr("output", "出力")) }
        var name = path
        while name.utf8.count > 1, name.hasSuffix("/") { name.removeLast() }
        self.path = name
        var status = stat()
        if lstat(name, &status) == 0 {
            let isEmpty =
                status.st_mode & S_IFMT == S_IFDIR && (try? FolderEntries(FilePath(name)))?.names.isEmpty == true
            guard isEmpty else { throw EvidenceFolder.exists(name) }
        }
        let part = name + ".kazasu-" + String(UInt64.random(in: .min ... .max), radix: 16) + ".part"
        self.part = part
        guard mkdir(part, 0o700) == 0 else { throw CommandError.unwritable(name, errno) }
        cleanup = ExitCleanup.add { Files.removeFolder(part) }
    }

    deinit {
        if !isMoved { Files.removeFolder(part) }
        cleanup.remove()
    }

    private static func exists(_ path: String) -> CommandError {
        CommandError(.folderExists, values: [path])
    }

    /// Writes the files that were read and the evidence, and gives the folder its name.
    func finish(_ dump: CardDump, _ evidence: PassportEvidence, _ context: Context) throws(CommandError) {
        var files: [(name: String, bytes: [UInt8])] = []
        for application in dump.applications {
            for file in application.files where file.state == .read {
                let name = SavedPassport.name(of: file.id, isMaster: application.aid == nil)
                files.append(("\(name).bin", file.data))
            }
        }
        guard !files.isEmpty else { return }
        files.append(("evidence.json", Array((evidence.json.prettyText + "\n").utf8)))
        do {
            for (name, bytes) in files {
                let file = try FileDescriptor.open(
                    FilePath("\(part)/\(name)"), .writeOnly,
                    options: [.create, .exclusiveCreate, .noFollow, .closeOnExec],
                    permissions: .ownerReadWrite)
                try file.closeAfter {
                    try file.writeWhole(bytes)
                    guard fsync(file.rawValue) == 0 else { throw Errno(rawValue: errno) }
                }
            }
        } catch {
            throw CommandError(unwritable: path, error)
        }
        // An empty folder is replaced; anything that came there meanwhile is not.
        guard rename(part, path) == 0 else {
            throw [ENOTEMPTY, EEXIST, ENOTDIR].contains(errno)
                ? EvidenceFolder.exists(path) : CommandError.unwritable(path, errno)
        }
        isMoved = true
        context.note(
            tr("\(path): \(Words.count(files.count, "file"))", "\(path) に \(files.count) 個のファイルを書き出しました"))
        context.note(Self.words(evidence))
    }

    /// Whom the evidence convinces.
    private static func words(_ evidence: PassportEvidence) -> String {
        if case .answered? = evidence.chip.active {
            return tr(
                "evidence.json proves to others that the chip signed a challenge",
                "evidence.json は、IC が署名したことを第三者にも示せます")
        }
        if evidence.chip.agreement != nil || evidence.chip.mapping?.record != nil {
            return tr(
                "evidence.json proves the check of the chip to you alone: it contains private keys; keep it to yourself",
                "evidence.json は秘密鍵を含むため、IC の確認の証拠になるのは保管した本人に対してだけです。人に渡さないでください")
        }
        return tr(
            "evidence.json proves nothing about the chip: it was not asked", "evidence.json に IC の確認の証拠はありません（確認していません）"
        )
    }
}
