// SPDX-License-Identifier: Apache-2.0

package import CommandDescription
import CardCiphers
package import Kazasu

/// The options for the key of a DESFire application.
package struct DESFireKeyOptions: ParsableArguments {
    package init() {}

    @Option(
        reach: .secret, name: .long,
        help: help(
            "Authenticate with a key of the application: 16 (DES), 32 (2K3DES, AES) or 48 (3K3DES) hexadecimal digits from env:NAME, file:PATH or fd:NUMBER.",
            "アプリケーションの鍵で認証する。鍵は 16 進 16 桁（DES）、32 桁（2K3DES、AES）、48 桁（3K3DES）で、env:変数名、file:パス、fd:番号 から読む。",
            value: "source"))
    package var keyFrom: SecretSource?

    @Option(
        reach: .network, name: .long,
        help: help("The number of the key, 0 to 13.", "鍵の番号（0～13）。", value: "number"))
    package var keyNumber: TagKeyOptions.KeyNumber?

    @Option(
        reach: .network, name: .long,
        help: help(
            "How to authenticate. Default: the best that card and key have.", "認証の方法。省略時は、カードと鍵で使える最良の方法。",
            value: "method"))
    package var auth: Method?

    @Option(reach: .network, name: .long, help: DESFireKeyOptions.diversifyHelp)
    package var diversify: TagSetupOptions.KeyInput?

    package static let diversifyHelp = help(
        "Keys are masters: derive this card's by AN10922 over uid and hexadecimal bytes, joined by +.",
        "鍵をマスターとし、uid と 16 進のバイト列（+ で連結）から、このカードの鍵を AN10922 で導出する。", value: "parts")

    package func validate() throws {
        try SecretSource.validate(keyFrom, "--key-from")
        let dependent = [
            (keyNumber != nil, "key-number"), (auth != nil, "auth"), (diversify != nil, "diversify"),
        ]
        for (isGiven, name) in dependent where isGiven && keyFrom == nil {
            let (option, key) = (Caller.current.option(name), Caller.current.option("key-from"))
            throw ValidationError(tr("\(option) requires \(key)", "\(option) は \(key) と一緒に指定してください"))
        }
    }

    /// The key of one card; `nil` when none was given.
    ///
    /// - Parameter key: what ``key()`` returned.
    package func key(_ key: DESFireKey?, of card: CardIdentity) throws(CommandError) -> DESFireKey? {
        guard let key, let diversify else { return key }
        return key.diversified(try diversify.input(uid: card.uid ?? []))
    }

    /// The key; `nil` when none was given.
    ///
    /// - Throws: ``CommandError``, without the data that was read.
    package func key() throws(CommandError) -> DESFireKey? {
        guard let keyFrom else { return nil }
        let text = try keyFrom.read(tr("the key", "鍵"), reason: "noKey")
        guard let bytes = TagKeyOptions.bytes(text), let key = DESFireKey(bytes, number: keyNumber?.number ?? 0) else {
            throw CommandError(.desfireKeyForm)
        }
        return key
    }

    /// The ways to authenticate.
    package enum Method: String, CaseIterable, ExpressibleByArgument, Sendable {
        case d40, iso, aes, ev2

        package var method: DESFireAuthenticationMethod {
            switch self {
            case .d40: .d40
            case .iso: .iso
            case .aes: .aes
            case .ev2: .ev2
            }
        }
    }
}

/// A file of a DESFire as people write it.
package struct DESFireFileArgument: ExpressibleByArgument, Sendable {
    package static var example: LocalizedText? { LocalizedText("F5A1C0:1", "F5A1C0:1") }
    package static var pattern: String? { "^[0-9A-Fa-f]{6}:([0-9]|[12][0-9]|3[01])$" }

    package let id: DESFireFileID

    package init?(argument: String) {
        guard let id = DESFireFileID(argument) else { return nil }
        self.id = id
    }

    private init(_ id: DESFireFileID) { self.id = id }

    /// What stands there before the command line is parsed.
    package static let absent = DESFireFileArgument(.absent)
}
