// SPDX-License-Identifier: Apache-2.0

import ByteCodec
import Glibc
import Kazasu
import SystemPackage

/// Remembers across runs which tags did not accept a password or key: `$XDG_STATE_HOME/kazasu/tag-passwords.tsv`, a UID and
/// sixteen bits of a hash a line.
///
/// The bits are those of a secret that was wrong, and shared by one in 65,536; the file is readable by its
/// owner only. A random UID is not remembered.
final class TagPasswordFile: TagSecretFailures {
    private let context: Context
    private let run = TagSecretFailuresOfRun()
    /// Whether the file could not be changed.
    private var hasFailed = false

    init(_ context: Context) {
        self.context = context
    }

    /// The file's folder; `nil` when the environment names none.
    private static var folder: String? {
        SystemEnvironment.folder("XDG_STATE_HOME", usual: ".local/state").map { $0 + "/kazasu" }
    }

    private static let name = "tag-passwords.tsv"
    /// The longest file that is read; the oldest lines of a longer one are dropped.
    private static let limit = 1 << 20

    func contains(_ fingerprint: UInt16, of uid: [UInt8]) -> Bool {
        if run.contains(fingerprint, of: uid) { return true }
        guard let folder = Self.folder, let text = try? Files.read("\(folder)/\(Self.name)", limit: Self.limit, as: nil)
        else { return false }
        return Self.lines(text).contains(Line(uid, fingerprint))
    }

    func count(of uid: [UInt8]) -> Int {
        guard !Self.isRandom(uid), let folder = Self.folder,
            let text = try? Files.read("\(folder)/\(Self.name)", limit: Self.limit, as: nil)
        else { return run.count(of: uid) }
        return max(run.count(of: uid), Self.lines(text).filter { $0.uid == uid }.count)
    }

    func insert(_ fingerprint: UInt16, of uid: [UInt8]) {
        run.insert(fingerprint, of: uid)
        guard !Self.isRandom(uid) else { return }
        change { $0.append(Line(uid, fingerprint)) }
    }

    func remove(_ fingerprint: UInt16?, of uid: [UInt8]) {
        run.remove(fingerprint, of: uid)
        guard !Self.isRandom(uid) else { return }
        change { lines in
            lines.removeAll { $0.uid == uid && (fingerprint == nil || $0.fingerprint == fingerprint) }
        }
    }

    func confirm() {
        guard hasFailed else { return }
        context.warn(
            tr(
                "the next run will not know that the password or key failed: no file can be written below XDG_STATE_HOME",
                "XDG_STATE_HOME に書き込めないため、このパスワードや鍵の失敗は次回に引き継がれません"))
    }

    private static func isRandom(_ uid: [UInt8]) -> Bool { uid.count == 4 && uid.first == 0x08 }

    /// Changes the file while no other program does.
    private func change(_ body: (inout [Line]) -> Void) {
        do {
            guard let folder = Self.folder else { throw Errno.noSuchFileOrDirectory }
            try Files.makeFolder(folder, permissions: 0o700)
            let file = try FileDescriptor.open(
                FilePath("\(folder)/\(Self.name)"), .readWrite, options: [.create, .closeOnExec, .noFollow],
                permissions: [.ownerRead, .ownerWrite])
            try file.closeAfter {
                guard flock(file.rawValue, LOCK_EX) == 0 else { throw Errno(rawValue: errno) }
                var bytes: [UInt8] = []
                var buffer = [UInt8](repeating: 0, count: 65_536)
                while bytes.count < Self.limit {
                    let count = try Descriptor.read(file.rawValue, into: &buffer, name: Self.name)
                    guard count > 0 else { break }
                    bytes += buffer.prefix(count)
                }
                var lines = Self.lines(bytes)
                body(&lines)
                let text = lines.suffix(Self.limit / 64).map(\.text).joined()
                guard ftruncate(file.rawValue, 0) == 0, lseek(file.rawValue, 0, SEEK_SET) == 0 else {
                    throw Errno(rawValue: errno)
                }
                let failure = Descriptor.write(text, to: file.rawValue)
                guard failure == 0 else { throw Errno(rawValue: failure) }
                guard fsync(file.rawValue) == 0 else { throw Errno(rawValue: errno) }
            }
        } catch {
            hasFailed = true
        }
    }

    /// A tag and the password that failed on it.
    private struct Line: Equatable {
        let uid: [UInt8]
        let fingerprint: UInt16

        init(_ uid: [UInt8], _ fingerprint: UInt16) { (self.uid, self.fingerprint) = (uid, fingerprint) }

        init?(_ text: some StringProtocol) {
            let parts = text.split(separator: "\t", omittingEmptySubsequences: false)
            guard parts.count == 2, let uid = try? Hex.decode(String(parts[0])), !uid.isEmpty,
                let fingerprint = UInt16(parts[1], radix: 16)
            else { return nil }
            self.init(uid, fingerprint)
        }

        var text: String { "\(Hex.encode(uid))\t\(FourDigits.text(fingerprint))\n" }
    }

    /// The lines of the file; those of another form are dropped.
    private static func lines(_ bytes: [UInt8]) -> [Line] {
        String(decoding: bytes, as: UTF8.self).split(separator: "\n").compactMap { Line($0) }
    }
}
