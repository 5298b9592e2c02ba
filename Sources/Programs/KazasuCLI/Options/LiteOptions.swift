// SPDX-License-Identifier: Apache-2.0

package import CommandDescription
package import Kazasu

/// The options for the key of a FeliCa Lite or Lite-S.
package struct LiteKeyOptions: ParsableArguments {
    package init() {}

    @Option(
        reach: .secret, name: .long,
        help: help(
            "The card key, 32 hexadecimal digits as block 87 has them, from env:NAME, file:PATH or fd:NUMBER.",
            "カード鍵（ブロック 87 に送るとおりの 16 進 32 桁）。env:変数名、file:パス、fd:番号 から読む。", value: "source"))
    package var keyFrom: SecretSource?

    @Option(
        reach: .secret, name: .long,
        help: help(
            "The master key, 48 hexadecimal digits; each card's own key is derived from its ID block.",
            "マスター鍵（16 進 48 桁）。カードごとの鍵を ID ブロックから導出する。", value: "source"))
    package var masterKeyFrom: SecretSource?

    package func validate() throws {
        try SecretSource.validate(keyFrom, "--key-from")
        try SecretSource.validate(masterKeyFrom, "--master-key-from")
        if keyFrom != nil, masterKeyFrom != nil {
            throw ValidationError(
                tr(
                    "use either \(Self.keyName) or \(Self.masterKeyName)",
                    "\(Self.keyName) と \(Self.masterKeyName) はどちらか一方にしてください"))
        }
    }

    private static var keyName: String { Caller.current.option("key-from") }
    private static var masterKeyName: String { Caller.current.option("master-key-from") }

    /// Whether one of them was given.
    package var isGiven: Bool { keyFrom != nil || masterKeyFrom != nil }

    /// The key.
    ///
    /// - Throws: ``CommandError``, without the data that was read.
    package func key() throws(CommandError) -> LiteKeySource {
        if let masterKeyFrom { return try Self.masterKey(masterKeyFrom) }
        guard let keyFrom else {
            throw CommandError(.liteNoKey, values: [Self.keyName, Self.masterKeyName])
        }
        return try Self.cardKey(keyFrom)
    }

    /// The card key from a source.
    package static func cardKey(_ source: SecretSource) throws(CommandError) -> LiteKeySource {
        let text = try source.read(tr("the key", "鍵"), reason: "noKey")
        guard let bytes = TagKeyOptions.bytes(text), let key = LiteKey(secret: bytes) else { throw bad(32) }
        if key.isFactoryKey { throw CommandError(LiteError.factoryKey) }
        return .card(key)
    }

    /// A card key of 32 digits, or a master key of 48.
    package static func anyKey(_ source: SecretSource) throws(CommandError) -> LiteKeySource {
        let text = try source.read(tr("the key", "鍵"), reason: "noKey")
        guard let bytes = TagKeyOptions.bytes(text) else { throw bad(32) }
        if let key = LiteMasterKey(secret: bytes) { return .master(key) }
        guard let key = LiteKey(secret: bytes) else { throw bad(32) }
        if key.isFactoryKey { throw CommandError(LiteError.factoryKey) }
        return .card(key)
    }

    private static func masterKey(_ source: SecretSource) throws(CommandError) -> LiteKeySource {
        let text = try source.read(tr("the master key", "マスター鍵"), reason: "noKey")
        guard let bytes = TagKeyOptions.bytes(text), let key = LiteMasterKey(secret: bytes) else { throw bad(48) }
        return .master(key)
    }

    private static func bad(_ digits: Int) -> CommandError {
        CommandError(.liteKeyForm, values: ["\(digits)"])
    }
}
