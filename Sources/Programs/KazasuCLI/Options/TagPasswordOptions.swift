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
            throw CommandError(.tagKeyOrPassword, values: [key, password])
        }
        let text = try passwordFrom.read(tr("the password", "パスワード"), reason: "noPassword")
        guard let bytes = TagKeyOptions.bytes(text), let password = Type2Password(bytes) else {
            throw CommandError(.tagPasswordForm)
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
            refusal.hint = Remedy.keyOrder.text()
            throw refusal
        }
    }
}
