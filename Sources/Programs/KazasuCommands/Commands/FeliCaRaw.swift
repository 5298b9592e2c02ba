// SPDX-License-Identifier: Apache-2.0

import ByteCodec
import CommandDescription
import Kazasu
import KazasuCLI

/// `kazasu felica`
struct FeliCaRaw: KazasuCommand {
    static let configuration = CommandConfiguration(
        commandName: "felica",
        abstract: tr("Send raw FeliCa command packets and print the answers.", "FeliCa のコマンドパケットを送り、応答を表示する。"),
        discussion: tr(
            """
            A missing LEN is added, and IDM is replaced by the card's IDm. Prints one response per line, LEN first.

            Examples:
              kazasu felica 0C:IDM                      # Request System Code
              kazasu felica --system 0003 06IDM010F09018000
            """,
            """
            LEN は省略できます。IDM はカードの IDm に置き換わります。応答は 1 行に 1 つ、LEN から。

            例:
              kazasu felica 0C:IDM                      # Request System Code
              kazasu felica --system 0003 06IDM010F09018000
            """))

    static let programAccess = CommandAccess.method(
        .card(
            "card.felica", .post("felica"), needs: .raw, argument: "commands", schema: "felica",
            LocalizedText("Sends raw FeliCa command packets; the answers.", "FeliCa のコマンドパケットをそのまま送り、応答を返す。")))

    @OptionGroup(title: CommonOptions.title) var common: CommonOptions
    @OptionGroup(title: ReaderOptions.title) var readerOptions: ReaderOptions

    @Argument(
        required: [], reach: .network,
        help: help("Packets in hexadecimal, in order.", "16進のパケット。書いた順に送る。", value: "hex"))
    var packets: [String]

    @Option(
        reach: .network, name: .long,
        help: help("System code; default: the first that answers.", "システムコード。省略時は最初に応答したもの。", value: "code"))
    var system: SystemCode?

    private static let answerTimes = 1...30_000

    @Option(
        reach: .network, name: .long,
        help: help(
            "Maximum time for one response, in milliseconds.", "1 応答の上限時間（ミリ秒）。", value: "ms",
            bounds: FeliCaRaw.answerTimes))
    var answerTimeout = 1000

    @Option(reach: .never, name: .long, help: help("Between the bytes of an answer.", "バイトの間の区切り。"))
    var hexSeparator = HexSeparator.none

    func validate() throws {
        guard !packets.isEmpty else { throw ValidationError(tr("give at least one packet", "パケットを 1 つ以上指定してください")) }
        guard Self.answerTimes.contains(answerTimeout) else {
            let (name, least, most) = (
                Caller.current.option("answer-timeout"), Self.answerTimes.lowerBound, Self.answerTimes.upperBound
            )
            throw ValidationError(tr("\(name) is \(least) to \(most)", "\(name) は \(least) から \(most) です"))
        }
        for number in packets.indices { _ = try frame(number, idm: IDm(rawValue: 0)) }
    }

    func execute(_ context: Context) throws {
        let session = try ReaderSession(readerOptions, context)
        var exchanges: [JSONValue] = []
        var identity: CardIdentity?
        do {
            try closing(session) { session in
                let found = try session.find(systems: system.map { [$0] })
                identity = found.identity
                guard let target = found.feliCa else {
                    throw CommandError(WrongCard(found.picc, .kind(wanted: .feliCa)))
                }
                for number in packets.indices {
                    let exchange = try exchange(number, target, found, context)
                    exchanges.append(exchange)
                }
            }
        } catch {
            // Earlier exchanges are still the card's answers.
            if context.json, !exchanges.isEmpty { try print(exchanges, identity, context) }
            throw error
        }
        if context.json { try print(exchanges, identity, context) }
    }

    /// Sends one packet and prints the answer, except under `--json`.
    private func exchange(
        _ number: Int, _ target: FeliCaTarget, _ card: Card, _ context: Context
    ) throws -> JSONValue {
        let frame = try frame(number, idm: target.idm)
        let answer: [UInt8]
        do throws(KazasuError) {
            answer = try card.transceive(frame, timeout: .milliseconds(answerTimeout))
        } catch .reader(.noAnswer, _) {
            throw CommandError(.packetNoAnswer, values: ["\(number + 1)"])
        } catch {
            throw CommandError(error)
        }
        let shown = FrameRedaction(context.redaction).apply(frame, answer: answer, of: target)
        if !context.json {
            try context.print(Hex.encode(shown.answer, uppercase: true, separator: hexSeparator.text) + "\n")
        }
        return ["tx": .string(Hex.encode(shown.frame)), "rx": .string(Hex.encode(shown.answer))]
    }

    private func print(_ exchanges: [JSONValue], _ card: CardIdentity?, _ context: Context) throws {
        let card = card.map { context.redaction.apply($0).json } ?? .null
        try context.print(["schema": "kazasu.felica/1", "card": card, "exchanges": .array(exchanges)])
    }

    /// A packet with the card's IDm in place of `IDM`, and with LEN prepended when the first byte is not the length.
    /// Messages refer to it by its number, because it may hold an IDm.
    private func frame(_ number: Int, idm: IDm) throws(ValidationError) -> [UInt8] {
        let upper = packets[number].uppercased()
        var digits = ""
        var rest = upper[...]
        while let place = rest.utf8.indices.first(where: { rest[$0...].hasPrefix("IDM") }) {
            digits += rest[..<place] + idm.description
            rest = rest[rest.index(place, offsetBy: 3)...]
        }
        digits += rest
        let bytes: [UInt8]
        do {
            bytes = try Hex.decode(digits)
        } catch {
            throw ValidationError(tr("packet \(number + 1) is not hexadecimal", "パケット \(number + 1) は 16進ではありません"))
        }
        if let first = bytes.first, bytes.count >= 2, Int(first) == bytes.count { return bytes }
        guard (1...254).contains(bytes.count) else {
            throw ValidationError(
                tr("packet \(number + 1) is not 1 to 254 bytes", "パケット \(number + 1) は 1 から 254 バイトではありません"))
        }
        return [UInt8(bytes.count + 1)] + bytes
    }
}
