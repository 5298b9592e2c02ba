// SPDX-License-Identifier: Apache-2.0

package import CommandDescription
import CardCiphers
import Kazasu
import MIFAREClassic

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
    func given() throws(CommandError) -> ClassicKeys {
        var all = ClassicKeys()
        for path in keys {
            var bytes = try Files.read(path, limit: ClassicKeys.longestFile)
            defer { bytes.wipe() }
            do throws(DocumentError) {
                all.merge(try ClassicKeys(reading: bytes))
            } catch {
                throw CommandError(
                    .badFile, "badFile", "\(path): \(error.message[.current])",
                    hint: tr(
                        "one key a line: SECTOR A KEY, * B KEY, or twelve digits for every sector",
                        "1 行に 1 つ: セクター A 鍵、* B 鍵、または全セクター用の 12 桁"))
            }
        }
        if let keyFrom {
            let text = try keyFrom.read(tr("the key", "鍵"), reason: "noKey")
            guard let bytes = TagKeyOptions.bytes(text), bytes.count == 6,
                let key = bytes.withUnsafeBytes({ ClassicKey(Array($0)) })
            else {
                throw CommandError(
                    .usage, "badKey", tr("the key is not twelve hexadecimal digits", "鍵が 16 進 12 桁ではありません"),
                    hint: tr("several keys belong in a file: \(Self.keysName)", "複数の鍵は \(Self.keysName) のファイルに書いてください"))
            }
            all.add(key)
        }
        return all
    }

    private static var keysName: String { Caller.current.option("keys") }

    /// The keys, which the command needs.
    func required() throws(CommandError) -> ClassicKeys {
        let keys = try given()
        guard !keys.isEmpty else {
            throw CommandError(
                .usage, "noKey", tr("this needs the card's keys", "カードの鍵が必要です"),
                hint: tr(
                    "use \(Self.keysName) with a file, or \(Caller.current.option("key-from")) with env:NAME, file:PATH or fd:NUMBER",
                    "\(Self.keysName) にファイル、または \(Caller.current.option("key-from")) に env:変数名、file:パス、fd:番号 を指定してください")
            )
        }
        return keys
    }

    /// The keys, with the three public ones after them.
    func withTransportKeys() throws(CommandError) -> ClassicKeys {
        var keys = try given()
        for key in ClassicKey.transport { keys.add(key) }
        return keys
    }
}

extension CommandError {
    /// Why a MIFARE Classic was not read or written.
    init(_ error: ClassicError) {
        let message = error.message[.current]
        let info = Caller.current.command("classic info")
        switch error {
        case .cardLost: self.init(ReadingError.cardLost)
        case .cancelled: self = .cancelled()
        case .transport(let error): self.init(error)
        case .noKey:
            self.init(
                .refused, "wrongKey", message,
                hint: tr(
                    "check the key file: \(info) shows which sectors open",
                    "鍵のファイルを確かめてください（開くセクターは \(info) で分かります）"))
        case .refused:
            self.init(
                .refused, "refused", message,
                hint: tr("the access bits may ask for the other key", "アクセスビットにより、もう一方の鍵が必要かもしれません"))
        case .notAValue:
            let read = Caller.current.command("classic read")
            self.init(
                .refused, "notAValue", message,
                hint: tr(
                    "\(read) shows the block; --set makes it a value block",
                    "ブロックの内容は \(read) で確認できます。--set でバリューブロックにできます"))
        case .notVerified:
            self.init(
                .interruptedReading, "notVerified", message,
                hint: tr("read the block, then write it again", "ブロックを読み、もう一度書いてください"))
        case .keysNotProved:
            self.init(
                .interruptedReading, "notVerified", message,
                hint: tr("read the sector with the old and with the new keys", "古い鍵と新しい鍵の両方でセクターを読んでください"))
        case .notWritable(_, let reason):
            let identifier =
                switch reason {
                case .manufacturer, .accessConditions: "readOnly"
                case .absent: "refused"
                case .trailer: "trailer"
                case .needsBothKeys: "noKey"
                case .accessBits: "accessBits"
                case .wouldLock: "wouldLock"
                }
            let hint =
                switch reason {
                case .trailer: tr("add --trailer to write keys and access bits", "鍵とアクセスビットを書くには --trailer を付けてください")
                case .wouldLock: tr("add --permanent to write it anyway", "それでも書くには --permanent を付けてください")
                case .accessBits: tr("from the factory they are FF0780", "出荷時は FF0780 です")
                case .needsBothKeys: tr("give keys A and B of the sector", "セクターの鍵 A と B を指定してください")
                case .manufacturer, .absent: tr("choose another block", "別のブロックを指定してください")
                case .accessConditions:
                    tr(
                        "give the other key; \(info) shows the access bits",
                        "もう一方の鍵を指定してください（アクセスビットは \(info) で分かります）")
                }
            self.init(.refused, identifier, message, hint: hint)
        }
    }
}

/// Runs work on a MIFARE Classic with errors of the program.
func classic<Value>(_ work: () throws(ClassicError) -> Value) throws(CommandError) -> Value {
    do throws(ClassicError) {
        return try work()
    } catch {
        throw CommandError(error)
    }
}
