// SPDX-License-Identifier: Apache-2.0

package import CommandDescription
import ByteCodec
import Glibc
package import Kazasu

/// The keys that an NTAG 424 DNA or a DESFire has, and how they follow from masters.
package struct TagSetupOptions: ParsableArguments {
    package init() {}

    @Option(
        reach: .local, name: .long,
        help: help(
            "A file with the keys that the tag has: lines of N KEY [VERSION], for DESFire AID|picc N KEY [VERSION]; KEY hexadecimal or factory. Default: the factory's.",
            "タグに現在入っている鍵のファイル: 番号 鍵 [バージョン] の行、DESFire は AID|picc 番号 鍵 [バージョン]。鍵は 16 進または factory。省略時は出荷時の鍵。",
            value: "file"),
        completion: .file())
    package var keys: String?

    @Option(
        reach: .local, name: .long,
        help: help(
            "Keys in files are masters: derive each tag's by AN10922 over uid and hexadecimal bytes, joined by +.",
            "ファイルの鍵をマスターとし、uid と 16 進のバイト列（+ で連結）から、タグごとの鍵を AN10922 で導出する。", value: "parts"))
    package var diversify: KeyInput?

    @Flag(
        reach: .local, name: .long,
        help: help("Use keys again that this tag did not accept before.", "前回このタグに拒否された鍵でも使う。"))
    package var retry = false

    @Flag(
        reach: .never, name: .long,
        help: help(
            "Use keys even after several wrong ones were tried on this tag.", "このタグで何度か誤った鍵を使った後でも、鍵を使う。"))
    package var useLastTry = false

    package func rules(_ context: Context) -> TagSecretRules {
        TagSecretRules(allowsLastTry: useLastTry, allowsRetry: retry, failures: TagPasswordFile(context))
    }

    /// Calls `use` with the bytes of a file of keys, which are overwritten afterwards.
    private static func withKeys<Keys>(
        _ path: String, _ context: Context, _ use: ([UInt8]) throws(CommandError) -> Keys
    ) throws(CommandError) -> Keys {
        try Files.withKeys(path, limit: DESFireKeys.longestFile) { bytes throws(CommandError) in
            warnOfReaders(path, context)
            return try use(bytes)
        }
    }

    /// Says so if others can read a file of keys.
    package static func warnOfReaders(_ path: String, _ context: Context) {
        var status = stat()
        guard path != "-", stat(path, &status) == 0, status.st_mode & S_IFMT == S_IFREG,
            status.st_mode & (S_IRGRP | S_IROTH) != 0
        else { return }
        context.warn(
            tr(
                "others can read the keys in \(path); chmod 600 changes that",
                "\(path) の鍵はほかのユーザーも読めます（chmod 600 で防げます）"))
    }

    /// The keys of a file; `nil` without one.
    package static func read(_ path: String?, _ context: Context) throws(CommandError) -> TagKeys? {
        guard let path else { return nil }
        return try withKeys(path, context) { bytes throws(CommandError) in try keys(bytes, path) }
    }

    /// The keys of an NTAG 424 DNA in the bytes of a file.
    private static func keys(_ bytes: [UInt8], _ path: String) throws(CommandError) -> TagKeys {
        var keys = TagKeys()
        do throws(DocumentError) {
            try keys.add(file: bytes)
        } catch {
            throw CommandError(.setupKeyFile, "\(Files.name(path)): \(error.message[.current])")
        }
        return keys
    }

    /// The keys of a DESFire in a file; `nil` without one.
    package static func readDESFire(_ path: String?, _ context: Context) throws(CommandError) -> DESFireKeys? {
        guard let path else { return nil }
        return try withKeys(path, context) { bytes throws(CommandError) in try desfireKeys(bytes, path) }
    }

    /// The keys of a DESFire in the bytes of a file.
    private static func desfireKeys(_ bytes: [UInt8], _ path: String) throws(CommandError) -> DESFireKeys {
        var keys = DESFireKeys()
        do throws(DocumentError) {
            try keys.add(file: bytes)
        } catch {
            throw CommandError(.setupMasterFile, "\(Files.name(path)): \(error.message[.current])")
        }
        return keys
    }

    /// Keys of either chip.
    package enum Keys {
        case ntag(TagKeys)
        case desfire(DESFireKeys)
    }

    /// The keys of a file, whose form says which chip they are of.
    package static func readEither(_ path: String, _ context: Context) throws(CommandError) -> Keys {
        try withKeys(path, context) { bytes throws(CommandError) in
            DESFireKeys.hasForm(bytes) ? .desfire(try desfireKeys(bytes, path)) : .ntag(try keys(bytes, path))
        }
    }

    /// The keys of one tag.
    package func derived(_ keys: TagKeys, uid: [UInt8]) throws(CommandError) -> TagKeys {
        guard let diversify else { return keys }
        let input = try diversify.input(uid: uid)
        do throws(TagError) {
            return try keys.diversified(input)
        } catch {
            throw CommandError(error)
        }
    }

    /// The keys of one DESFire.
    package func derived(_ keys: DESFireKeys, uid: [UInt8]) throws(CommandError) -> DESFireKeys {
        guard let diversify else { return keys }
        return keys.diversified(try diversify.input(uid: uid))
    }

    /// The parts that a key is derived from, such as `uid+3042F5`.
    package struct KeyInput: ExpressibleByArgument, Sendable {
        package static var example: LocalizedText? { LocalizedText("uid+3042F5", "uid+3042F5") }

        /// Bytes, or `nil` for the UID.
        private let parts: [[UInt8]?]

        package init?(argument: String) {
            var parts: [[UInt8]?] = []
            for part in argument.split(separator: "+", omittingEmptySubsequences: false) {
                if part == "uid" {
                    parts.append(nil)
                } else if let bytes = try? Hex.decode(String(part)), !bytes.isEmpty {
                    parts.append(bytes)
                } else {
                    return nil
                }
            }
            guard parts.reduce(0, { $0 + ($1?.count ?? 7) }) <= 31 else { return nil }
            self.parts = parts
        }

        package var usesUID: Bool { parts.contains { $0 == nil } }

        /// What a key is derived from.
        ///
        /// - Parameter uid: the card's UID, seven bytes.
        package func input(uid: [UInt8]) throws(CommandError) -> [UInt8] {
            guard !usesUID || uid.count == 7 && uid.contains(where: { $0 != 0 }) else {
                throw CommandError(.setupRandomUID)
            }
            return bytes(uid: uid)
        }

        private func bytes(uid: [UInt8]) -> [UInt8] { parts.flatMap { $0 ?? uid } }
    }
}
