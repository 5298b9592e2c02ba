// SPDX-License-Identifier: Apache-2.0

import CommandDescription
import Kazasu
import KazasuCLI

/// `kazasu apdu`
struct APDU: KazasuCommand {
    static let configuration = CommandConfiguration(
        commandName: "apdu",
        abstract: tr(
            "Send command APDUs to an ISO 7816 card and print the answers.", "ISO 7816 カードにコマンド APDU を送り、応答を表示する。"),
        discussion: tr(
            """
            Prints one response per line: the data, then the status word SW1SW2. Write the expected status word after \
            =>, with x for any digit; a mismatch ends the run with status 77. A script has one APDU per line; # begins \
            a comment. Partial responses (61xx) are fetched and lengths (6Cxx) corrected, unless --raw is given.
            Extended lengths (00, then two bytes of Lc; two bytes of Le) are sent as written; the card must support \
            them, and a command too long for the reader is refused with the reader's limit.

            VERIFY is only sent through the PIN guard: write PIN1 in place of the data. The guard reads the remaining tries \
            first, sends a PIN once, and never uses the last try. Commands that change a PIN are not sent.

            Examples:
              kazasu apdu 00A4040007D276000085010100 '00A4000C02E103 => 9000' 00B000000F
              kazasu apdu card.apdu                        # a script; - is standard input
              kazasu apdu 00A4000C02E104 00B00000000400    # READ BINARY, extended Le
              kazasu apdu 00A4000C023F00 00200081          # remaining tries of PIN 81
              kazasu apdu 00A4000C023F00 00200081PIN1 --pin1-from file:pin.txt
            """,
            """
            応答は 1 行に 1 つ、データとステータスワード SW1SW2。=> の後に期待するステータスワードを書けます（x は任意の桁）。
            違っていればステータス 77 で終わります。スクリプトは 1 行に 1 つ、# 以降は注釈です。
            分割された応答（61xx）の取得と長さ（6Cxx）の訂正は自動です（--raw で無効）。
            3 バイトの長さ（拡張: 00 に続けて 2 バイトの Lc、2 バイトの Le）は書いたまま送ります。カード側の対応が必要で、
            リーダーの上限を超えるものは、上限を示して終わります。

            VERIFY のデータには PIN1 と書いてください。残り回数を確かめてから 1 回だけ送り、残り 1 回のときは送りません。
            暗証番号を変更するコマンドは送りません。

            例:
              kazasu apdu 00A4040007D276000085010100 '00A4000C02E103 => 9000' 00B000000F
              kazasu apdu card.apdu                        # スクリプト（- は標準入力）
              kazasu apdu 00A4000C02E104 00B00000000400    # READ BINARY（拡張 Le）
              kazasu apdu 00A4000C023F00 00200081          # 暗証番号 81 の残り回数
              kazasu apdu 00A4000C023F00 00200081PIN1 --pin1-from file:pin.txt
            """))

    static let programAccess = CommandAccess.method(
        .card(
            "card.apdu", .post("apdu"), needs: .raw, argument: "commands", schema: "apdu",
            LocalizedText("Sends command APDUs to an ISO 7816 card; the answers.", "ISO 7816 カードにコマンド APDU を送り、応答を返す。"))
    )

    @OptionGroup(title: CommonOptions.title) var common: CommonOptions
    @OptionGroup(title: ReaderOptions.title) var readerOptions: ReaderOptions
    @OptionGroup var pinOptions: PINOptions

    @Argument(
        required: [], reach: .network,
        help: help(
            "APDUs in hexadecimal, in order; or one script file, or - for standard input.",
            "16 進の APDU（書いた順に送る）、スクリプトファイル 1 つ、または -（標準入力）。",
            programs: LocalizedText("APDUs in hexadecimal, in order.", "16 進の APDU（書いた順に送る）。"), value: "apdu"),
        completion: .file())
    var apdus: [String]

    @Option(
        reach: .network, name: .long,
        help: help("Kinds of card to look for: a, b or both in order.", "探すカードの種類: a、b、または順に両方。", value: "a,b"))
    var type = ISOTypes.both

    @Flag(
        reach: .network, name: .long,
        help: help("Send each APDU unchanged, and show each response as received.", "APDU を加工せずに送り、応答もそのまま表示する。"))
    var raw = false

    @Option(reach: .never, name: .long, help: help("Between the bytes of an answer.", "バイトの間の区切り。"))
    var hexSeparator = HexSeparator.none

    private static let answerTimes = 1...60_000

    @Option(
        reach: .network, name: .long,
        help: help(
            "Maximum time for one response, in milliseconds.", "1 応答の上限時間（ミリ秒）。", value: "ms",
            bounds: APDU.answerTimes))
    var answerTimeout = 5000

    func validate() throws {
        guard !apdus.isEmpty else { throw ValidationError(tr("give at least one APDU", "APDU を 1 つ以上指定してください")) }
        guard Self.answerTimes.contains(answerTimeout) else {
            let (name, least, most) = (
                Caller.current.option("answer-timeout"), Self.answerTimes.lowerBound, Self.answerTimes.upperBound
            )
            throw ValidationError(tr("\(name) is \(least) to \(most)", "\(name) は \(least) から \(most) です"))
        }
        guard !APDUScript.isFile(apdus) else { return }
        do {
            _ = try APDUScript(arguments: apdus)
        } catch is CommandError {
            // A PIN command is a valid command line: it is refused when the command runs.
        }
    }

    func execute(_ context: Context) throws {
        let script = try APDUScript(arguments: apdus)
        let dialog = PINDialog(context, allowLastTry: pinOptions.allowLastTry)
        var pins = try pins(script, dialog)
        let session = try ReaderSession(readerOptions, context)
        var exchanges: [APDUExchange] = []
        var identity: CardIdentity?
        do {
            try closing(session) { session in
                let found = try session.find(CardQuery(.isoDEP, .isoDEP(type.technologies)))
                identity = found.identity
                let card = try found.apdus()
                card.timeout = .milliseconds(answerTimeout)
                for step in script.steps {
                    let exchange = APDUExchange(step: step, response: try response(step, card, &pins, dialog))
                    exchanges.append(exchange)
                    if !context.json { try context.print(exchange.line(hexSeparator, context.redaction) + "\n") }
                    try check(exchange)
                }
            }
        } catch {
            // Earlier exchanges are still the card's answers.
            if context.json, !exchanges.isEmpty { try print(exchanges, identity, context) }
            throw error
        }
        if context.json { try print(exchanges, identity, context) }
    }

    private func print(_ exchanges: [APDUExchange], _ card: CardIdentity?, _ context: Context) throws {
        try context.print([
            "schema": "kazasu.apdu/1", "card": card.map { context.redaction.apply($0).json } ?? .null,
            "exchanges": .array(exchanges.map { $0.json(context.redaction) }),
        ])
    }

    /// The PINs from sources, read before there is a card. The others are typed once the card has reported how many
    /// tries they have.
    private func pins(_ script: APDUScript, _ dialog: PINDialog) throws(CommandError) -> [Int: PIN] {
        var pins: [Int: PIN] = [:]
        for (number, reference) in script.pins.sorted(by: { $0.key < $1.key }) {
            guard let source = pinOptions.source(number) else {
                guard dialog.hasTerminal else { throw APDU.noPIN(number) }
                continue
            }
            let pin = try source.readPIN(reference.name[Language.current])
            guard pin.matches(reference.form) else { throw CommandError(.form(reference)) }
            pins[number] = pin
        }
        return pins
    }

    private static func noPIN(_ number: Int) -> CommandError {
        let option = Caller.current.option("pin\(number)-from")
        let isAsked = Caller.current == .commandLine
        return CommandError(isAsked ? .apduNoPIN : .apduNoPINSource, values: ["\(number)", option])
    }

    private func response(
        _ step: APDUStep, _ card: ISO7816Session, _ pins: inout [Int: PIN], _ dialog: PINDialog
    ) throws(CommandError) -> ResponseAPDU {
        do {
            switch step.action {
            case .send(let command): return raw ? try card.transmitOnce(command) : try card.transmit(command)
            case .tries(let reference):
                return ResponseAPDU(status: try card.pinGuard.queryStatus(of: reference, in: card))
            case .verify(let reference, let number):
                guard try verify(reference, number, card, &pins, dialog) else { throw APDU.noPIN(number) }
                return ResponseAPDU(status: .success)
            }
        } catch let failure as CommandError {
            throw failure
        } catch let error as PINGuardError {
            throw CommandError(error)
        } catch let error as ISO7816Error {
            throw CommandError.tooLong(error, step.label, limits: card.limits) ?? CommandError(error, step.label)
        } catch {
            throw .bug("\(error)")
        }
    }

    /// Verifies a PIN: the one from its source or the one typed before, or else one that is typed now.
    ///
    /// - Returns: `false` when there is none.
    private func verify(
        _ reference: PINReference, _ number: Int, _ card: ISO7816Session, _ pins: inout [Int: PIN], _ dialog: PINDialog
    ) throws -> Bool {
        let source = dialog.source(pins[number].map { [$0] } ?? [])
        let result = try card.verify(reference, with: source)
        try dialog.check()
        pins[number] = pins[number] ?? dialog.typed
        return result != .skipped
    }

    private func check(_ exchange: APDUExchange) throws(CommandError) {
        let (step, status) = (exchange.step, exchange.response.status)
        guard !step.expected.isEmpty, !step.expected.contains(where: { $0.matches(status) }) else { return }
        let expected = step.expected.map(\.description).joined(separator: ", ")
        throw CommandError(.apduUnexpectedStatus, values: [step.label, status.words, "\(expected)"])
    }
}
