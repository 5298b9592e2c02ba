// SPDX-License-Identifier: Apache-2.0

import CardDecoders
import CardModel

/// What a card said of a PIN, for people.
enum PINWords {
    static func state(_ state: CardPINState) -> String {
        switch (state.isVerified, state.triesLeft) {
        case (true, let tries?):
            tr("verified (\(tries) \(tries == 1 ? "try was" : "tries were") left before)", "照合済み（照合前の残り \(tries) 回）")
        case (true, nil): tr("verified", "照合済み")
        case (false, 0?): tr("locked", "閉塞")
        case (false, 1?): tr("1 try left", "残り 1 回")
        case (false, let tries?): tr("\(tries) tries left", "残り \(tries) 回")
        case (false, nil): tr("it is not known how many tries are left", "残り回数は不明")
        }
    }

    /// The beginning of the line that names what was not read.
    ///
    /// - Parameters:
    ///   - pin: which PIN it takes; `nil` where none was given at all.
    ///   - refusal: why that PIN opened nothing.
    static func withheld(_ pin: String?, _ refusal: CardPINState.Refusal?) -> String {
        guard let pin else { return tr("Not read, since no PIN was given: ", "暗証番号がないため読んでいない項目: ") }
        return switch refusal {
        case nil: tr("Not read, since \(pin) was not given: ", "\(pin)がないため読んでいない項目: ")
        case .wrong: tr("Not read, since \(pin) was wrong: ", "\(pin)が違うため読んでいない項目: ")
        case .locked: tr("Not read, since \(pin) is locked: ", "\(pin)が閉塞しているため読んでいない項目: ")
        case .lastTry:
            tr(
                "Not read, since \(pin) was not sent (it may be the last try): ",
                "\(pin)を送っていない（最後の 1 回のおそれがある）ため読んでいない項目: ")
        case .form:
            tr("Not read, since \(pin) was not sent (wrong form): ", "\(pin)を送っていない（形式が違う）ため読んでいない項目: ")
        case .refused: tr("Not read, since the card did not take \(pin): ", "カードが\(pin)を受け付けないため読んでいない項目: ")
        }
    }
}
