// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import ByteCodec
import CardCiphers

/// The option for the key of a MIFARE Ultralight C.
struct TagKeyOptions: ParsableArguments {
    @Option(
        name: .long,
        help: help(
            "Authenticate with the key of an Ultralight C, 32 hexadecimal digits from env:NAME, file:PATH or fd:NUMBER.",
            "Ultralight C を鍵で認証する。鍵は 16 進 32 桁で、env:変数名、file:パス、fd:番号 から読む。", value: "source"))
    var keyFrom: SecretSource?

    func validate() throws {
        try SecretSource.validate(keyFrom, "--key-from")
    }

    /// The key; `nil` when none was given.
    ///
    /// - Throws: ``Failure``, without what was read.
    func key() throws(Failure) -> TripleDESKey? {
        guard let keyFrom else { return nil }
        let text = try keyFrom.read(tr("the key", "鍵"), reason: "noKey")
        guard let bytes = TagKeyOptions.bytes(text), let key = try? TripleDESKey(bytes) else {
            throw Failure(
                .usage, "badKey", tr("the key is not 32 hexadecimal digits", "鍵が 16 進 32 桁ではありません"),
                hint: tr(
                    "write it as NXP does, K1 before K2; from the factory it is 49454D4B41455242214E4143554F5946",
                    "NXP の表記（K1、K2 の順）で書いてください。出荷時は 49454D4B41455242214E4143554F5946 です"))
        }
        return key
    }

    /// The bytes that hexadecimal digits stand for, packed or with spaces, colons, hyphens or `0x` before bytes; no copy of
    /// them stays behind.
    private static func bytes(_ text: SecretBytes) -> SecretBytes? {
        var key: [UInt8] = []
        // So that it never moves and leaves a copy.
        key.reserveCapacity(text.count)
        defer { key.wipe() }
        var high: UInt8?
        let isWhole = text.withUnsafeBytes { characters in
            characters.allSatisfy { character in
                if let digit = Hex.value(of: character) {
                    if let first = high { key.append(first << 4 | digit) }
                    high = high == nil ? digit : nil
                    return true
                }
                if high == 0, character | 0x20 == 0x78 {
                    high = nil
                    return true
                }
                return high == nil && [0x20, 0x2D, 0x3A].contains(character)
            }
        }
        return isWhole && high == nil ? SecretBytes(key) : nil
    }
}
