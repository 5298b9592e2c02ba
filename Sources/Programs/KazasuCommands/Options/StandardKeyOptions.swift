// SPDX-License-Identifier: Apache-2.0

package import CommandDescription
import Kazasu
import KazasuCLI

/// The owner's keys for services of a FeliCa Standard card.
package struct StandardKeyOptions: ParsableArguments {
    package init() {}

    @Option(
        reach: .local, name: .long,
        help: help(
            "A file with your keys for FeliCa services: lines of SYSTEM NODE KEY [VERSION|-] [IDM], JSON lines of felica-rs, or CSV of felica-dumper. Can be repeated.",
            "FeliCa のサービスを開く鍵のファイル: システム ノード 鍵 [バージョン|-] [IDm] の行、felica-rs の JSON、felica-dumper の CSV。繰り返せる。",
            value: "file"),
        completion: .file())
    package var keys: [String] = []

    /// The keys; `nil` if no file was given.
    ///
    /// - Parameter retries: whether to use keys that this card did not confirm before.
    func keyring(retries: Bool, _ context: Context) throws(CommandError) -> StandardKeyring? {
        guard !keys.isEmpty else { return nil }
        let all = try Self.read(keys, context)
        return StandardKeyring(all, retries: retries, failures: StandardFailureFile(context))
    }

    /// Reads files with keys.
    static func read(_ paths: [String], _ context: Context) throws(CommandError) -> StandardKeys {
        var all = StandardKeys()
        for path in paths {
            try Files.withKeys(path, limit: StandardKeys.longestFile) { bytes throws(CommandError) in
                TagSetupOptions.warnOfReaders(path, context)
                do throws(DocumentError) {
                    try all.add(file: bytes)
                } catch {
                    throw CommandError(.standardKeyFile, "\(Files.name(path)): \(error.message[.current])")
                }
            }
        }
        return all
    }
}

/// The owner's keys of a command that takes no others.
package struct OwnerKeyOptions: ParsableArguments {
    package init() {}

    @OptionGroup package var files: StandardKeyOptions

    @Flag(
        reach: .local, name: .long,
        help: help("Use keys again that this card did not confirm before.", "前回このカードで確認できなかった鍵でも使う。"))
    package var retry = false

    package func validate() throws {
        guard retry, files.keys.isEmpty else { return }
        let (flag, keys) = (Caller.current.flag("retry"), Caller.current.option("keys"))
        throw ValidationError(tr("\(flag) requires \(keys)", "\(flag) は \(keys) と一緒に指定してください"))
    }

    /// The keys; `nil` if no file was given.
    func keyring(_ context: Context) throws(CommandError) -> StandardKeyring? {
        try files.keyring(retries: retry, context)
    }
}

extension Card {
    /// Says that the card answers nothing more before it is lifted, where that is so.
    func noteAuthentication(_ context: Context) {
        guard feliCaSession?.staysAuthenticated == true else { return }
        context.note(
            tr(
                "this reader cannot end the card's session: lift the card before it is read again",
                "このリーダーではカードのセッションを終了できません。次に読む前に、カードを一度離してください"))
    }
}
