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
        case (false, nil): tr("the card does not say how many tries are left", "残り回数は不明")
        }
    }
}
