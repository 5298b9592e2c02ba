// SPDX-License-Identifier: Apache-2.0

import CardModel
import CardReading
import NFCTransport

/// What a look for a card came to.
enum Sighting<Found> {
    case found(Found)
    /// A card is there, but it is of no use to the command; the failure says what it is and what is wanted.
    case other(CommandError)
    case nothing
}

/// What a command reads, for people.
enum WantedCard {
    case felica
    case isoDEP
    case license
    case myNumber
    case tag
    case any

    /// The kinds of card that it can be.
    var technologies: [Technology] {
        switch self {
        case .felica: [.felica]
        case .isoDEP, .license, .myNumber: [.typeA, .typeB]
        case .tag, .any: Technology.allCases
        }
    }

    /// What the command reads instead of the card that is there.
    var words: String {
        switch self {
        case .felica: tr("FeliCa cards", "FeliCa カード")
        case .isoDEP: tr("ISO-DEP cards of type A or B", "Type A/B の ISO-DEP カード")
        case .license: tr("driver's licences", "運転免許証")
        case .myNumber: tr("My Number cards", "マイナンバーカード")
        case .tag: tr("NFC Forum tags", "NFC フォーラムのタグ")
        case .any: tr("other cards", "別の種類のカード")
        }
    }
}

extension ReaderSession {
    /// How long is looked for what is wanted until the kinds that are not are looked for again.
    private static let slice = Duration.milliseconds(500)
    /// How long a card of no use is left alone until it is looked for again.
    private static let rest = Duration.milliseconds(100)

    /// Waits for a card that the command can use.
    ///
    /// Somebody whose card is there already is not asked for one. Another card is named within a second: without
    /// `--timeout` that ends the command, with it the waiting goes on.
    ///
    /// - Parameters:
    ///   - wanted: what the command reads.
    ///   - look: looks so long.
    /// - Throws: ``CommandError`` with status 75 when none came, 76 when another card is there.
    func wait<Found>(
        for wanted: WantedCard, _ look: (Duration) throws(ReadingError) -> Sighting<Found>
    ) throws(CommandError) -> Found {
        let clock = ContinuousClock()
        let deadline = timeout.duration.map { clock.now + $0 }
        var note: WaitingNote?
        defer { note?.end() }
        var seen: (card: PICC?, failure: CommandError)?
        var time = Duration.zero
        while true {
            var other: (card: PICC?, failure: CommandError)?
            do throws(ReadingError) {
                switch try look(time) {
                case .found(let found): return found
                case .other(let failure):
                    other = (nil, failure)
                    if seen != nil { SearchClock.system.pause(Self.rest) }
                case .nothing: other = stranger(besides: wanted, last: seen)
                }
            } catch {
                throw CommandError(error)
            }
            if context.cancellation.isCancelled { throw .cancelled() }
            let now = clock.now
            let isOver = deadline.map { now >= $0 } ?? false
            if let other {
                if isOver || !isTimeoutGiven && seen?.failure == other.failure { throw other.failure }
                if isTimeoutGiven, seen?.failure != other.failure {
                    note?.end()
                    note = nil
                    context.note(other.failure.message + tr("; waiting for another", "。別のカードを待っています"))
                }
            } else {
                if isOver { throw .noCard() }
                note = note ?? WaitingNote(context)
            }
            seen = other
            time = deadline.map { min(Self.slice, $0 - now) } ?? Self.slice
        }
    }

    /// The card of another kind that is there, if any.
    private func stranger(
        besides wanted: WantedCard, last: (card: PICC?, failure: CommandError)?
    ) -> (card: PICC?, failure: CommandError)? {
        let others = AnyCardFinder.usualOrder.filter { !wanted.technologies.contains($0) }
        guard !others.isEmpty else { return nil }
        let finder = AnyCardFinder(reader: reader, cancellation: context.cancellation)
        // The reader has just looked for cards; if it cannot look for these, nothing more is known.
        guard let found = (try? finder.find(others, timeout: .zero))?.first else { return nil }
        // One that lies there still needs no second name; a UID may be another one each time.
        if let last, last.card?.technology == found.technology { return (found, last.failure) }
        return (found, otherCard(found, wanted: wanted))
    }

    /// The card that is there is not one that the command reads: named as far as it can be.
    func otherCard(_ picc: PICC, wanted: WantedCard = .any) -> CommandError {
        let kinds = (try? recognize([picc], askingApplications: true))?.flatMap(\.kinds) ?? []
        return .otherCard(picc, names: kinds.map { $0.kind.name[Language.current] }, wanted: wanted)
    }
}

extension CommandError {
    /// A card is there that the command does not read.
    ///
    /// - Parameter names: what it was recognised as; its technology is named when that is nothing.
    static func otherCard(_ picc: PICC, names: [String] = [], wanted: WantedCard) -> CommandError {
        let name = kind(of: picc, names: names)
        return CommandError(
            .otherCard, "otherCard",
            tr(
                "a card is there (\(name)), but this command reads \(wanted.words)",
                "カードはあります（\(name)）が、このコマンドが読むのは\(wanted.words)です"),
            hint: CommandError.whatItIs)
    }
}
