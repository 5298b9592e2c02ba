// SPDX-License-Identifier: Apache-2.0

package import CommandDescription
import CardCiphers
package import Kazasu
package import MIFAREClassic

/// The keys of a MIFARE Classic.
package struct ClassicKeyOptions: ParsableArguments {
    package init() {}

    @Option(
        reach: .local, name: .long,
        help: help(
            "A file with keys: lines of SECTOR A|B KEY or of twelve digits; .mfd, .mct, Flipper .nfc, Proxmark .bin or JSON.",
            "鍵のファイル: セクター A|B 鍵 または 12 桁の行、.mfd、.mct、Flipper .nfc、Proxmark .bin・JSON。", value: "file"),
        completion: .file())
    package var keys: [String] = []

    @Option(
        reach: .secret, name: .long,
        help: help(
            "A key for every sector, twelve hexadecimal digits from env:NAME, file:PATH or fd:NUMBER.",
            "全セクターに使う鍵（16 進 12 桁）。env:変数名、file:パス、fd:番号 から読む。", value: "source"))
    package var keyFrom: SecretSource?

    package func validate() throws {
        try SecretSource.validate(keyFrom, "--key-from")
    }

    /// The keys that were given; none if no option was.
    package func given() throws(CommandError) -> ClassicKeys {
        var all = ClassicKeys()
        for path in keys {
            all.merge(
                try Files.withKeys(path, limit: ClassicKeys.longestFile) { bytes throws(CommandError) in
                    do throws(DocumentError) {
                        return try ClassicKeys(reading: bytes)
                    } catch {
                        throw CommandError(.classicKeyFile, "\(path): \(error.message[.current])")
                    }
                })
        }
        if let keyFrom {
            let text = try keyFrom.read(tr("the key", "鍵"), reason: "noKey")
            guard let bytes = TagKeyOptions.bytes(text), bytes.count == 6,
                let key = bytes.withUnsafeBytes({ ClassicKey(Array($0)) })
            else {
                throw CommandError(.classicKeyForm, values: [Self.keysName])
            }
            all.add(key)
        }
        return all
    }

    private static var keysName: String { Caller.current.option("keys") }

    /// The keys, which the command needs.
    package func required() throws(CommandError) -> ClassicKeys {
        let keys = try given()
        guard !keys.isEmpty else {
            throw CommandError(.classicKeyMissing, values: [Self.keysName])
        }
        return keys
    }

    /// The keys, with the three public ones after them.
    package func withTransportKeys() throws(CommandError) -> ClassicKeys {
        var keys = try given()
        for key in ClassicKey.transport { keys.add(key) }
        return keys
    }
}

extension CommandError {
    /// Why a MIFARE Classic was not read or written.
    package init(_ error: ClassicError) {
        let message = error.message[.current]
        switch error {
        case .cardLost: self.init(ReadingError.cardLost)
        case .cancelled: self = .cancelled()
        case .transport(let error): self.init(error)
        case .noKey: self.init(.classicNoKey, message)
        case .refused: self.init(.classicRefused, message)
        case .notAValue: self.init(.classicNotAValue, message)
        case .notVerified: self.init(.classicNotVerified, message)
        case .keysNotProved: self.init(.classicKeysNotProved, message)
        case .notWritable(_, .manufacturer): self.init(.classicManufacturer, message)
        case .notWritable(_, .absent): self.init(.classicAbsent, message)
        case .notWritable(_, .accessConditions): self.init(.classicAccessConditions, message)
        case .notWritable(_, .trailer): self.init(.classicTrailer, message)
        case .notWritable(_, .needsBothKeys): self.init(.classicNeedsBothKeys, message)
        case .notWritable(_, .accessBits): self.init(.classicAccessBits, message)
        case .notWritable(_, .wouldLock): self.init(.classicWouldLock, message)
        }
    }
}

/// Runs work on a MIFARE Classic with errors of the program.
package func classic<Value>(_ work: () throws(ClassicError) -> Value) throws(CommandError) -> Value {
    do throws(ClassicError) {
        return try work()
    } catch {
        throw CommandError(error)
    }
}
