// SPDX-License-Identifier: Apache-2.0

import Kazasu
import KazasuCLI
import KazasuTaps

/// Events as aligned lines for people, such as `20:45:00  entrance  on   Suica …7890  ¥1,230  Ueno → Akihabara`.
///
/// Columns grow with their cells up to a limit, as nobody knows what comes later.
struct EventText {
    private let redaction: Redaction
    private var readerWidth = 0
    private var cardWidth = 14
    private var amountWidth = 0
    /// The cards that lie on readers, by the ids of their events, so that they have the same text when they leave.
    private var cards: [String: String] = [:]

    private static let (widestReader, widestCard) = (16, 26)
    private static let stateWidth =
        ["on", "off", "ready", "gone", "error", "yes", "no", "fault"].map { word($0).terminalWidth }.max() ?? 0

    init(_ redaction: Redaction) { self.redaction = redaction }

    /// - Parameter readers: the names of the readers that are watched, as far as they are known.
    mutating func expect(readers: [String]) {
        readerWidth = min(readers.map(\.terminalWidth).max() ?? 0, Self.widestReader)
    }

    /// The line of an event, with its end.
    ///
    /// - Parameters:
    ///   - tap: what the event is about.
    ///   - width: the columns of the terminal; `nil` for a line of any length.
    ///   - isColored: whether the line has colors.
    mutating func line(_ event: TapEvent, _ tap: Tap?, width: Int?, isColored: Bool) -> String {
        let (state, color): (String, Color?)
        var (card, amount, detail) = ("", "", "")
        switch event.kind {
        case .on(let found, let content):
            let isHidden = event.sequence == 0
            (state, color) = (Self.word("on"), content.error != nil ? .red : isHidden ? .yellow : .green)
            card = text(found, tap)
            cards[event.id] = card
            amount = tap?.balance?.balances.first.map(Self.text) ?? ""
            detail =
                tap?.readError.map { CommandError($0).message } ?? tap?.history?.history?.first.map(Self.text) ?? ""
            if isHidden {
                let tag = found.tag.map { tr("unknown card \($0.uppercased())", "未登録のカード \($0.uppercased())") }
                detail = tag ?? tr("unknown card", "未登録のカード")
            }
        case .off(let left, let visit):
            (state, color) = (Self.word("off"), visit.reason == nil ? nil : .yellow)
            card = cards.removeValue(forKey: visit.on) ?? text(left, tap)
            detail = [visit.dwell.map(Self.seconds), visit.reason.map(Self.text)].compactMap { $0 }
                .joined(separator: tr(", ", "、"))
        case .reader(let new):
            (state, color) = (Self.word(new.rawValue), new == .ready ? nil : .red)
        case .answer(let answer):
            let verdict = answer.verdict
            (state, color) = (Self.word(verdict.rawValue), verdict == .yes ? .green : verdict == .no ? .red : .yellow)
            card = cards[answer.on] ?? ""
            detail = Self.text(answer)
        }
        let reader = event.reader.cut(to: Self.widestReader)
        card = card.cut(to: Self.widestCard)
        readerWidth = max(readerWidth, reader.terminalWidth)
        cardWidth = max(cardWidth, card.terminalWidth)
        amountWidth = max(amountWidth, amount.terminalWidth)
        let time = String(event.moment.text.dropFirst(11).prefix(8))
        let start = [time, Self.padded(reader, readerWidth)].joined(separator: "  ") + "  "
        var rest = Self.padded("", Self.stateWidth - state.terminalWidth) + "  " + Self.padded(card, cardWidth) + "  "
        if amountWidth > 0 {
            rest += Self.padded("", amountWidth - amount.terminalWidth) + VisibleText.line(amount) + "  "
        }
        rest += VisibleText.line(detail)
        while rest.hasSuffix(" ") { rest.removeLast() }
        if let width { rest = rest.cut(to: max(1, width - start.terminalWidth - state.terminalWidth)) }
        return start + (isColored ? color?.applied(to: state) ?? state : state) + rest + "\n"
    }

    private static func padded(_ text: String, _ width: Int) -> String {
        text + String(repeating: " ", count: max(0, width - text.terminalWidth))
    }

    // MARK: Cells

    private static func word(_ state: String) -> String {
        switch state {
        case "on": tr("on", "タッチ")
        case "off": tr("off", "離れた")
        case "ready": tr("ready", "使用可")
        case "gone": tr("gone", "未接続")
        case "yes": tr("yes", "許可")
        case "no": tr("no", "拒否")
        case "fault": tr("fault", "判定なし")
        default: tr("error", "エラー")
        }
    }

    /// The name that the user gave the card, or its brand or kind with the last digits of its number.
    private func text(_ card: TapEvent.Card, _ tap: Tap?) -> String {
        if let name = card.name { return redaction.apply(name) }
        let technology =
            switch card.technology {
            case .felica: "FeliCa"
            case .typeA: tr("Type A", "タイプ A")
            case .typeB: tr("Type B", "タイプ B")
            }
        let kind = tap?.brand?.name ?? tap?.history?.name ?? tap?.balance?.balances.first?.name
        let digits = card.tag.map { tag in " …" + (redaction.isOn ? "0000" : tag.suffix(4).uppercased()) }
        return (kind?[Language.current] ?? technology) + (digits ?? "")
    }

    /// What an asker answered, or why it did not.
    private static func text(_ answer: TapEvent.Answer) -> String {
        let time = tr("answer after \(answer.milliseconds) ms", "\(answer.milliseconds) ミリ秒で応答")
        guard let reason = answer.reason else { return time }
        guard reason == "timeout" else { return DeliveryWords.text(reason) }
        return tr("no answer within \(answer.milliseconds) ms", "\(answer.milliseconds) ミリ秒待っても応答なし")
    }

    private static func text(_ balance: BalanceEntry) -> String {
        balance.amount == nil ? balance.line : balance.text
    }

    private static func text(_ record: HistoryRecord) -> String {
        let places = [record.entry, record.exit].compactMap { $0 }.map(HistoryView.place)
        return places.isEmpty ? record.kind.name[Language.current] : places.joined(separator: " → ")
    }

    private static func seconds(_ dwell: Int) -> String {
        let tenths = (dwell + 50) / 100
        let number = tenths < 100 ? "\(tenths / 10).\(tenths % 10)" : "\((dwell + 500) / 1000)"
        return tr("\(number) s", "\(number) 秒")
    }

    private static func text(_ reason: TapEvent.UnseenEnd) -> String {
        switch reason {
        case .reader: tr("the reader was lost", "リーダーの切断")
        case .shutdown: tr("no longer watched", "監視の終了")
        case .restart: tr("ended before this start", "前回の実行中に終了")
        }
    }
}
