// SPDX-License-Identifier: Apache-2.0

import ByteCodec
import CardCiphers
import CardCrypto
import Kazasu
import KazasuCLI

/// Remembers across runs which lists of keys a FeliCa card did not confirm: `$XDG_STATE_HOME/kazasu/felica-keys.tsv`.
///
/// The file has a random secret and, for each list, an HMAC-SHA-256 of card, nodes and keys with that secret. Neither a key nor a
/// card's number can be found from it, and it is readable by its owner only.
final class StandardFailureFile: StandardFailures {
    private let context: Context
    private let run = StandardFailuresOfRun()
    private let file = StateFile(name: "felica-keys.tsv", limit: 1 << 20)

    init(_ context: Context) {
        self.context = context
    }

    private static let secretLength = 32

    func contains(_ access: StandardAccess, of system: SystemHandle) -> Bool {
        if run.contains(access, of: system) { return true }
        guard let text = file.read() else { return false }
        let content = Content(text)
        guard let secret = content.secret, let mark = Self.mark(access, system, secret) else { return false }
        return content.marks.contains(mark)
    }

    func insert(_ access: StandardAccess, of system: SystemHandle) {
        run.insert(access, of: system)
        let isKept = file.change { text in
            var content = Content(text)
            let secret = content.secret ?? (0..<Self.secretLength).map { _ in UInt8.random(in: .min ... .max) }
            guard let mark = Self.mark(access, system, secret) else { return nil }
            content.secret = secret
            if !content.marks.contains(mark) { content.marks.append(mark) }
            return content.text
        }
        guard !isKept else { return }
        context.warn(
            tr(
                "the next run will not know that the keys failed: no file can be written below XDG_STATE_HOME",
                "XDG_STATE_HOME に書き込めないため、この鍵の失敗は次回に引き継がれません"))
    }

    func remove(_ access: StandardAccess, of system: SystemHandle) {
        run.remove(access, of: system)
        guard contains(access, of: system) else { return }
        _ = file.change { text in
            var content = Content(text)
            guard let secret = content.secret, let mark = Self.mark(access, system, secret) else { return nil }
            content.marks.removeAll { $0 == mark }
            return content.text
        }
    }

    /// The HMAC of a list for one card; `nil` without OpenSSL's library.
    private static func mark(_ access: StandardAccess, _ system: SystemHandle, _ secret: [UInt8]) -> String? {
        var data = ByteWriter(Array("kazasu.felica-keys/1".utf8))
        data.write(system.idm.rawValue, .big)
        data.write(system.code.rawValue, .big)
        data.write(Array(access.scheme.rawValue.utf8))
        for list in [access.areas, access.nodes] {
            data.write(UInt8(truncatingIfNeeded: list.count))
            for node in list { data.write(node.rawValue, .big) }
        }
        var message = access.key.withBytes { data.bytes + $0 }
        defer { message.wipe() }
        func pad(_ byte: UInt8) -> [UInt8] {
            (0..<64).map { ($0 < secret.count ? secret[$0] : 0) ^ byte }
        }
        guard let inner = try? Digest.sha256.hash(pad(0x36) + message),
            let outer = try? Digest.sha256.hash(pad(0x5C) + inner)
        else { return nil }
        return Hex.encode(outer)
    }

    /// The content of the file.
    private struct Content {
        var secret: [UInt8]?
        var marks: [String] = []

        init(_ text: [UInt8]) {
            for line in String(decoding: text, as: UTF8.self).split(separator: "\n") {
                let parts = line.split(separator: "\t", omittingEmptySubsequences: false)
                guard parts.count == 2, let bytes = try? Hex.decode(String(parts[1])),
                    bytes.count == StandardFailureFile.secretLength
                else { continue }
                if parts[0] == "secret", secret == nil { secret = bytes }
                if parts[0] == "failed" { marks.append(Hex.encode(bytes)) }
            }
        }

        var text: String {
            (secret.map { "secret\t\(Hex.encode($0))\n" } ?? "") + marks.suffix(8192).map { "failed\t\($0)\n" }.joined()
        }
    }
}
