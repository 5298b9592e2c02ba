// SPDX-License-Identifier: Apache-2.0

package import CommandDescription
import CardCiphers
package import Kazasu

/// The options for the password of an Ultralight EV1 or NTAG21x.
package struct TagPasswordOptions: ParsableArguments {
    package init() {}

    @Option(
        reach: .secret, name: .long,
        help: help(
            "The password of an NTAG21x or Ultralight EV1, eight hexadecimal digits, from env:NAME, file:PATH or fd:NUMBER; PWD:PACK checks the tag's answer too.",
            "NTAG21x・Ultralight EV1 のパスワード（16 進 8 桁）。env:変数名、file:パス、fd:番号 から読む。PWD:PACK ならタグの応答も確かめる。",
            value: "source"))
    package var passwordFrom: SecretSource?

    package func validate() throws { try SecretSource.validate(passwordFrom, "--password-from") }

    /// What the options open the tag with: its key or its password; `nil` when neither was given.
    ///
    /// - Throws: ``CommandError``, without the data that was read.
    package func credential(_ keyOptions: TagKeyOptions, _ context: Context) throws(CommandError) -> TagCredential? {
        try keyOptions.checkRules(
            isGiven: passwordFrom != nil || keyOptions.keyFrom != nil, "key-from", "password-from")
        guard let passwordFrom else { return try keyOptions.credential(context) }
        guard keyOptions.keyFrom == nil else {
            let (key, password) = (Caller.current.option("key-from"), Caller.current.option("password-from"))
            throw CommandError(
                .usage, "usage",
                tr("use either \(key) or \(password)", "\(key) と \(password) はどちらか一方にしてください"),
                hint: tr(
                    "an Ultralight C, Ultralight AES or NTAG 424 DNA has a key, an NTAG21x or Ultralight EV1 a password",
                    "Ultralight C・Ultralight AES・NTAG 424 DNA は鍵、NTAG21x と Ultralight EV1 はパスワードです"))
        }
        let text = try passwordFrom.read(tr("the password", "パスワード"), reason: "noPassword")
        guard let bytes = TagKeyOptions.bytes(text), let password = Type2Password(bytes) else {
            throw CommandError(
                .usage, "badPassword",
                tr("the password is not eight hexadecimal digits", "パスワードが 16 進 8 桁ではありません"),
                hint: tr(
                    "write its four bytes in hexadecimal; with PACK, two bytes more after a colon",
                    "4 バイトを 16 進で書いてください。PACK を付けるときは、コロンの後に 2 バイトを続けます"))
        }
        return .password(password, keyOptions.rules(context))
    }
}

extension Card {
    /// The card as a tag that a key or password opens.
    package func tag(openedBy credential: TagCredential?) throws -> ForumTag {
        do throws(KazasuError) {
            return try forumTag(credential)
        } catch {
            guard error == .tag(.keyRefused), (try? forumTag().product()) == "Ultralight C" else {
                throw error
            }
            var refusal = CommandError(TagError.keyRefused)
            refusal.hint = tr(
                "check the key: K1 comes before K2, and some programs write the bytes of each in reverse",
                "鍵を確かめてください。K1、K2 の順で、それぞれ逆順に書くソフトもあります")
            throw refusal
        }
    }
}
