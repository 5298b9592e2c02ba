// SPDX-License-Identifier: Apache-2.0

import ByteCodec
import Kazasu

/// Remembers across runs which tags did not accept a password or key: `$XDG_STATE_HOME/kazasu/tag-passwords.tsv`, a UID and
/// sixteen bits of a hash a line, and a minus behind those that the tag refused before it accepted another one.
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

    /// The oldest lines of a longer file are dropped.
    private let file = StateFile(name: "tag-passwords.tsv", limit: 1 << 20)

    package func contains(_ fingerprint: UInt16, of uid: [UInt8]) -> Bool {
        if run.contains(fingerprint, of: uid) { return true }
        guard let text = file.read() else { return false }
        return Self.lines(text).contains { $0.uid == uid && $0.fingerprint == fingerprint }
    }

    package func count(of uid: [UInt8]) -> Int {
        guard !Self.isRandom(uid), let text = file.read() else { return run.count(of: uid) }
        return max(run.count(of: uid), Self.lines(text).count { $0.uid == uid && !$0.isEarlier })
    }

    package func insert(_ fingerprint: UInt16, of uid: [UInt8]) {
        run.insert(fingerprint, of: uid)
        guard !Self.isRandom(uid) else { return }
        change { $0.append(Line(uid, fingerprint)) }
    }

    package func remove(_ fingerprint: UInt16, of uid: [UInt8]) {
        run.remove(fingerprint, of: uid)
        guard !Self.isRandom(uid) else { return }
        change { lines in lines.removeAll { $0.uid == uid && $0.fingerprint == fingerprint } }
    }

    func endRow(of uid: [UInt8]) {
        run.endRow(of: uid)
        guard !Self.isRandom(uid), let text = file.read(), Self.lines(text).contains(where: { $0.uid == uid }) else {
            return
        }
        change { lines in
            let known = Set(lines.filter { $0.uid == uid }.map(\.fingerprint))
            lines.removeAll { $0.uid == uid }
            lines += known.sorted().map { Line(uid, $0, isEarlier: true) }
        }
    }

    package func confirm() {
        guard hasFailed else { return }
        context.warn(
            tr(
                "the next run will not know that the password or key failed: no file can be written below XDG_STATE_HOME",
                "XDG_STATE_HOME に書き込めないため、このパスワードや鍵の失敗は次回に引き継がれません"))
    }

    private static func isRandom(_ uid: [UInt8]) -> Bool { uid.count == 4 && uid.first == 0x08 }

    private func change(_ body: (inout [Line]) -> Void) {
        let isKept = file.change { bytes in
            var lines = Self.lines(bytes)
            body(&lines)
            return lines.suffix(file.limit / 64).map(\.text).joined()
        }
        if !isKept { hasFailed = true }
    }

    /// A tag and the password that failed on it.
    private struct Line {
        let uid: [UInt8]
        let fingerprint: UInt16
        /// Whether the tag accepted another one since.
        let isEarlier: Bool

        init(_ uid: [UInt8], _ fingerprint: UInt16, isEarlier: Bool = false) {
            (self.uid, self.fingerprint, self.isEarlier) = (uid, fingerprint, isEarlier)
        }

        init?(_ text: some StringProtocol) {
            let parts = text.split(separator: "\t", omittingEmptySubsequences: false)
            guard (2...3).contains(parts.count), parts.count == 2 || parts[2] == "-",
                let uid = try? Hex.decode(String(parts[0])), !uid.isEmpty,
                let fingerprint = UInt16(parts[1], radix: 16)
            else { return nil }
            self.init(uid, fingerprint, isEarlier: parts.count == 3)
        }

        var text: String { "\(Hex.encode(uid))\t\(FourDigits.text(fingerprint))\(isEarlier ? "\t-" : "")\n" }
    }

    /// The lines of the file; those of another form are dropped.
    private static func lines(_ bytes: [UInt8]) -> [Line] {
        String(decoding: bytes, as: UTF8.self).split(separator: "\n").compactMap { Line($0) }
    }
}
